// Writers that give back their memory, and two services that begin and end at moments that a seed draws.
#include <map>

#include "small_domain.hpp"

namespace llamada::service {
namespace {

/// Takes each writer's samples, which must come once and in order.
struct Checked {
  explicit Checked(SmallDomain& domain) : late(domain, kept(reader_spec())) {}

  void take() {
    for (; !late.reader.samples.empty(); late.reader.samples.pop_front()) {
      const Sample& sample = late.reader.samples.front();
      if (sample.data().size() != sample_bytes) continue;
      std::uint64_t number = 0;
      std::memcpy(&number, sample.data().data(), sizeof(number));
      std::uint64_t& last = taken[sample.header().instance];
      CHECK(number == last + 1);
      last = number;
    }
  }

  Late late;
  std::map<std::uint64_t, std::uint64_t> taken;  // the last number of each instance, which is a writer's
};

struct Drawn {
  static constexpr std::size_t writer_count = 3, readers_max = 3;

  explicit Drawn(std::uint64_t seed) : random(seed) {
    domain.start(domain.one_of_both(random));
    for (std::size_t k = 0; k < writer_count; ++k)
      writers.push_back(
          &domain.add_kept(kept(writer_spec(), random.below(2) == 0 ? qos::DurabilityKind::transient
                                                                    : qos::DurabilityKind::persistent)));
  }

  Random random;
  SmallDomain domain;
  std::vector<Application*> writers;
  std::vector<std::unique_ptr<Checked>> readers;

  void work() {
    domain.work_all();
    for (const auto& each : readers) each->take();
  }
  void step() {
    switch (random.below(8)) {
      case 0:
      case 1:
        domain.begin_or_end(random);
        break;
      case 2:
        if (readers.size() == readers_max) readers.erase(readers.begin());
        readers.push_back(std::make_unique<Checked>(domain));
        break;
      case 3:
        for (auto rounds = random.below(12); rounds > 0; --rounds) work();
        break;
      default: {
        const std::size_t chosen = random.below(writer_count);
        domain.write(
            *writers[chosen], 1 + random.below(40), [this] { work(); }, chosen + 1);
      }
    }
  }
  void check_all(Checked& reader) {
    const auto has_all = [&] {
      for (std::size_t k = 0; k < writer_count; ++k)
        if (reader.taken[k + 1] != writers[k]->writer.endpoint->published()) return false;
      return true;
    };
    CHECK(SmallDomain::until_of([this] { work(); }, has_all));
    CHECK(reader.late.reader.lost == 0);
  }
};

}  // namespace

TEST_CASE("service memory: whatever happens, all readers get what was written, once and in order",
          "[service]") {
  for_each_seed("SERVICE_MEMORY", 6, [](std::uint64_t seed) {
    INFO("seed " << seed);
    Drawn drawn(seed);
    SmallDomain& domain = drawn.domain;
    for (int steps = 0; steps < 60; ++steps) drawn.step();
    for (const auto& each : drawn.readers) drawn.check_all(*each);
    drawn.readers.clear();
    for (KeptHere* each : {&domain.one, &domain.other})
      if (!each->service) each->start();
    domain.await_aligned();
    for (int left = 2; left > 0; --left) {
      drawn.readers.push_back(std::make_unique<Checked>(domain));
      drawn.check_all(*drawn.readers.back());
      if (left == 2) (domain.one.role() == ServiceRole::serves ? domain.one : domain.other).end();
    }
    CHECK_FALSE(domain.one.has_said("not served"));
    CHECK_FALSE(domain.other.has_said("not served"));
  });
}

}  // namespace llamada::service
