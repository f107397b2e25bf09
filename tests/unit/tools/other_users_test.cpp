// What the command says where another user has a driver. Only root can play another user.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "command.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::test;

namespace {

constexpr uid_t another_user = 65534;

bool listen_as_driver(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0 && ::listen(socket, 1) == 0;
}

/// A process that listens where the driver of another user would, until this object or this process ends.
class AnotherDriver {
 public:
  AnotherDriver() {
    int ready[2], end[2];
    REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(end, O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(end[1]);
      const std::string name =
          fmt::format("llamada/{}/{}/node", another_user, std::getenv("LLAMADA_NAMESPACE"));
      const bool well = ::setgid(another_user) == 0 && ::setuid(another_user) == 0 && listen_as_driver(name);
      char byte = well ? 'y' : 'n';
      (void)!::write(ready[1], &byte, 1);
      (void)!::read(end[0], &byte, 1);
      ::_exit(0);
    }
    end_ = FileDescriptor(end[1]);
    ::close(end[0]);
    ::close(ready[1]);
    const FileDescriptor reading(ready[0]);
    char told = 0;
    REQUIRE(::read(reading.get(), &told, 1) == 1);
    REQUIRE(told == 'y');
  }
  ~AnotherDriver() {
    end_.reset();
    ::waitpid(pid_, nullptr, 0);
  }
  AnotherDriver(const AnotherDriver&) = delete;
  AnotherDriver& operator=(const AnotherDriver&) = delete;

 private:
  pid_t pid_ = 0;
  FileDescriptor end_;
};

bool says_so(const std::string& text) {
  return text.find(
             "Drivers of other users (65534) run on this node, too: participants of two users never "
             "meet. Run all of them as one user.") != std::string::npos;
}

}  // namespace

TEST_CASE("llamada why: two users never meet", "[tools]") {
  if (::geteuid() != 0) return;
  CHECK_FALSE(says_so(run({LLAMADA_COMMAND, "why", "nothing"}).err));
  const AnotherDriver driver;
  const Ended ended = run({LLAMADA_COMMAND, "why", "nothing"});
  CHECK(ended.exit_code == 1);
  INFO(ended.err);
  CHECK(says_so(ended.err));
}
