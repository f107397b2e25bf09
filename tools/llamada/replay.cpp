#include "replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "domain.hpp"
#include "fail.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/llamanet/transport.hpp"
#include "player.hpp"
#include "survey.hpp"

namespace llamada::tools {
namespace {

std::vector<std::string> topics_of(const Survey& survey) {
  std::set<std::string> topics;
  for (const recording::Writer& writer : survey.writers) topics.insert(writer.topic);
  return {topics.begin(), topics.end()};
}

/// Each topic that is asked for is in the file, and there is something to replay.
Status check_topics(const ReplayOptions& options, const Survey& chosen) {
  const auto present = topics_of(chosen);
  for (const std::string& topic : options.topics) {
    if (std::find(present.begin(), present.end(), topic) != present.end()) continue;
    auto all = survey(options.file, {});
    if (!all) return propagate(all);
    const auto names = topics_of(*all);
    return failure(Errc::not_found, "{}: there is no topic '{}'; there {}", options.file, topic,
                   names.empty() ? "is none" : fmt::format("are: {}", fmt::join(names, ", ")));
  }
  if (present.empty()) return failure(Errc::not_found, "{}: no writer was recorded", options.file);
  return {};
}

Status replay_passes(const ReplayOptions& options, Player& player) {
  do {
    if (auto status = player.replay(); !status) return status;
  } while (options.loop && !player.is_interrupted());
  return {};
}

}  // namespace

int replay(const ReplayOptions& options) {
  auto seen = survey(options.file, options.topics);
  if (!seen) return fail(seen.error());
  const std::string missing = incompleteness(*seen, options.file);
  if (!missing.empty()) fmt::print(stderr, "llamada: {}\n", missing);
  if (auto status = check_topics(options, *seen); !status) return fail(status.error());

  auto drivers = view_drivers();
  if (!drivers) return fail(drivers.error());
  const std::uint32_t domain = options.domain.value_or(seen->start.domain);
  llamanet::ApplicationOptions application;
  application.socket_name = find_topics(*drivers, topics_of(*seen), domain).driver;
  application.name = "llamada replay";
  auto transport = llamanet::LlamanetTransport::open(application);
  if (!transport) return fail(transport.error());
  const SystemClock clock;
  Player player(options, *seen, **transport, clock, domain);
  if (auto status = replay_passes(options, player); !status) return fail(status.error());
  fmt::print(stderr, "llamada: {}: {} sample{} replayed\n", options.file, player.samples(),
             player.samples() == 1 ? "" : "s");
  return seen->damage ? 1 : 0;
}

}  // namespace llamada::tools
