#include "why.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "domain.hpp"
#include "json_text.hpp"
#include "llamada/topics/matching.hpp"
#include "rank_topic.hpp"

namespace llamada::tools {
namespace {

using nlohmann::ordered_json;

/// A writer and a reader of the topic.
struct Pair {
  const DomainView* view;
  const topics::EndpointInfo* writer;
  const topics::EndpointInfo* reader;
  std::vector<std::string> reasons;
  bool matched = false;  ///< It has come to pass.
};

struct Ends {
  std::vector<std::pair<const DomainView*, const topics::EndpointInfo*>> writers;
  std::vector<std::pair<const DomainView*, const topics::EndpointInfo*>> readers;
};

Ends ends_of(const std::vector<DriverView>& drivers, const std::string& topic) {
  Ends ends;
  for (const DriverView& driver : drivers) {
    for (const auto& endpoint : driver.view.endpoints) {
      if (endpoint.info.topic != topic) continue;
      (endpoint.info.writer ? ends.writers : ends.readers).emplace_back(&driver.view, &endpoint.info);
    }
  }
  return ends;
}

std::vector<Pair> pairs_of(const Ends& ends) {
  std::vector<Pair> pairs;
  for (const auto& [view, writer] : ends.writers) {
    for (const auto& [other_view, reader] : ends.readers) {
      if (view != other_view) continue;  // of another driver: they cannot meet
      // A persistence service has an endpoint for each of the others, which is meant for that one only.
      if (!topics::is_meant_for(*writer, reader->id) || !topics::is_meant_for(*reader, writer->id)) continue;
      pairs.push_back({view, writer, reader, reasons_against(*view, *writer, *reader),
                       view->match(writer->id, reader->id) != nullptr});
    }
  }
  return pairs;
}

/// "sensor (pid 17), writer 4.2".
std::string describe(const DomainView& view, const topics::EndpointInfo& end) {
  return fmt::format("{} {} of {}", end.writer ? "writer" : "reader", to_string(end.id),
                     name_of(view, end.id.participant));
}

ordered_json to_json(const DomainView& view, const topics::EndpointInfo& end) {
  return {{"id", to_string(end.id)},
          {"participant", name_of(view, end.id.participant)},
          {"pid", end.pid},
          {"type", end.type},
          {"qos", policies_of(end.qos)}};
}

void print_as_json(const std::string& topic, const Ends& ends, const std::vector<Pair>& pairs) {
  ordered_json out{{"topic", topic},
                   {"writers", ordered_json::array()},
                   {"readers", ordered_json::array()},
                   {"pairs", ordered_json::array()}};
  for (const auto& [view, writer] : ends.writers) out["writers"].push_back(to_json(*view, *writer));
  for (const auto& [view, reader] : ends.readers) out["readers"].push_back(to_json(*view, *reader));
  for (const Pair& pair : pairs) {
    out["pairs"].push_back({{"writer", to_string(pair.writer->id)},
                            {"reader", to_string(pair.reader->id)},
                            {"match", pair.reasons.empty()},
                            {"matched", pair.matched},
                            {"reasons", pair.reasons}});
  }
  fmt::print("{}\n", dump(out));
}

/// The missing end may be there, and be another user's.
void print_other_users(std::FILE* to, const char* indent) {
  const std::string note = other_users_note();
  if (!note.empty()) fmt::print(to, "{}{}\n", indent, note);
}

void print_as_text(const std::string& topic, const Ends& ends, const std::vector<Pair>& pairs) {
  fmt::print("topic {}: {} writer{}, {} reader{}\n", topic, ends.writers.size(),
             ends.writers.size() == 1 ? "" : "s", ends.readers.size(), ends.readers.size() == 1 ? "" : "s");
  if (ends.writers.empty()) fmt::print("  There is no writer that a reader could match.\n");
  if (ends.readers.empty()) fmt::print("  There is no reader that a writer could match.\n");
  if (pairs.empty()) print_other_users(stdout, "  ");
  for (const Pair& pair : pairs) {
    const char* verdict = !pair.reasons.empty() ? "do not match"
                          : pair.matched        ? "match"
                                                : "match, but have not met yet (is one process stopped?)";
    fmt::print("  {} and {} {}\n", describe(*pair.view, *pair.writer), describe(*pair.view, *pair.reader),
               verdict);
    for (const std::string& reason : pair.reasons) fmt::print("    {}\n", reason);
  }
}

}  // namespace

int explain(const std::string& topic, bool as_json) {
  auto drivers = view_drivers();
  if (!drivers) {
    fmt::print(stderr, "llamada: {}\n", drivers.error().text());
    return 2;
  }
  const Ends ends = ends_of(*drivers, topic);
  const auto pairs = pairs_of(ends);
  if (ends.writers.empty() && ends.readers.empty()) {
    if (const std::string text = topic == rank_topic && !as_json ? explain_rank_topic() : ""; !text.empty()) {
      fmt::print("{}", text);
      return 0;
    }
    fmt::print(stderr, "llamada: {}\n", no_such_topic(*drivers, topic));
    print_other_users(stderr, "llamada: ");
    if (as_json) print_as_json(topic, ends, pairs);
    return 1;
  }
  if (as_json) {
    print_as_json(topic, ends, pairs);
  } else {
    print_as_text(topic, ends, pairs);
  }
  bool all_match = !pairs.empty();
  for (const Pair& pair : pairs) all_match = all_match && pair.reasons.empty();
  return all_match ? 0 : 1;
}

}  // namespace llamada::tools
