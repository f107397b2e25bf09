// Runs random scripts with Llamada and with Cyclone DDS, each in this process, and compares what every read
// and take showed: `differential [--scripts N] [--seed FIRST]`. The scripts have the seeds FIRST, FIRST + 1,
// ... Exit status 1 if they differ in a way that docs/interop.md does not list.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <iterator>
#include <string_view>

#include "differences.hpp"
#include "script.hpp"

using namespace llamada::interop;

namespace {

std::vector<Seen> of_instance(const std::vector<Seen>& seen, std::int32_t key) {
  std::vector<Seen> own;
  std::copy_if(seen.begin(), seen.end(), std::back_inserter(own),
               [key](const Seen& each) { return each.cell.key == key; });
  return own;
}

void print(std::string_view who, const std::vector<Seen>& seen) {
  fmt::print("    {}\n", who);
  for (const Seen& each : seen) fmt::print("      {}\n", to_string(each));
}

/// The script as far as the read, and what this showed of an instance.
void print_difference(const Script& script, const Outcome& ours, const Outcome& theirs, std::size_t read,
                      std::int32_t key) {
  fmt::print("seed {} ({}), only what concerns k{}:\n", script.seed, script.configuration.name, key);
  std::size_t reads = 0;
  for (const Step& step : script.steps) {
    const bool looks = step.action >= Action::read;
    if (step.cell.key != key && (!looks || step.of_instance)) {
      reads += looks ? 1 : 0;
      continue;
    }
    fmt::print("  {}\n", to_string(step));
    if (!looks) continue;
    print("Llamada", of_instance(ours[reads], key));
    print("Cyclone DDS", of_instance(theirs[reads], key));
    if (reads++ == read) return;
  }
}

using Counts = std::array<std::uint64_t, difference_kinds>;

/// Counts what was found of each read and instance; false if something is not listed.
bool compare(std::uint32_t seed, Counts& counts) {
  const Script script = make_script(seed);
  const Outcome ours = run_with_llamada(script);
  const Outcome theirs = run_with_cyclone(script);
  Judge judge(script.configuration);
  std::size_t read = 0;
  for (const Step& step : script.steps) {
    if (step.action < Action::read) {
      judge.note(step);
      continue;
    }
    for (std::int32_t key = 0; key < keys; key++) {
      const Difference difference =
          judge.judge(step, key, of_instance(ours[read], key), of_instance(theirs[read], key));
      ++counts[static_cast<std::size_t>(difference)];
      if (difference != Difference::unlisted) continue;
      print_difference(script, ours, theirs, read, key);
      return false;
    }
    ++read;
  }
  return true;
}

std::uint32_t number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc{} && end == text.data() + text.size()) return number;
  fmt::print(stderr, "differential: '{}' is no number\n", text);
  std::exit(2);
}

}  // namespace

int main(int count, char** arguments) {
  std::uint32_t scripts = 1000, first = 1, different = 0;
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = arguments[i];
    if ((name != "--scripts" && name != "--seed") || i + 1 == count) {
      fmt::print(stderr, "usage: differential [--scripts N] [--seed FIRST]\n");
      return 2;
    }
    (name == "--seed" ? first : scripts) = number_of(arguments[i + 1]);
  }
  Counts counts{};
  try {
    for (std::uint32_t i = 0; i < scripts; i++) different += compare(first + i, counts) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "differential: {}\n", error.what());
    return 1;
  }
  fmt::print("{} scripts from seed {}; of reads and instances:\n", scripts, first);
  for (std::size_t kind = 0; kind < counts.size(); kind++)
    fmt::print("  {:<30} {}\n", to_string(static_cast<Difference>(kind)), counts[kind]);
  return different == 0 ? 0 : 1;
}
