#include "p2p/request.hpp"

#include "test.hpp"

namespace llamada::mpi {
namespace {

TEST_CASE("requests: a handle given back is used again, and the request begins in its first state") {
  RequestTable table;
  Request& first = table.add();
  const int handle = first.handle;
  CHECK(table.find(handle) == &first);
  first.kind = Request::Kind::receive;
  first.complete = first.active = first.cancelled = true;
  first.error = MPI_ERR_TRUNCATE;
  first.status_bytes = 17;
  first.keep().message.resize(3);
  table.remove(first);
  CHECK(table.find(handle) == nullptr);
  Request& second = table.add();
  CHECK(second.handle == handle);
  CHECK(second.kind == Request::Kind::none);
  CHECK_FALSE(second.complete);
  CHECK_FALSE(second.active);
  CHECK_FALSE(second.cancelled);
  CHECK(second.error == MPI_SUCCESS);
  CHECK(second.status_bytes == 0);
  CHECK(second.status_source == MPI_ANY_SOURCE);
  CHECK(second.kept->message.empty());
}

TEST_CASE("requests: all sends that were over at once share one, which stays") {
  RequestTable table;
  Request& sent = table.sent();
  CHECK(sent.complete);
  CHECK(sent.active);
  CHECK(table.find(sent.handle) == &sent);
  CHECK(sent.handle != MPI_REQUEST_NULL);
  table.remove(sent);
  CHECK(table.find(sent.handle) == &sent);
  CHECK(sent.complete);
  CHECK(table.add().handle != sent.handle);
}

TEST_CASE("requests: a handle given back before its request is over names the next one") {
  RequestTable table;
  Request& freed = table.add();
  const int handle = freed.handle;
  table.remove_handle(freed);
  CHECK(freed.handle == MPI_REQUEST_NULL);
  CHECK(table.find(handle) == nullptr);
  Request& next = table.add();
  CHECK(next.handle == handle);
  CHECK(&next != &freed);
  CHECK(table.find(handle) == &next);
  table.remove(freed);
  CHECK(table.find(handle) == &next);
  Request& third = table.add();
  CHECK(&third != &freed);
  CHECK(third.handle != handle);
  CHECK(&table.add_without_handle() == &freed);
}

TEST_CASE("requests: a receive begins anew in whatever state the request was left") {
  RequestTable table;
  Request& first = table.add();
  first.kind = Request::Kind::send;
  first.persistent = first.complete = first.cancelled = first.matched_by_probe = first.null_process = true;
  first.error = MPI_ERR_TRUNCATE;
  first.expected_ordinal = 7;
  first.rule = ReceiveNode::Rule::cancelled;
  table.remove(first);
  Request& second = table.add_unset();
  REQUIRE(&second == &first);
  second.begin_receive();
  CHECK(second.kind == Request::Kind::receive);
  CHECK(second.active);
  CHECK_FALSE((second.persistent || second.complete || second.cancelled || second.released));
  CHECK_FALSE((second.matched_by_probe || second.null_process || second.queued));
  CHECK(second.error == MPI_SUCCESS);
  CHECK(second.expected_ordinal == 0);
  CHECK(second.rule == ReceiveNode::Rule::free);
}

TEST_CASE("requests: what is no handle of a request finds none") {
  RequestTable table;
  table.add();
  CHECK(table.find(MPI_REQUEST_NULL) == nullptr);
  CHECK(table.find(MPI_COMM_WORLD) == nullptr);
  CHECK(table.find(0) == nullptr);
  CHECK(table.find(-1) == nullptr);
  CHECK(table.find(make_handle(HandleKind::direct, ObjectKind::request, 1)) == nullptr);
}

}  // namespace
}  // namespace llamada::mpi
