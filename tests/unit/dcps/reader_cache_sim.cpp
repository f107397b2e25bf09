// The reader's cache against a model so simple that it can be seen to be right: a list of what is there and a
// state for each instance. Random writers, changes, deaths, reads and takes from a seed.
#include <map>
#include <set>

#include "cache_fixture.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

namespace llamada::dcps::test {
namespace {

using topics::ChangeKind;

struct ModelSample {
  std::uint64_t instance;
  std::string text;  // "-": no data
  bool read = false;
  int disposed_generation = 0;
  int no_writers_generation = 0;
};

struct ModelInstance {
  StateMask state = instance_state::alive;
  bool is_new = true;
  int disposed_generation = 0;
  int no_writers_generation = 0;
  std::set<std::uint32_t> writers;
};

class Model {
 public:
  explicit Model(std::size_t depth) : depth_(depth) {}

  void write(std::uint32_t writer, std::uint64_t instance, const std::string& text) {
    ModelInstance& state = instances_[instance];
    state.writers.insert(writer);
    if (state.state == instance_state::not_alive_disposed) ++state.disposed_generation;
    if (state.state == instance_state::not_alive_no_writers) ++state.no_writers_generation;
    if (state.state != instance_state::alive) state.is_new = true;
    state.state = instance_state::alive;
    std::vector<std::size_t> with_data;
    for (std::size_t k = 0; k < samples_.size(); ++k) {
      if (samples_[k].instance == instance && samples_[k].text != "-") with_data.push_back(k);
    }
    if (with_data.size() >= depth_)
      samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(with_data[0]));
    add(instance, text);
  }
  void dispose(std::uint32_t writer, std::uint64_t instance) {
    ModelInstance& state = instances_[instance];
    state.writers.insert(writer);
    if (state.state == instance_state::not_alive_disposed) return;
    state.state = instance_state::not_alive_disposed;
    mark(instance);
  }
  void unregister(std::uint32_t writer, std::uint64_t instance) {
    auto found = instances_.find(instance);
    if (found == instances_.end() || found->second.writers.erase(writer) == 0) return;
    if (found->second.writers.empty() && found->second.state == instance_state::alive) {
      found->second.state = instance_state::not_alive_no_writers;
      mark(instance);
    }
    forget(instance);
  }
  void lose(std::uint32_t writer) {
    for (std::uint64_t instance : known()) unregister(writer, instance);
  }

  /// As CacheFixture::texts(), with the states of each sample behind it.
  std::string give(const DataState& wanted, bool take) {
    std::string all;
    std::vector<std::size_t> chosen;
    for (std::size_t k = 0; k < samples_.size(); ++k) {
      const ModelInstance& state = instances_.at(samples_[k].instance);
      const StateMask sample = samples_[k].read ? sample_state::read : sample_state::not_read;
      const StateMask view = state.is_new ? view_state::new_view : view_state::not_new;
      if ((wanted.sample & sample) && (wanted.view & view) && (wanted.instance & state.state))
        chosen.push_back(k);
    }
    for (std::size_t k : chosen) {
      const ModelSample& each = samples_[k];
      const ModelInstance& state = instances_.at(each.instance);
      all += fmt::format("{}/{}{}{}{}{} ", each.text, each.read ? 1 : 2, state.is_new ? 1 : 2, state.state,
                         each.disposed_generation, each.no_writers_generation);
    }
    for (auto k = chosen.rbegin(); k != chosen.rend(); ++k) {
      ModelSample& each = samples_[*k];
      ModelInstance& state = instances_.at(each.instance);
      each.read = true;
      if (each.disposed_generation == state.disposed_generation &&
          each.no_writers_generation == state.no_writers_generation) {
        state.is_new = false;
      }
      if (take) samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(*k));
    }
    for (std::uint64_t instance : known()) forget(instance);
    return all;
  }

  std::vector<std::uint64_t> known() const {
    std::vector<std::uint64_t> all;
    for (const auto& [instance, state] : instances_) all.push_back(instance);
    return all;
  }

 private:
  void add(std::uint64_t instance, const std::string& text) {
    const ModelInstance& state = instances_[instance];
    samples_.push_back({instance, text, false, state.disposed_generation, state.no_writers_generation});
  }
  void mark(std::uint64_t instance) {
    std::erase_if(samples_,
                  [&](const ModelSample& each) { return each.instance == instance && each.text == "-"; });
    add(instance, "-");
  }
  void forget(std::uint64_t instance) {
    const ModelInstance& state = instances_.at(instance);
    if (state.state == instance_state::alive || !state.writers.empty()) return;
    for (const ModelSample& each : samples_) {
      if (each.instance == instance) return;
    }
    instances_.erase(instance);
  }

  std::size_t depth_;
  std::vector<ModelSample> samples_;
  std::map<std::uint64_t, ModelInstance> instances_;
};

std::string given(CacheFixture& reader, const DataState& state, bool take) {
  ReadSelector selector;
  selector.state = state;
  std::string all;
  for (auto& each : reader.cache.select(selector, take, reader.now)) {
    all += fmt::format("{}/{}{}{}{}{} ", each.info.valid_data ? text_of(each.sample->sample.data()) : "-",
                       each.info.sample_state, each.info.view_state, each.info.instance_state,
                       each.info.disposed_generation_count, each.info.no_writers_generation_count);
    reader.cache.give_back(each.sample);
  }
  return all;
}

void run(std::uint64_t seed) {
  Random random(seed);
  const std::int32_t depth = random.chance(1, 3) ? 0 : static_cast<std::int32_t>(1 + random.below(3));
  ReaderCacheOptions options =
      depth == 0 ? CacheFixture::reliable_keep_all() : CacheFixture::keep_last(depth);
  // In the order of arrival, as the model's list is.
  options.presentation = {qos::PresentationAccessScope::topic, false, true};
  CacheFixture reader(options);
  Model model(depth == 0 ? SIZE_MAX : static_cast<std::size_t>(depth));
  for (int step = 0; step < 200; ++step) {
    const auto writer = static_cast<std::uint32_t>(1 + random.below(3));
    const std::uint64_t instance = 1 + random.below(4);
    INFO("seed " << seed << ", step " << step);
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2: {
        const std::string text = std::to_string(step);
        REQUIRE(reader.write(text, instance, writer));
        model.write(writer, instance, text);
        break;
      }
      case 3:
        reader.change(ChangeKind::disposed, instance, writer);
        model.dispose(writer, instance);
        break;
      case 4:
        reader.change(ChangeKind::unregistered, instance, writer);
        model.unregister(writer, instance);
        break;
      case 5:
        if (!random.chance(1, 4)) break;
        reader.cache.writer_not_alive(writer_id(writer), reader.now);
        model.lose(writer);
        break;
      default: {
        const StateMask any_or[] = {sample_state::any, 1, 2};
        const StateMask instances[] = {instance_state::any, 1, 2, 4, 6};
        const DataState state{any_or[random.below(3)], any_or[random.below(3)], instances[random.below(5)]};
        const bool take = random.chance(1, 2);
        REQUIRE(given(reader, state, take) == model.give(state, take));
      }
    }
    for (std::uint64_t known = 1; known <= 4; ++known) {
      const auto all = model.known();
      REQUIRE(reader.cache.knows_instance(known) == (std::find(all.begin(), all.end(), known) != all.end()));
    }
  }
}

TEST_CASE("reader cache: does what a simple model does, for every seed", "[dcps][sim]") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) run(seed);
}

}  // namespace
}  // namespace llamada::dcps::test
