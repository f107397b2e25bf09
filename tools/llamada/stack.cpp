#include "stack.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "llamada/waits/stack.hpp"

namespace llamada::tools {

Status print_stack(std::int32_t pid) {
  auto child = waits::start_stack_command(pid, STDOUT_FILENO);
  if (!child) return propagate(child);
  int status = 0;
  if (waitpid(*child, &status, 0) == *child && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return failure(Errc::permission_denied, "{}", waits::no_stack);
}

}  // namespace llamada::tools
