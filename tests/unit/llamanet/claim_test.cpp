#include "claim.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "bound_names.hpp"
#include "llamada/llamanet/inspector.hpp"
#include "llamada/llamanet/transport.hpp"
#include "node.hpp"
#include "socket.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

constexpr uid_t another_user = 65534;

/// A process of another user that holds names until this object ends. Only root can make one.
class Squatter {
 public:
  explicit Squatter(const std::vector<std::string>& names) {
    std::array<int, 2> ready, end;
    REQUIRE(::pipe2(ready.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(end.data(), O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(end[1]);
      std::vector<FileDescriptor> sockets;
      bool good = ::setgid(another_user) == 0 && ::setuid(another_user) == 0;
      for (const std::string& name : names) {
        auto socket = bind_at(name);
        good = good && socket && start_listening(socket->get());
        if (socket) sockets.push_back(std::move(*socket));
      }
      const char told = good ? 'y' : 'n';
      (void)!::write(ready[1], &told, 1);
      char byte = 0;
      (void)!::read(end[0], &byte, 1);
      ::_exit(0);
    }
    end_ = FileDescriptor(end[1]);
    FileDescriptor(end[0]).reset();
    FileDescriptor(ready[1]).reset();
    FileDescriptor reading(ready[0]);
    char told = 0;
    REQUIRE(::read(reading.get(), &told, 1) == 1);
    REQUIRE(told == 'y');
  }
  ~Squatter() { leave(); }
  Squatter(const Squatter&) = delete;

  void leave() {
    if (!end_) return;
    end_.reset();
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
  FileDescriptor end_;
};

}  // namespace

TEST_CASE("names: those of drivers are found in the text of /proc/net/unix", "[llamanet]") {
  const std::string text =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000: 00000002 00000000 00010000 0005 01 21 @llamada/1000/node\n"
      "0000: 00000003 00000000 00000000 0005 03 22 @llamada/1000/node\n"
      "0000: 00000002 00000000 00000000 0005 01 23 @llamada/1000/job-7\n"
      "0000: 00000002 00000000 00010000 0005 01 24 @llamada/1001/node\n"
      "0000: 00000002 00000000 00010000 0005 01 25 /tmp/@llamada/1000/x\n"
      "0000: 00000002 00000000 00010000 0005 01 26\n";
  const auto names = names_in(text, "llamada/1000/");
  REQUIRE(names.size() == 2);
  CHECK(names[0].name == "llamada/1000/job-7");
  CHECK_FALSE(names[0].listening);
  CHECK(names[1].name == "llamada/1000/node");
  CHECK(names[1].listening);
  CHECK(names_in(text, "llamada/1002/").empty());
}

TEST_CASE("names: the kernel tells the owner of a socket", "[llamanet]") {
  const std::string name = socket_name(::geteuid(), unique_name());
  auto socket = bind_at(name);
  REQUIRE(socket);
  auto names = bound_names(name);
  REQUIRE(names);
  REQUIRE(names->size() == 1);
  CHECK_FALSE(names->front().listening);
  if (names->front().owner) CHECK(*names->front().owner == ::geteuid());
  REQUIRE(start_listening(socket->get()));
  names = bound_names(name);
  REQUIRE(names);
  CHECK(names->front().listening);
}

TEST_CASE("names: a secret name is taken as it is, once", "[llamanet]") {
  const std::string name = unique_name();
  auto first = claim_secret(name);
  REQUIRE(first);
  CHECK(first->socket_name == socket_name(::geteuid(), name));
  auto second = claim_secret(name);
  REQUIRE_FALSE(second);
  CHECK(second.error().code() == Errc::already_exists);
}

TEST_CASE("names: of two drivers of one user one gets the well-known name", "[llamanet]") {
  const std::string name = unique_name();
  auto first = claim_known(name);
  REQUIRE(first);
  CHECK(first->socket_name == socket_name(::geteuid(), name));
  auto second = claim_known(name);
  REQUIRE_FALSE(second);
  CHECK(second.error().code() == Errc::already_exists);
}

TEST_CASE("names: a driver whose name another user holds is found by its programs all the same",
          "[llamanet]") {
  if (::geteuid() != 0) return;  // only root can play another user
  ApplicationOptions options;
  options.socket_name = socket_name(::geteuid(), unique_name());
  Squatter squatter({options.socket_name});
  auto first = LlamanetTransport::open(options);
  INFO((first ? "" : first.error().text()));
  REQUIRE(first);
  auto second = LlamanetTransport::open(options);
  REQUIRE(second);
  CHECK((*first)->slot() != (*second)->slot());
  // The name is free again, and nobody starts a second driver there.
  squatter.leave();
  auto third = LlamanetTransport::open(options);
  REQUIRE(third);
  CHECK((*third)->slot() != (*first)->slot());
  CHECK((*third)->slot() != (*second)->slot());
}

TEST_CASE("names: other users' sockets are counted, and say whose they are", "[llamanet]") {
  if (::geteuid() != 0) return;  // only root can play another user
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(socket_name(::geteuid(), unique_name()));
  const Squatter squatter(names);
  auto found = find_drivers(::geteuid());
  REQUIRE(found);
  CHECK(found->foreign.count == names.size());
  CHECK(found->foreign.owners == std::set<std::uint32_t>{another_user});
  auto refused = Inspector::open(names.front());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::permission_denied);
  CHECK(refused.error().text().find("of user 65534, not of user 0") != std::string::npos);
}

TEST_CASE("names: a name space has drivers of its own, and only certain letters", "[llamanet]") {
  const std::string before = std::getenv(name_space_variable);
  const std::string name = unique_name();
  auto claim = claim_known(name);
  REQUIRE(claim);
  ::setenv(name_space_variable, "another.one", 1);
  CHECK(check_name_space());
  CHECK(socket_name(7, "node") == "llamada/7/another.one/node");
  auto other = claim_known(name);
  CHECK(other);
  auto found = find_drivers(::geteuid());
  REQUIRE(found);
  CHECK(std::count(found->names.begin(), found->names.end(), claim->socket_name) == 0);
  ::setenv(name_space_variable, "a/b", 1);
  CHECK_FALSE(check_name_space());
  CHECK_FALSE(find_drivers(::geteuid()));
  ::setenv(name_space_variable, before.c_str(), 1);
}
