#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

// Random scripts of writes and reads, which are the same for every implementation of DDS, and what came of
// them.
namespace llamada::interop {

/// Instances have the keys 0 to this, without it.
inline constexpr std::int32_t keys = 3;

/// What the topic's samples are: a key and a value.
struct Cell {
  std::int32_t key = 0;
  std::int32_t value = 0;
};

/// The QoS of the two writers and the reader of a script.
struct Configuration {
  std::string name;
  bool keep_all = false;
  std::int32_t depth = 1;  ///< Of the writers and the reader; not with keep_all.
  bool by_source = false;
  bool in_order = true;    ///< With by_source: no write has an earlier source timestamp than one before it.
  bool exclusive = false;  ///< OWNERSHIP; the second writer is the stronger one.
  bool autodispose = true;
  bool reliable = true;           ///< The reader; the writers are RELIABLE always.
  bool purge_disposed = false;    ///< autopurge_disposed_samples_delay is 0, not infinite.
  bool purge_nowriter = false;    ///< autopurge_nowriter_samples_delay is 0, not infinite.
  std::int32_t max_samples = -1;  ///< Of the reader's RESOURCE_LIMITS; -1: unlimited.
  std::int32_t max_instances = -1;
  std::int32_t max_samples_per_instance = -1;
};

/// All configurations; a script has that of its seed modulo their number.
const std::vector<Configuration>& configurations();

enum class Action : std::uint8_t { register_, write, dispose, unregister, read, take };

/// States are masks of the standard's IDL, DDS 1.4, 2.3.3: read 1, not read 2; new 1, not new 2; alive 1,
/// disposed 2, no writers 4.
struct Step {
  Action action = Action::write;
  std::size_t writer = 0;
  Cell cell;  ///< Of reads the key, if `of_instance`.
  std::int64_t timestamp_ns = 0;
  bool of_instance = false;
  std::uint32_t sample_states = 3;
  std::uint32_t view_states = 3;
  std::uint32_t instance_states = 7;
  std::int32_t max_samples = -1;  ///< -1: all.
};

struct Script {
  std::uint32_t seed = 0;
  Configuration configuration;
  std::vector<Step> steps;
};

/// Writers dispose of and unregister only instances that they have registered or written.
Script make_script(std::uint32_t seed);

/// "write w0 k1=17", "take k1 states 3/3/7 max 2".
std::string to_string(const Step& step);

/// One sample as a reader shows it.
struct Seen {
  Cell cell;
  bool valid = false;
  std::uint32_t sample_state = 0;
  std::uint32_t view_state = 0;
  std::uint32_t instance_state = 0;
  std::int32_t disposed_generation = 0;
  std::int32_t no_writers_generation = 0;
  std::int32_t sample_rank = 0;
  std::int32_t generation_rank = 0;
  std::int32_t absolute_generation_rank = 0;

  bool operator==(const Seen&) const;
};

/// "k1=17 read new alive generations 0/0 ranks 0/0/0"; without data "k1=- ...".
std::string to_string(const Seen& seen);

/// What each step showed, reads and takes only, with the samples of each instance together and in the order
/// of the keys: the order of instances is each implementation's own (2.2.2.5.3.8).
using Outcome = std::vector<std::vector<Seen>>;

/// Takes the steps of `script` one by one. A `Run` has write(step), and look(step), which gives what it saw.
template <typename Run>
Outcome outcome_of(const Script& script, Run& run) {
  Outcome outcome;
  for (const Step& step : script.steps) {
    if (step.action < Action::read) {
      run.write(step);
      continue;
    }
    outcome.push_back(run.look(step));
    std::stable_sort(outcome.back().begin(), outcome.back().end(),
                     [](const Seen& a, const Seen& b) { return a.cell.key < b.cell.key; });
  }
  return outcome;
}

/// Runs a script in this process, in a topic of its own, and ends what it began. Throws std::runtime_error.
Outcome run_with_llamada(const Script& script);
Outcome run_with_cyclone(const Script& script);

}  // namespace llamada::interop
