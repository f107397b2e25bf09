#include "script.hpp"

#include <fmt/format.h>

#include <array>
#include <random>
#include <set>

namespace llamada::interop {
namespace {

constexpr std::size_t writers = 2;
constexpr int steps_min = 15;
constexpr int steps_max = 60;

/// The same numbers on each machine: the distributions of the standard library are not.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  /// Any mask but the empty one; most often all states.
  std::uint32_t mask(std::uint32_t all) { return one_in(3) ? 1 + below(all) : all; }

 private:
  std::mt19937 engine_;
};

Step read_step(Dice& dice) {
  Step step;
  step.action = dice.one_in(2) ? Action::take : Action::read;
  step.of_instance = dice.one_in(3);
  step.cell.key = static_cast<std::int32_t>(dice.below(keys));
  step.sample_states = dice.mask(3);
  step.view_states = dice.mask(3);
  step.instance_states = dice.mask(7);
  // Of several instances each implementation would choose others.
  if (step.of_instance && dice.one_in(2)) step.max_samples = 1 + static_cast<std::int32_t>(dice.below(4));
  return step;
}

Action writer_action(Dice& dice, bool is_registered) {
  const std::uint32_t number = dice.below(10);
  if (number == 0 && !is_registered) return Action::register_;
  if (number >= 6 && is_registered) return number >= 8 ? Action::unregister : Action::dispose;
  return Action::write;
}

}  // namespace

const std::vector<Configuration>& configurations() {
  static const std::vector<Configuration> all{
      {.name = "KEEP_LAST 1"},
      {.name = "KEEP_LAST 3", .depth = 3},
      {.name = "KEEP_ALL", .keep_all = true},
      {.name = "KEEP_LAST 1, no autodispose", .autodispose = false},
      {.name = "KEEP_LAST 4, no autodispose", .depth = 4, .autodispose = false},
      {.name = "KEEP_ALL, no autodispose", .keep_all = true, .autodispose = false},
      {.name = "KEEP_LAST 1, BY_SOURCE_TIMESTAMP", .by_source = true},
      {.name = "KEEP_LAST 4, BY_SOURCE_TIMESTAMP out of order, no autodispose",
       .depth = 4,
       .by_source = true,
       .in_order = false,
       .autodispose = false},
      {.name = "KEEP_ALL, BY_SOURCE_TIMESTAMP", .keep_all = true, .by_source = true},
      {.name = "KEEP_LAST 2, EXCLUSIVE", .depth = 2, .exclusive = true},
      {.name = "KEEP_ALL, EXCLUSIVE, no autodispose",
       .keep_all = true,
       .exclusive = true,
       .autodispose = false},
      {.name = "KEEP_ALL, autopurge of disposed 0", .keep_all = true, .purge_disposed = true},
      {.name = "KEEP_LAST 2, autopurge of no writers 0",
       .depth = 2,
       .autodispose = false,
       .purge_nowriter = true},
      {.name = "KEEP_ALL, BEST_EFFORT, 2 samples an instance",
       .keep_all = true,
       .reliable = false,
       .max_samples = 5,
       .max_samples_per_instance = 2},
  };
  return all;
}

Script make_script(std::uint32_t seed) {
  Dice dice(seed);
  Script script{seed, configurations()[seed % configurations().size()], {}};
  std::array<std::set<std::int32_t>, writers> registered;
  const bool in_order = script.configuration.by_source && script.configuration.in_order;
  const int count = steps_min + static_cast<int>(dice.below(steps_max - steps_min));
  for (int i = 0; i < count; i++) {
    if (dice.one_in(3)) {
      script.steps.push_back(read_step(dice));
      continue;
    }
    Step step;
    step.writer = dice.below(writers);
    step.cell = {static_cast<std::int32_t>(dice.below(keys)), i};
    // The second writer's clock is behind.
    const std::int64_t behind_ns = in_order ? 0 : static_cast<std::int64_t>(step.writer) * 3'500'000;
    step.timestamp_ns = 1'600'000'000'000'000'000 + i * 1'000'000 - behind_ns;
    auto& own = registered[step.writer];
    step.action = writer_action(dice, own.contains(step.cell.key));
    if (step.action == Action::unregister) own.erase(step.cell.key);
    if (step.action == Action::register_ || step.action == Action::write) own.insert(step.cell.key);
    script.steps.push_back(step);
  }
  script.steps.push_back({.action = Action::read});
  script.steps.push_back({.action = Action::take});
  return script;
}

std::string to_string(const Step& step) {
  constexpr std::array<const char*, 6> names{"register", "write", "dispose", "unregister", "read", "take"};
  const std::string name = names[static_cast<std::size_t>(step.action)];
  if (step.action == Action::write)
    return fmt::format("write w{} k{}={}", step.writer, step.cell.key, step.cell.value);
  if (step.action < Action::read) return fmt::format("{} w{} k{}", name, step.writer, step.cell.key);
  return fmt::format("{}{} states {}/{}/{}{}", name,
                     step.of_instance ? fmt::format(" k{}", step.cell.key) : "", step.sample_states,
                     step.view_states, step.instance_states,
                     step.max_samples < 0 ? "" : fmt::format(" max {}", step.max_samples));
}

bool Seen::operator==(const Seen& other) const {
  const auto states = [](const Seen& seen) {
    return std::array{seen.sample_state, seen.view_state, seen.instance_state};
  };
  const auto counts = [](const Seen& seen) {
    return std::array{seen.disposed_generation, seen.no_writers_generation, seen.sample_rank,
                      seen.generation_rank, seen.absolute_generation_rank};
  };
  return cell.key == other.cell.key && valid == other.valid && (!valid || cell.value == other.cell.value) &&
         states(*this) == states(other) && counts(*this) == counts(other);
}

std::string to_string(const Seen& seen) {
  const char* instance = seen.instance_state == 1   ? "alive"
                         : seen.instance_state == 2 ? "disposed"
                                                    : "no writers";
  return fmt::format("k{}={} {} {} {}, generations {}/{}, ranks {}/{}/{}", seen.cell.key,
                     seen.valid ? std::to_string(seen.cell.value) : "-",
                     seen.sample_state == 1 ? "read" : "not read", seen.view_state == 1 ? "new" : "not new",
                     instance, seen.disposed_generation, seen.no_writers_generation, seen.sample_rank,
                     seen.generation_rank, seen.absolute_generation_rank);
}

}  // namespace llamada::interop
