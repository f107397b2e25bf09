#include "kept_history.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::service;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t a = 1, b = 2;  // instances
constexpr bool disposal = true;

/// A history, and the numbers of what it has dropped.
struct Kept {
  std::vector<std::uint64_t> dropped;
  KeptHistory history{[this](const KeptHistory::Entry& entry) { dropped.push_back(entry.number); }};
  std::uint64_t next = 1;

  explicit Kept(const qos::DurabilityService& policy) { history.set_policy(policy, 0); }
  void add(std::uint64_t instance, bool disposes = false, std::int64_t now_ns = 0) {
    history.add(instance, {next++, 0, 0, disposes}, now_ns);
  }
};

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("kept history: KEEP_LAST keeps depth samples of each instance", "[service]") {
  Kept kept({.history_depth = 2});
  for (int k = 0; k < 3; ++k) kept.add(a);
  kept.add(b);
  CHECK(kept.dropped == Numbers{1});
  CHECK(kept.history.sample_count() == 3);
  CHECK(kept.history.instance_count() == 2);
}

TEST_CASE("kept history: a disposal stands beside the samples, and the next generation ends it",
          "[service]") {
  Kept kept({.service_cleanup_delay = qos::duration_infinite, .history_depth = 1});
  kept.add(a);
  kept.add(a, disposal);
  CHECK(kept.dropped.empty());
  kept.add(a, disposal);
  CHECK(kept.dropped == Numbers{2});
  kept.add(a);
  CHECK(kept.dropped == Numbers{2, 1, 3});
  CHECK(kept.history.sample_count() == 1);
}

TEST_CASE("kept history: by the source's time an older sample goes behind, and what is too old is outdated",
          "[service]") {
  Kept kept({.service_cleanup_delay = qos::duration_infinite, .history_depth = 2});
  const auto entry = [&](std::int64_t time_ns, bool disposes = false) {
    return KeptHistory::Entry{kept.next, time_ns, 0, disposes, true};
  };
  const auto add = [&](const KeptHistory::Entry& each) {
    CHECK_FALSE(kept.history.is_outdated(a, each));
    kept.history.add(a, each, 0);
    ++kept.next;
  };
  add(entry(30));
  add(entry(10));
  CHECK(kept.history.is_outdated(a, entry(9)));
  CHECK(kept.history.is_outdated(a, entry(29, disposal)));
  add(entry(10));  // not older than the oldest, which it replaces
  CHECK(kept.dropped == Numbers{2});
  add(entry(20));
  CHECK(kept.dropped == Numbers{2, 3});
  add(entry(30, disposal));
  CHECK(kept.history.is_outdated(a, entry(29)));
  CHECK_FALSE(kept.history.is_outdated(a, entry(31)));
  CHECK_FALSE(kept.history.is_outdated(b, entry(1)));
}

TEST_CASE("kept history: a lower depth drops the oldest", "[service]") {
  Kept kept({.history_kind = qos::HistoryKind::keep_all});
  for (int k = 0; k < 4; ++k) kept.add(a);
  kept.history.set_policy({.history_depth = 3}, 0);
  CHECK(kept.dropped == Numbers{1});
}

TEST_CASE("kept history: limits refuse what replaces nothing", "[service]") {
  const auto refuses = [](const Kept& kept, std::uint64_t instance) {
    return !kept.history.refusal(instance).empty();
  };
  Kept samples({.history_kind = qos::HistoryKind::keep_all, .max_samples = 2});
  samples.add(a);
  CHECK_FALSE(refuses(samples, b));
  samples.add(a);
  CHECK(refuses(samples, a));
  CHECK(refuses(samples, b));
  Kept instances({.max_instances = 1});
  instances.add(a);
  CHECK_FALSE(refuses(instances, a));
  CHECK(refuses(instances, b));
  Kept each({.history_kind = qos::HistoryKind::keep_all, .max_samples_per_instance = 1});
  each.add(a);
  CHECK(refuses(each, a));
  CHECK_FALSE(refuses(each, b));
  Kept last({.history_depth = 1, .max_samples = 1});
  last.add(a);
  CHECK_FALSE(refuses(last, a));  // it replaces one
  CHECK(refuses(last, b));
}

TEST_CASE("kept history: a disposed instance without writers goes after service_cleanup_delay", "[service]") {
  Kept kept({.service_cleanup_delay = 10ns, .history_depth = 1});
  kept.add(a);
  kept.add(b);
  kept.history.writes(a, 7);
  kept.history.writes(b, 7);
  kept.add(a, disposal, 100);
  CHECK(kept.history.clean(1000) == KeptHistory::never_ns);
  kept.history.unregistered(a, 7, 1000);
  CHECK(kept.history.clean(1009) == 1010);
  CHECK(kept.dropped.empty());
  CHECK(kept.history.clean(1010) == KeptHistory::never_ns);
  CHECK(kept.dropped == Numbers{3, 1});
  CHECK(kept.history.instance_count() == 1);
  kept.history.writer_gone(7, 1010);  // b is not disposed and stays
  CHECK(kept.history.clean(INT64_MAX - 1) == KeptHistory::never_ns);
  CHECK(kept.history.instance_count() == 1);
}

TEST_CASE("kept history: a writer that comes back keeps a disposed instance", "[service]") {
  Kept kept({.service_cleanup_delay = 10ns});
  kept.add(a, disposal, 100);
  CHECK(kept.history.clean(105) == 110);
  kept.history.writes(a, 3);
  CHECK(kept.history.clean(200) == KeptHistory::never_ns);
  CHECK(kept.dropped.empty());
}

TEST_CASE("kept history: what has outlived LIFESPAN goes", "[service]") {
  Kept kept({.history_kind = qos::HistoryKind::keep_all});
  for (int k = 0; k < 3; ++k) kept.add(a);
  kept.history.expire([](const KeptHistory::Entry& entry) { return entry.number != 2; });
  CHECK(kept.dropped == Numbers{3, 1});
  kept.history.expire([](const KeptHistory::Entry&) { return true; });
  CHECK(kept.history.instance_count() == 0);
}
