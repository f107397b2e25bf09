// Two services that begin and end at moments that a seed draws, beside writers that come and go.
#include <sstream>

#include "service_pair.hpp"

namespace llamada::service {
namespace {

/// A domain of which a seed draws what happens, and what must be there in the end.
struct Drawn {
  explicit Drawn(std::uint64_t seed) : random(seed) {}

  Random random;
  Domain domain;
  std::uint64_t instance = 0;
  std::map<std::uint64_t, std::string> expected;  // by instance, of writers that have ended

  /// At least one service is there all the time, as after a kill of one.
  void step() {
    KeptHere& chosen = domain.one_of_both(random);
    switch (random.below(6)) {
      case 0:
        if (!chosen.service) chosen.start();
        break;
      case 1: {
        KeptHere& left = &chosen == &domain.one ? domain.other : domain.one;
        if (chosen.service && left.service) chosen.end();
        break;
      }
      case 2:
        if (!domain.one.service && !domain.other.service) chosen.start();
        write();
        break;
      default:
        domain.go_on(static_cast<int>(random.below(12)));
    }
  }

  /// A writer comes, writes to an instance of its own, and ends once that is acknowledged. Services begin and
  /// end meanwhile.
  void write() {
    EndpointSpec spec = kept_all();
    const bool keeps_last = random.below(3) == 0;
    if (keeps_last) spec = keep_last(spec, 3);
    Application& writer = domain.add(spec);
    ++instance;
    const auto count = static_cast<int>(1 + random.below(20));
    for (int k = 0; k < count; ++k) {
      writer.publish(1, instance);
      domain.go_on(static_cast<int>(random.below(3)));
      if (keeps_last) REQUIRE(domain.await_acknowledged(writer));
      if (random.below(10) == 0) domain.begin_or_end(random);
    }
    // One that no longer has what a service has missed leaves it open whether that was disposed of.
    if (!keeps_last && random.below(3) == 0)
      writer.publish(1, instance, ChangeKind::disposed_unregistered);
    else
      expected[instance] = counted(count, 1, static_cast<int>(instance));
    REQUIRE(domain.await_acknowledged(writer));
    domain.applications.clear();
  }

  /// What is kept, by instance.
  std::map<std::uint64_t, std::string> kept() {
    std::map<std::uint64_t, std::string> kept;
    std::istringstream words(domain.past());
    for (std::string word; words >> word;) {
      std::string& text = kept[std::stoull(word)];
      text += (text.empty() ? "" : " ") + word;
    }
    return kept;
  }
};

std::string text(const std::map<std::uint64_t, std::string>& kept) {
  std::string text;
  for (const auto& [instance, samples] : kept) text += samples + "\n";
  return text;
}

}  // namespace

TEST_CASE("two services: whatever happens, both have in the end what was acknowledged, once and in order",
          "[service]") {
  for_each_seed("SERVICE_PAIR", 15, [](std::uint64_t seed) {
    INFO("seed " << seed);
    Drawn drawn(seed);
    Domain& domain = drawn.domain;
    domain.one_of_both(drawn.random).start();
    for (int steps = 0; steps < 60; ++steps) drawn.step();
    for (KeptHere* each : {&domain.one, &domain.other})
      if (!each->service) each->start();
    domain.await_aligned();
    CHECK(text(drawn.kept()) == text(drawn.expected));
    (domain.one.role() == ServiceRole::serves ? domain.one : domain.other).end();
    REQUIRE(text(drawn.kept()) == text(drawn.expected));
  });
}

}  // namespace llamada::service
