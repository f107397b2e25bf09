// OWNERSHIP EXCLUSIVE of kept topics: a late reader gets what a reader got that was there all the time,
// wherever the service was killed.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "kept_killed.hpp"
#include "llamada/base/random.hpp"

namespace llamada::dcps::test {
namespace {

using Values = std::map<std::int32_t, std::vector<std::int32_t>>;  // by sensor

void take_into(Values& values, DataReader& reader) {
  const auto samples = reader.take();
  REQUIRE(samples);
  for (const auto& each : *samples) {
    if (!each.info.valid_data) continue;
    const auto value = *types::deserialize<Reading>(each.data);
    values[value.sensor].push_back(value.value);
  }
}

std::string text(const Values& values) {
  std::string text;
  for (const auto& [sensor, each] : values) text += fmt::format("{}: {}\n", sensor, fmt::join(each, " "));
  return text;
}

/// Writers that contend for two sensors, and a reader that is there all the time.
struct Contest {
  explicit Contest(qos::DurabilityKind kind) : kind(kind) {
    for (int k = 0; k < 2; ++k) policies[k] = exclusive(k - 2);
    reader = world().reader(policies[0]);
    for (int k = 0; k < 2; ++k) start_writer(k);
  }

  Policies exclusive(std::int32_t strength) const {
    Policies exclusive = kept(kind);
    exclusive.writer.ownership.kind = exclusive.reader.ownership.kind = qos::OwnershipKind::exclusive;
    exclusive.writer.ownership_strength.value = strength;
    return exclusive;
  }
  World& world() { return kept_world.world(); }
  void start_writer(int k) {
    writers[k] = std::make_unique<Peer>(world().socket_name(), fmt::format("writer-{}-{}", k, ++value));
    writers[k]->make_writer("w", policies[k]);
    REQUIRE(eventually([&] { return matches(k); }));
    claims[k].clear();
  }
  /// Whether the reader matches this writer. Services' writers have another strength.
  bool matches(int k) const {
    const auto all = reader->matched_publications();
    return std::any_of(all.begin(), all.end(), [&](InstanceHandle each) {
      const auto data = reader->matched_publication_data(each);
      return data && data->qos.ownership_strength.value == policies[k].writer.ownership_strength.value;
    });
  }
  /// The reader that is there has seen what the writer has done: each has a sensor that no other one writes.
  void write_marker(int k) {
    const std::int32_t sensor = 10 + k;
    writers[k]->write("w", sensor, ++value);
    REQUIRE(eventually([&] {
      take_into(heard, *reader);
      return !heard[sensor].empty() && heard[sensor].back() == value;
    }));
  }
  void write(int k, std::int32_t sensor) {
    writers[k]->write("w", sensor, ++value);
    claims[k].insert(sensor);
    write_marker(k);
  }
  void unregister(int k, std::int32_t sensor) {
    if (claims[k].erase(sensor) == 0) return;
    (void)writers[k]->ask(fmt::format("unregister w {}", sensor));
    write_marker(k);
  }
  /// Its instances go to the other one, and a new writer comes.
  void replace(int k) {
    writers[k]->kill();
    REQUIRE(eventually([&] { return !matches(k); }));
    start_writer(k);
    write_marker(k);
  }
  void await_kept() {
    for (auto& writer : writers) await_acknowledged(*writer);
  }
  /// What a reader gets that comes now. It may come while writers of the past end.
  std::string past() {
    auto late = world().reader(policies[0]);
    REQUIRE(late->wait_for_historical_data(watchdog));
    Values values;
    take_into(values, *late);
    REQUIRE(late->subscriber()->delete_datareader(late));
    return text(values);
  }

  const qos::DurabilityKind kind;
  KeptWorld kept_world;
  Policies policies[2];
  std::shared_ptr<DataReader> reader;
  std::unique_ptr<Peer> writers[2];  // a weak one, and a strong one
  std::set<std::int32_t> claims[2];
  Values heard;
  std::int32_t value = 0;
};

}  // namespace

TEST_CASE("kept ownership: a late reader gets what was heard, also of the time without a service", "[kept]") {
  const bool is_persistent = GENERATE(false, true);
  Contest contest(is_persistent ? qos::DurabilityKind::persistent : qos::DurabilityKind::transient);
  Persistd& service = contest.kept_world.service();
  service.choose_kind(is_persistent ? "sqlite" : "segments");
  constexpr int weak = 0, strong = 1;
  service.start();
  contest.write(strong, 1);
  contest.write(weak, 1);
  contest.write(strong, 2);
  contest.unregister(strong, 2);
  contest.await_kept();
  service.kill();
  contest.write(weak, 1);
  contest.write(weak, 2);
  contest.write(strong, 1);
  contest.unregister(strong, 1);
  contest.write(weak, 1);
  contest.write(strong, 1);
  contest.write(weak, 1);
  service.start();
  contest.write(weak, 1);
  contest.write(strong, 1);
  contest.await_kept();
  REQUIRE(contest.heard[1].size() == 5);
  if (is_persistent)
    CHECK(contest.past() == text(contest.heard));
  else  // that the service has all is seen only by what it gives
    CHECK(eventually([&] { return contest.past() == text(contest.heard); }));
  // What the living writers have left is gone with them.
  for (auto& writer : contest.writers) writer->kill();
  contest.kept_world.restart_service();
  CHECK(contest.past() == text(contest.heard));
}

TEST_CASE("kept ownership: a late reader gets what was heard, wherever services were killed", "[kept]") {
  const bool has_two = GENERATE(false, true);
  Contest contest(qos::DurabilityKind::persistent);
  Persistd second(contest.kept_world.folder / "second", contest.world().socket_name());
  Persistd* services[] = {&contest.kept_world.service(), &second};
  const char* seed = std::getenv("KEPT_OWNERSHIP_SEED");
  Random random((seed == nullptr ? 7 : std::strtoull(seed, nullptr, 10)) * 2 + (has_two ? 1 : 0));
  const auto kill_or_start = [&] {
    Persistd& service = *services[has_two ? random.below(2) : 0];
    service.is_running() ? service.kill() : service.start();
  };
  for (int steps = 0; steps < 60; ++steps) {
    const auto k = static_cast<int>(random.below(2));
    const auto sensor = static_cast<std::int32_t>(1 + random.below(2));
    switch (random.below(8)) {
      case 0:
        kill_or_start();
        break;
      case 1:
      case 2:
        contest.unregister(k, sensor);
        break;
      case 3: {  // when a writer ends without a service, nobody knows when it did
        if (has_two || random.below(2) != 0) break;
        if (!services[0]->is_running()) services[0]->start();
        contest.await_kept();
        contest.replace(k);
        break;
      }
      default:
        contest.write(k, sensor);
    }
  }
  for (int k = 0; k < (has_two ? 2 : 1); ++k)
    if (!services[k]->is_running()) services[k]->start();
  contest.await_kept();
  CHECK(contest.past() == text(contest.heard));
  services[0]->kill();
  if (!has_two) services[0]->start();
  CHECK(contest.past() == text(contest.heard));
}

TEST_CASE("kept ownership: of two that write at once only the owner is kept, while services are killed",
          "[kept]") {
  constexpr int weak = 0, strong = 1, kill_count = 15;
  constexpr std::int32_t of_the_weak = 1'000'000;
  Contest contest(qos::DurabilityKind::persistent);
  Persistd& service = contest.kept_world.service();
  contest.write(strong, 1);
  std::int32_t next[] = {of_the_weak, 1};
  const std::int32_t first = contest.heard[1].back();
  next[strong] = first + 1;
  Random random(11);
  for (int kills = 0; kills < kill_count; ++kills) {
    service.start();
    until_killed(service, std::chrono::microseconds(random.below(40'000)), [&] {
      for (const int k : {weak, strong}) {
        const auto count = static_cast<std::int32_t>(1 + random.below(10));
        contest.writers[k]->write("w", 1, next[k], count);
        next[k] += count;
      }
    });
  }
  service.start();
  contest.await_kept();
  auto late = contest.world().reader(contest.policies[0]);
  REQUIRE(late->wait_for_historical_data(watchdog));
  Values values;
  take_into(values, *late);
  const auto& of_one = values[1];
  INFO(fmt::format("{} of the weak were written", next[weak] - of_the_weak));
  CHECK(std::count_if(of_one.begin(), of_one.end(), [](auto value) { return value >= of_the_weak; }) == 0);
  CHECK(std::is_sorted(of_one.begin(), of_one.end()));
  CHECK(of_one.size() == static_cast<std::size_t>(next[strong] - first));
}

}  // namespace llamada::dcps::test
