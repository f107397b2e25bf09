#include <signal.h>

#include <array>
#include <charconv>

#include "inject_words.hpp"

namespace llamada::launcher {
namespace {

struct SignalName {
  std::string_view name;
  int number;
};

constexpr std::array signal_names = {
    SignalName{"SIGHUP", SIGHUP},   SignalName{"SIGINT", SIGINT},   SignalName{"SIGQUIT", SIGQUIT},
    SignalName{"SIGILL", SIGILL},   SignalName{"SIGTRAP", SIGTRAP}, SignalName{"SIGABRT", SIGABRT},
    SignalName{"SIGBUS", SIGBUS},   SignalName{"SIGFPE", SIGFPE},   SignalName{"SIGKILL", SIGKILL},
    SignalName{"SIGUSR1", SIGUSR1}, SignalName{"SIGSEGV", SIGSEGV}, SignalName{"SIGUSR2", SIGUSR2},
    SignalName{"SIGPIPE", SIGPIPE}, SignalName{"SIGALRM", SIGALRM}, SignalName{"SIGTERM", SIGTERM},
    SignalName{"SIGCHLD", SIGCHLD}, SignalName{"SIGCONT", SIGCONT}, SignalName{"SIGSTOP", SIGSTOP},
    SignalName{"SIGTSTP", SIGTSTP}, SignalName{"SIGXCPU", SIGXCPU}, SignalName{"SIGXFSZ", SIGXFSZ},
    SignalName{"SIGSYS", SIGSYS},
};

}  // namespace

Result<int> parse_signal(std::string_view name) {
  for (const SignalName& entry : signal_names)
    if (is_same_word(entry.name, name) || is_same_word(entry.name.substr(3), name)) return entry.number;
  int number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec == std::errc() && read.ptr == name.data() + name.size() && number >= 1 && number <= SIGRTMAX)
    return number;
  return failure(Errc::invalid_argument, "'{}' is not a signal", name);
}

std::string signal_name(int signal) {
  for (const SignalName& entry : signal_names)
    if (entry.number == signal) return std::string(entry.name);
  return fmt::format("signal {}", signal);
}

}  // namespace llamada::launcher
