#include "llamada/launcher/inject.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

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

constexpr std::size_t rule_size_bytes_max = 1024;
constexpr double delay_seconds_max = 1e6;

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != text.npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

bool is_number(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// Reads a rule word by word; the first thing that does not fit is the error.
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text), words_(words_of(text)) {}

  Result<InjectRule> read() {
    InjectRule rule;
    rule.text = text_;
    for (const Status& step :
         {expect("kill"), expect("rank"), read_rank(rule), read_when(rule), read_rest(rule)})
      if (!step) return tl::unexpected<Error>(step.error());
    return rule;
  }

 private:
  bool ended() const { return at_ == words_.size(); }
  bool take(std::string_view word) {
    if (ended() || !same_word(words_[at_], word)) return false;
    ++at_;
    return true;
  }

  tl::unexpected<Error> wrong(std::string_view legal) {
    failed_ = true;
    if (ended()) return failure(Errc::parse_error, "'{}' ends where {} must stand", text_, legal);
    return failure(Errc::parse_error, "'{}': '{}' stands where {} must stand", text_, words_[at_], legal);
  }

  Status expect(std::string_view word) {
    if (failed_ || take(word)) return {};
    return wrong(fmt::format("'{}'", word));
  }

  Result<std::uint64_t> number(std::string_view what, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    if (ended() || !is_number(words_[at_])) return wrong(what);
    const auto word = words_[at_];
    const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
    if (read.ec != std::errc() || value < least || value > most)
      return wrong(fmt::format("{} from {} to {}", what, least, most));
    ++at_;
    return value;
  }

  Status read_rank(InjectRule& rule) {
    if (failed_) return {};
    auto rank = number("a rank", 0, 0xfffffffe);
    if (!rank) return propagate(rank);
    rule.rank = static_cast<std::uint32_t>(*rank);
    return {};
  }

  Status read_when(InjectRule& rule) {
    if (failed_) return {};
    if (take("after")) return read_delay(rule);
    if (take("in")) return read_function(rule);
    if (!take("at")) return wrong("'after', 'at call', 'at step' or 'in'");
    if (take("call")) return read_count(rule, InjectTrigger::at_call);
    if (take("step")) return read_step(rule);
    return wrong("'call' or 'step'");
  }

  Status read_count(InjectRule& rule, InjectTrigger trigger) {
    rule.trigger = trigger;
    auto count = number("a number", 1, UINT64_MAX);
    if (!count) return propagate(count);
    rule.count = *count;
    return {};
  }

  Status read_function(InjectRule& rule) {
    rule.trigger = InjectTrigger::in_call;
    if (take("the")) {
      rule.trigger = InjectTrigger::in_middle;
      for (const Status& step : {expect("middle"), expect("of")})
        if (!step) return step;
    }
    if (ended() || words_[at_].substr(0, 4) != "MPI_" || words_[at_].size() == 4 ||
        words_[at_].find_first_of(":=\n") != std::string_view::npos)
      return wrong("the name of an MPI function");
    rule.name = words_[at_++];
    if (ended() || !is_number(words_[at_])) return {};
    return read_count(rule, rule.trigger);
  }

  /// "publish:committed:3", or without the number.
  Status read_step(InjectRule& rule) {
    constexpr std::string_view what = "a crash point as 'publish:committed' or 'publish:committed:3'";
    if (ended() || words_[at_].find('\n') != std::string_view::npos) return wrong(what);
    rule.trigger = InjectTrigger::at_step;
    std::string_view word = words_[at_];
    const std::size_t colon = word.rfind(':');
    if (colon != word.npos && is_number(word.substr(colon + 1))) {
      const auto digits = word.substr(colon + 1);
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), rule.count);
      if (read.ec != std::errc() || rule.count == 0) return wrong(what);
      word = word.substr(0, colon);
    }
    if (word.empty() || word.front() == ':' || word.back() == ':') return wrong(what);
    rule.name = word;
    ++at_;
    return {};
  }

  Status read_delay(InjectRule& rule) {
    constexpr std::string_view what = "a time as '1s', '0.5 s' or '20 ms'";
    if (ended()) return wrong(what);
    const std::string_view word = words_[at_];
    double value = 0;
    const auto read =
        std::from_chars(word.data(), word.data() + word.size(), value, std::chars_format::fixed);
    if (read.ec != std::errc() || !std::isfinite(value) || std::signbit(value)) return wrong(what);
    std::string_view unit = word.substr(static_cast<std::size_t>(read.ptr - word.data()));
    if (unit.empty() && at_ + 1 < words_.size() && unit_seconds(words_[at_ + 1]) > 0) unit = words_[++at_];
    const double scale = unit.empty() ? 1 : unit_seconds(unit);
    if (scale == 0 || value * scale > delay_seconds_max) return wrong(what);
    rule.trigger = InjectTrigger::after;
    rule.delay = std::chrono::nanoseconds(std::llround(value * scale * 1e9));
    ++at_;
    return {};
  }

  static double unit_seconds(std::string_view unit) {
    if (same_word(unit, "s")) return 1;
    if (same_word(unit, "ms")) return 1e-3;
    if (same_word(unit, "us")) return 1e-6;
    return 0;
  }

  Status read_rest(InjectRule& rule) {
    if (failed_) return {};
    if (take("of")) {
      if (auto word = expect("incarnation"); !word) return word;
      auto incarnation = number("an incarnation", 1, 0xfffffffe);
      if (!incarnation) return propagate(incarnation);
      rule.incarnation = static_cast<std::uint32_t>(*incarnation);
    }
    if (take("signal")) {
      if (ended()) return wrong("a signal as 'SIGSEGV' or '11'");
      auto signal = parse_signal(words_[at_]);
      if (!signal) return wrong("a signal as 'SIGSEGV' or '11'");
      rule.signal = *signal;
      ++at_;
    }
    if (!ended()) return wrong("'of incarnation', 'signal' or nothing");
    return {};
  }

  std::string_view text_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

Result<InjectRule> parse_inject_rule(std::string_view text) {
  if (text.size() > rule_size_bytes_max)
    return failure(Errc::parse_error, "a rule of {} bytes is too long", text.size());
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' && c != '\t'; }))
    return failure(Errc::parse_error, "a rule must not contain control characters");
  return RuleReader(text).read();
}

Result<int> parse_signal(std::string_view name) {
  for (const SignalName& entry : signal_names)
    if (same_word(entry.name, name) || same_word(entry.name.substr(3), name)) return entry.number;
  int number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec == std::errc() && read.ptr == name.data() + name.size() && number >= 1 && number <= SIGRTMAX)
    return number;
  return failure(Errc::invalid_argument, "'{}' is no signal", name);
}

std::string signal_name(int signal) {
  for (const SignalName& entry : signal_names)
    if (entry.number == signal) return std::string(entry.name);
  return fmt::format("signal {}", signal);
}

}  // namespace llamada::launcher
