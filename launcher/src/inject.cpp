#include "llamada/launcher/inject.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include "inject_words.hpp"
#include "llamada/base/nearest_word.hpp"
#include "llamada/mpi/calls.hpp"
#include "llamada/qos/rank_protection.hpp"

namespace llamada::launcher {
namespace {

constexpr std::size_t rule_size_bytes_max = 1024;
constexpr double delay_seconds_max = 1e6;
/// Shorter distances would leave a job no time to do anything.
constexpr double every_seconds_min = 1e-3;
constexpr double size_bytes_max = 1e18;

struct Unit {
  std::string_view name;
  double scale;
};
constexpr Unit time_units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
constexpr Unit size_units[] = {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
constexpr Unit percent_units[] = {{"%", 1}};

/// Reads a rule word by word; the first thing that does not fit is the error.
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text), words_(words_of_rule(text)) {}

  Result<InjectRule> read() {
    rule_.text = text_;
    read_deed();
    if (!ended()) wrong("'of incarnation', 'signal', 'seed' or nothing");
    if (!error_.empty()) return failure(Errc::parse_error, "{}", error_);
    return rule_;
  }

 private:
  // Once something is wrong, nothing more fits.
  bool ended() const { return at_ == words_.size() || !error_.empty(); }
  bool next_is(std::string_view word) const { return !ended() && is_same_word(words_[at_], word); }
  bool take(std::string_view word) {
    if (!next_is(word)) return false;
    ++at_;
    return true;
  }

  bool wrong(std::string_view legal) {
    if (!error_.empty()) return false;
    error_ = at_ == words_.size() ? fmt::format("'{}' is incomplete: {} is missing", text_, legal)
                                  : fmt::format("'{}': expected {}, not '{}'", text_, legal, words_[at_]);
    return false;
  }
  bool expect(std::string_view word) { return take(word) || wrong(fmt::format("'{}'", word)); }

  bool read_number(std::string_view what, std::uint64_t least, std::uint64_t most, std::uint64_t& into) {
    if (ended() || !is_decimal(words_[at_])) return wrong(what);
    const auto word = words_[at_];
    const auto read = std::from_chars(word.data(), word.data() + word.size(), into);
    if (read.ec != std::errc() || into < least || into > most)
      return wrong(fmt::format("{} from {} to {}", what, least, most));
    ++at_;
    return true;
  }
  bool read_small_number(std::string_view what, std::uint32_t least, std::uint32_t& into) {
    std::uint64_t number = 0;
    if (!read_number(what, least, 0xfffffffe, number)) return false;
    into = static_cast<std::uint32_t>(number);
    return true;
  }

  /// A number with one of the units, which may stick to it. `without`: the scale of none; 0: it must have
  /// one.
  bool read_quantity(std::string_view what, std::span<const Unit> units, double without, double least,
                     double most, double& into) {
    if (ended()) return wrong(what);
    const std::string_view word = words_[at_];
    const auto read = std::from_chars(word.data(), word.data() + word.size(), into, std::chars_format::fixed);
    if (read.ec != std::errc() || !std::isfinite(into) || std::signbit(into)) return wrong(what);
    const std::string_view stuck = word.substr(static_cast<std::size_t>(read.ptr - word.data()));
    const bool has_next = stuck.empty() && at_ + 1 < words_.size();
    const double next = has_next ? scale_of(words_[at_ + 1], units) : 0;
    const double scale = !stuck.empty() ? scale_of(stuck, units) : next > 0 ? next : without;
    if (scale == 0 || into * scale < least || into * scale > most) return wrong(what);
    into *= scale;
    at_ += next > 0 ? 2 : 1;
    return true;
  }
  static double scale_of(std::string_view word, std::span<const Unit> units) {
    for (const Unit& unit : units)
      if (is_same_word(word, unit.name)) return unit.scale;
    return 0;
  }
  bool read_time(std::chrono::nanoseconds& into, double least = 0) {
    double seconds = 0;
    if (!read_quantity("a time such as '1s', '0.5 s' or '20 ms'", time_units, 1, least, delay_seconds_max,
                       seconds))
      return false;
    into = std::chrono::nanoseconds(std::llround(seconds * 1e9));
    return true;
  }

  bool read_deed() {
    if (take("kill")) return read_kill();
    if (take("stop")) return read_stop();
    if (take("slow")) return read_slow();
    if (take("pause")) return read_pause();
    if (take("memory")) return read_memory();
    return wrong("'kill', 'stop', 'slow', 'pause' or 'memory full'");
  }

  bool read_kill() {
    if (next_is("driver") || next_is("mpirun")) return read_kill_of_launcher();
    if (next_is("node")) return read_node() && read_after();
    return read_whom("'rank', 'any', 'node', 'driver' or 'mpirun'") && read_when() && read_life() &&
           read_signal() && read_seed();
  }

  bool read_kill_of_launcher() {
    rule_.target = take("driver") ? InjectTarget::driver : InjectTarget::mpirun;
    if (rule_.target == InjectTarget::mpirun) ++at_;
    return read_after();
  }

  bool read_after() { return next_is("after") ? read_delay() : ended() || wrong("'after' or nothing"); }

  /// "after T", or nothing.
  bool read_delay() { return !take("after") || read_time(rule_.delay); }

  bool read_node() {
    rule_.target = InjectTarget::node;
    if (!expect("node")) return false;
    if (ended()) return wrong("the name of a host");
    rule_.name = words_[at_++];
    return true;
  }

  bool read_pause() {
    rule_.deed = InjectDeed::pause;
    return read_node() && read_delay() && expect("for") && read_time(rule_.length.emplace());
  }

  bool read_stop() {
    rule_.deed = InjectDeed::stop;
    return read_whom("'rank' or 'any'") && read_time_of_deed("'after' or 'every'") && expect("for") &&
           read_time(rule_.length.emplace()) && read_life() && read_seed();
  }

  bool read_slow() {
    rule_.deed = InjectDeed::slow;
    if (!read_whom("'rank' or 'any'") || !expect("by") ||
        !read_quantity("a share from 1 % to 99 %", percent_units, 0, 1, 99, rule_.percent))
      return false;
    if (!read_delay()) return false;
    if (take("for") && !read_time(rule_.length.emplace())) return false;
    return read_seed();
  }

  bool read_memory() {
    rule_.deed = InjectDeed::memory_full;
    double size = 0;
    if (!expect("full") || !expect("after") ||
        !read_quantity("a size such as '100 MiB'", size_units, 0, 1, size_bytes_max, size))
      return false;
    rule_.size_bytes = static_cast<std::uint64_t>(size);
    return expect("of") && expect("log");
  }

  bool read_whom(std::string_view legal) {
    if (take("any")) {
      rule_.target = InjectTarget::any_rank;
      take("rank");
      return true;
    }
    return take("rank") ? read_small_number("a rank", 0, rule_.rank) : wrong(legal);
  }

  bool read_time_of_deed(std::string_view legal) {
    if (take("after")) return read_time(rule_.delay);
    if (!take("every")) return wrong(legal);
    rule_.trigger = InjectTrigger::every;
    rule_.spread = take("~");
    if (!ended() && words_[at_].starts_with('~')) {
      rule_.spread = true;
      words_[at_].remove_prefix(1);
    }
    if (!read_time(rule_.delay, every_seconds_min)) return false;
    if (ended() || !is_decimal(words_[at_])) return true;
    return read_number("a number", 1, UINT64_MAX, rule_.times.emplace()) && expect("times");
  }

  bool read_when() {
    if (next_is("after") || next_is("every")) return read_time_of_deed({});
    if (take("in")) return read_function();
    if (!take("at")) return wrong("'after', 'every', 'at call', 'at step' or 'in'");
    if (take("call")) return read_count(InjectTrigger::at_call);
    if (take("step")) return read_step();
    return wrong("'call' or 'step'");
  }

  bool read_count(InjectTrigger trigger) {
    rule_.trigger = trigger;
    return read_number("a number", 1, UINT64_MAX, rule_.count);
  }

  bool read_function() {
    rule_.trigger = InjectTrigger::in_call;
    if (take("the")) {
      rule_.trigger = InjectTrigger::in_middle;
      if (!expect("middle") || !expect("of")) return false;
    }
    if (ended() || !is_like_function(words_[at_]) ||
        words_[at_].find_first_of(":=\n") != std::string_view::npos)
      return wrong("the name of an MPI function");
    rule_.name = words_[at_++];
    return ended() || !is_decimal(words_[at_]) || read_count(rule_.trigger);
  }

  /// "publish:committed:3", or without the number.
  bool read_step() {
    constexpr std::string_view what = "a crash point such as 'publish:committed' or 'publish:committed:3'";
    if (ended() || words_[at_].find('\n') != std::string_view::npos) return wrong(what);
    rule_.trigger = InjectTrigger::at_step;
    std::string_view word = words_[at_];
    const std::size_t colon = word.rfind(':');
    if (colon != word.npos && is_decimal(word.substr(colon + 1))) {
      const auto digits = word.substr(colon + 1);
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), rule_.count);
      if (read.ec != std::errc() || rule_.count == 0) return wrong(what);
      word = word.substr(0, colon);
    }
    if (word.empty() || word.front() == ':' || word.back() == ':') return wrong(what);
    rule_.name = word;
    ++at_;
    return true;
  }

  bool read_life() {
    // What happens again and again concerns all incarnations.
    if (!next_is("of") || rule_.trigger == InjectTrigger::every) return error_.empty();
    ++at_;
    if (!rule_.is_by_rank() && take("replay")) return rule_.in_replay = true;
    if (!take("incarnation"))
      return wrong(rule_.is_by_rank() ? "'incarnation' ('replay' goes with 'after')"
                                      : "'incarnation' or 'replay'");
    return read_small_number("an incarnation", 1, rule_.incarnation.emplace());
  }

  bool read_signal() {
    if (!take("signal")) return error_.empty();
    const auto signal = ended() ? parse_signal("") : parse_signal(words_[at_]);
    if (!signal) return wrong("a signal such as 'SIGSEGV' or '11'");
    rule_.signal = *signal;
    ++at_;
    return true;
  }

  bool read_seed() {
    if (!take("seed")) return error_.empty();
    return read_number("a seed", 0, UINT64_MAX, rule_.seed.emplace());
  }

  std::string_view text_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  std::string error_;
  InjectRule rule_;
};

}  // namespace

std::vector<std::string_view> words_of_rule(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != text.npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

bool is_same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_decimal(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
}

Result<InjectRule> read_inject_rule(std::string_view text) {
  if (text.size() > rule_size_bytes_max)
    return failure(Errc::parse_error, "a rule of {} bytes is too long", text.size());
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' && c != '\t'; }))
    return failure(Errc::parse_error, "a rule must not contain control characters");
  return RuleReader(text).read();
}

Result<InjectRule> parse_inject_rule(std::string_view text) {
  auto rule = read_inject_rule(text);
  if (rule) return rule;
  return failure(Errc::parse_error, "{}; the nearest legal rule is '{}'", rule.error().text(),
                 nearest_inject_rule(text.substr(0, rule_size_bytes_max)));
}

namespace {

/// "; the nearest legal rule is '…'", with the function whose name is nearest; nothing if none is near.
std::string suggestion_for_function(const InjectRule& rule) {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    constexpr std::string_view unknown = mpi::call_name(static_cast<mpi::CallId>(~0U));
    for (std::uint32_t id = 1; mpi::call_name(static_cast<mpi::CallId>(id)) != unknown; ++id)
      all.push_back(mpi::call_name(static_cast<mpi::CallId>(id)));
    return all;
  }();
  const std::string_view nearest = nearest_word(rule.name, names);
  std::string text = rule.text;
  const std::size_t at = text.find(rule.name);
  if (nearest.empty() || at == text.npos) return {};
  return fmt::format("; the nearest legal rule is '{}'", text.replace(at, rule.name.size(), nearest));
}

}  // namespace

Status check_function(const InjectRule& rule, const IsMpiFunction& is_mpi_function) {
  const bool names_function =
      rule.trigger == InjectTrigger::in_call || rule.trigger == InjectTrigger::in_middle;
  if (!names_function || is_mpi_function(rule.name)) return {};
  return failure(Errc::invalid_argument, "--inject '{}': MPI has no function '{}'{}", rule.text, rule.name,
                 suggestion_for_function(rule));
}

Status check_has_log(const InjectRule& rule, const qos::Profile& profile, std::string_view profile_name) {
  if (rule.deed != InjectDeed::memory_full || qos::rank_protection(profile).keeps_messages) return {};
  return failure(Errc::incompatible,
                 "--inject '{}': the profile '{}' keeps no log; take one whose rank_replacement is REBUILD, "
                 "for example --qos fault-tolerant",
                 rule.text, profile_name);
}

}  // namespace llamada::launcher
