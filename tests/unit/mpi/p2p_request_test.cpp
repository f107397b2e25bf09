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
