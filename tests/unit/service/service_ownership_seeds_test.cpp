// Writers that contend for EXCLUSIVE instances, while services begin and end at moments that a seed draws.
#include <set>
#include <sstream>

#include "service_pair.hpp"

namespace llamada::service {
namespace {

constexpr std::size_t contender_count = 3;
constexpr std::uint64_t instance_count = 2;

/// What a reader that is always there hears (DDS 1.4, 2.2.3.9).
struct Heard {
  std::map<std::uint64_t, std::set<std::size_t>> claims;  // by instance
  std::map<std::uint64_t, std::string> samples;

  void write(std::size_t contender, std::uint64_t instance, int value,
             const std::vector<std::int32_t>& strengths) {
    claims[instance].insert(contender);
    for (const std::size_t other : claims[instance]) {
      if (strengths[other] > strengths[contender]) return;
      if (strengths[other] == strengths[contender] && other < contender) return;
    }
    std::string& text = samples[instance];
    text += fmt::format("{}{}.{}", text.empty() ? "" : " ", instance, value);
  }
};

struct Contenders {
  explicit Contenders(std::uint64_t seed) : random(seed), has_pair(seed % 2 == 0) {
    for (std::size_t k = 0; k < contender_count; ++k) {
      strengths.push_back(static_cast<std::int32_t>(random.below(3)));
      applications.push_back(&domain.add(exclusive(strengths[k])));
    }
  }

  static EndpointSpec exclusive(std::int32_t strength) {
    EndpointSpec spec = kept_all();
    spec.qos.datawriter.ownership.kind = qos::OwnershipKind::exclusive;
    spec.qos.datawriter.ownership_strength.value = strength;
    return spec;
  }

  void publish(ChangeKind kind) {
    const std::size_t k = random.below(contender_count);
    if (applications[k] == nullptr) return;
    Application& application = *applications[k];
    SampleHeader header;
    header.instance = 1 + random.below(instance_count);
    header.kind = kind;
    header.source_timestamp_ns = application.peer.clock.realtime().count();
    const std::vector<std::byte> data(100, std::byte(++value));
    REQUIRE(application.writer.endpoint->publish(data, header));
    if (kind == ChangeKind::alive)
      heard.write(k, header.instance, value, strengths);
    else
      heard.claims[header.instance].erase(k);
  }
  void begin_or_end() {
    KeptHere& chosen = has_pair && random.below(2) == 0 ? domain.other : domain.one;
    chosen.service ? chosen.end() : chosen.start();
  }
  void settle() {
    if (!domain.one.service) domain.one.start();
    if (has_pair && !domain.other.service) domain.other.start();
    domain.go_on(10);  // writers see that it is another one
    for (Application* each : applications)
      if (each != nullptr) REQUIRE(domain.await_acknowledged(*each));
  }
  /// Only while the one service sees it: else nobody knows when it was.
  void change_strength() {
    const std::size_t k = random.below(contender_count);
    if (applications[k] == nullptr) return;
    settle();
    strengths[k] = static_cast<std::int32_t>(random.below(3));
    REQUIRE(applications[k]->writer.endpoint->set_qos(exclusive(strengths[k]).qos));
    domain.go_on(10);
  }
  void end_one() {
    const std::size_t k = random.below(contender_count);
    if (applications[k] == nullptr) return;
    settle();
    std::erase_if(domain.applications, [&](const auto& each) { return each.get() == applications[k]; });
    applications[k] = nullptr;
    domain.go_on(10);
    for (auto& [instance, claims] : heard.claims) claims.erase(k);
  }
  void step() {
    switch (random.below(12)) {
      case 0:
      case 1:
        return begin_or_end();
      case 2:
        return domain.go_on(static_cast<int>(random.below(12)));
      case 3:
        return has_pair ? publish(ChangeKind::alive) : change_strength();
      case 4:
        if (!has_pair && random.below(10) == 0) return end_one();
        return publish(ChangeKind::unregistered);
      default:
        return publish(ChangeKind::alive);
    }
  }
  std::map<std::uint64_t, std::string> kept() {
    EndpointSpec spec = reader_spec();
    spec.qos.datareader.ownership.kind = qos::OwnershipKind::exclusive;
    std::map<std::uint64_t, std::string> kept;
    std::istringstream words(domain.past(spec));
    for (std::string word; words >> word;) {
      std::string& text = kept[std::stoull(word)];
      text += (text.empty() ? "" : " ") + word;
    }
    return kept;
  }

  Random random;
  const bool has_pair;
  Domain domain;
  std::vector<std::int32_t> strengths;
  std::vector<Application*> applications;
  Heard heard;
  int value = 0;
};

std::string text(const std::map<std::uint64_t, std::string>& kept) {
  std::string text;
  for (const auto& [instance, samples] : kept) text += samples + "\n";
  return text;
}

}  // namespace

TEST_CASE("service: whenever services begin and end, of EXCLUSIVE instances is kept what readers heard",
          "[service]") {
  for_each_seed("OWNERSHIP", 20, [](std::uint64_t seed) {
    Contenders contenders(seed);
    Domain& domain = contenders.domain;
    for (int steps = 0; steps < 150; ++steps) contenders.step();
    INFO("seed " << seed);
    contenders.settle();
    INFO(fmt::format("{}\n---\n{}", fmt::join(domain.one.said, "\n"), fmt::join(domain.other.said, "\n")));
    CHECK(text(contenders.kept()) == text(contenders.heard.samples));
    if (contenders.has_pair) {
      domain.await_aligned();
      (domain.one.role() == ServiceRole::serves ? domain.one : domain.other).end();
    } else {
      domain.one.end();
      domain.one.start();
    }
    contenders.settle();
    REQUIRE(text(contenders.kept()) == text(contenders.heard.samples));
  });
}

}  // namespace llamada::service
