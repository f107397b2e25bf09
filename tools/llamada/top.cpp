#include "top.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <thread>

#include "domain.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "top_jobs.hpp"

namespace llamada::tools {
namespace {

using nlohmann::ordered_json;
using Seconds = std::chrono::duration<double>;
using Moment = std::chrono::steady_clock::time_point;

/// The drivers at one moment.
struct Look {
  Moment at;
  std::vector<DriverView> drivers;
};

Result<Look> look() {
  auto drivers = view_drivers();
  if (!drivers) return propagate(drivers);
  return Look{std::chrono::steady_clock::now(), std::move(*drivers)};
}

/// What a writer had published at a moment, by driver and endpoint.
struct Count {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
};
using Published = std::map<std::pair<std::string, topics::EndpointId>, Count>;

Published published_in(const Look& look) {
  Published published;
  for (const DriverView& driver : look.drivers)
    for (const auto& endpoint : driver.view.endpoints)
      published[{driver.name, endpoint.info.id}] = {endpoint.published, endpoint.published_bytes.value_or(0)};
  return published;
}

ordered_json readers_of(const DomainView& view, const topics::ObservedEndpoint& writer) {
  ordered_json readers = ordered_json::array();
  for (const auto& match : view.matches) {
    if (match.writer != writer.info.id) continue;
    const std::uint64_t lag = writer.published - std::min(writer.published, match.acknowledged);
    readers.push_back({{"id", to_string(match.reader)},
                       {"participant", name_of(view, match.reader.participant)},
                       {"reliable", match.reliable},
                       {"lag", lag}});
  }
  return readers;
}

/// How often a rank is looked at to see whether it is in MPI.
constexpr Seconds between_samples{0.01};

/// Waits for the end of the interval; true when the user wants the end of the command.
bool spend(const Interrupt& interrupt, double interval_s, JobsInterval& jobs) {
  const auto end = std::chrono::steady_clock::now() + Seconds(interval_s);
  for (;;) {
    const Seconds left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return false;
    if (interrupt.wait(std::min(left, between_samples))) return true;
    jobs.sample();
  }
}

ordered_json describe(const Look& before, const Look& now) {
  const Published earlier = published_in(before);
  const double elapsed_s = Seconds(now.at - before.at).count();
  ordered_json writers = ordered_json::array();
  for (const DriverView& driver : now.drivers) {
    for (const auto& endpoint : driver.view.endpoints) {
      if (!endpoint.info.writer) continue;
      const auto then = earlier.find({driver.name, endpoint.info.id});
      const Count count = then == earlier.end() ? Count() : then->second;
      auto rate = [elapsed_s](std::uint64_t from, std::uint64_t to) {
        return to < from ? 0.0 : static_cast<double>(to - from) / elapsed_s;
      };
      writers.push_back({{"topic", endpoint.info.topic},
                         {"id", to_string(endpoint.info.id)},
                         {"participant", name_of(driver.view, endpoint.info.id.participant)},
                         {"samples", endpoint.published},
                         {"samples_per_s", rate(count.samples, endpoint.published)},
                         {"bytes_per_s", endpoint.published_bytes
                                             ? ordered_json(rate(count.bytes, *endpoint.published_bytes))
                                             : ordered_json()},
                         {"readers", readers_of(driver.view, endpoint)}});
    }
  }
  return {{"interval_s", elapsed_s}, {"writers", writers}};
}

/// Of bytes a second; they are not known of every writer.
std::string megabytes(const ordered_json& bytes_per_s) {
  return bytes_per_s.is_null() ? "" : fmt::format("{:.3f}", bytes_per_s.get<double>() / 1e6);
}

void print_as_text(const ordered_json& table) {
  print_jobs(table["jobs"]);
  if (table["writers"].empty() && !table["jobs"].empty()) return;
  fmt::print("{:<28} {:<28} {:>12} {:>12} {:>12}\n", "topic", "writer", "samples", "samples/s", "MB/s");
  for (const auto& writer : table["writers"]) {
    fmt::print("{:<28} {:<28} {:>12} {:>12.1f} {:>12}\n", writer["topic"].get<std::string>(),
               writer["participant"].get<std::string>(), writer["samples"].get<std::uint64_t>(),
               writer["samples_per_s"].get<double>(), megabytes(writer["bytes_per_s"]));
    for (const auto& reader : writer["readers"]) {
      fmt::print("  -> {:<52} {}\n", reader["participant"].get<std::string>(),
                 reader["reliable"].get<bool>() ? fmt::format("lag {}", reader["lag"].get<std::uint64_t>())
                                                : std::string("best effort"));
    }
  }
  if (table["writers"].empty()) fmt::print("No writer of this user is running on this node.\n");
}

}  // namespace

int top(const TopOptions& options) {
  const Interrupt interrupt;
  auto before = look();
  if (!before) {
    fmt::print(stderr, "llamada: {}\n", before.error().text());
    return 1;
  }
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1 && !options.once && !options.as_json;
  for (;;) {
    auto jobs = JobsInterval::begin();
    if (!jobs) {
      fmt::print(stderr, "llamada: {}\n", jobs.error().text());
      return 1;
    }
    const auto begin = std::chrono::steady_clock::now();
    if (spend(interrupt, options.interval_s, *jobs)) return 0;
    const ordered_json described = jobs->describe(Seconds(std::chrono::steady_clock::now() - begin).count());
    auto now = look();
    if (!now) {
      fmt::print(stderr, "llamada: {}\n", now.error().text());
      return 1;
    }
    ordered_json table = describe(*before, *now);
    table["jobs"] = described;
    if (is_terminal) fmt::print("\x1b[H\x1b[2J");
    if (options.as_json) {
      fmt::print("{}\n", dump(table, options.once ? 2 : -1));
    } else {
      print_as_text(table);
    }
    std::fflush(stdout);
    if (options.once) return 0;
    before = std::move(now);
  }
}

}  // namespace llamada::tools
