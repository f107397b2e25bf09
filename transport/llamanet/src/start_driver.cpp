#include "llamada/llamanet/start_driver.hpp"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/llamanet/background_program.hpp"

namespace llamada::llamanet {
namespace {

// The driver writes one byte when it listens or found somebody else listening; end of file: it could not
// start.
bool wait_until_ready(int pipe) {
  char byte;
  for (;;) {
    auto got = ::read(pipe, &byte, 1);
    if (got >= 0 || errno != EINTR) return got == 1;
  }
}

}  // namespace

Status start_driver(const std::string& program, const std::string& socket_name,
                    const std::string& elsewhere) {
  auto path = program.empty() ? find_own_program("llamanetd") : std::optional(program);
  if (!path && ::access(elsewhere.c_str(), X_OK) == 0) path = elsewhere;
  if (!path)
    return failure(Errc::not_found,
                   "no driver listens at @{}, and no llamanetd to start lies beside this program",
                   socket_name);
  auto name = socket_name.substr(socket_name.rfind('/') + 1);
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("pipe2");
  FileDescriptor read_end(ends[0]), write_end(ends[1]);
  const BackgroundProgram driver{*path,
                                 {*path, "--name", name, "--ends-with-last", "--ready-descriptor", "3"},
                                 {-1, -1, -1, write_end.get()},
                                 "/"};
  if (auto started = start_in_background(driver); !started) return started;
  write_end.reset();
  if (!wait_until_ready(read_end.get()))
    return failure(Errc::not_found, "the driver {} could not be started", *path);
  return {};
}

}  // namespace llamada::llamanet
