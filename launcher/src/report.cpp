#include "llamada/launcher/report.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/launcher/job_number.hpp"
#include "llamada/log/arena_layout.hpp"
#include "llamada/log/drop_counters.hpp"

namespace llamada::launcher {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string_view phase_name(RankState state) {
  switch (state) {
    case RankState::none:
      return "before_init";
    case RankState::attached:
      return "init";
    case RankState::in_program:
    case RankState::exiting:
      return "running";
    case RankState::finalized:
      return "finalized";
  }
  return "unknown";
}

Json to_json(const DeathRecord& death) {
  return {{"rank", death.rank},
          {"world", death.world},
          {"incarnation", death.incarnation},
          {"pid", death.pid},
          {"signal", or_null(death.signal)},
          {"exit_code", or_null(death.exit_code)},
          {"mpi_call", death.mpi_call},
          {"call_index", death.call_index},
          {"core_file", death.core_file.empty() ? Json(nullptr) : Json(death.core_file)},
          {"out_of_memory", death.memory_used_up.has_value()},
          {"liveliness_lost", death.silence.empty() ? Json(nullptr) : Json(death.silence)},
          {"lost_with_node", death.lost_with_node.empty() ? Json(nullptr) : Json(death.lost_with_node)},
          {"phase", phase_name(death.state)},
          {"replaying", death.replaying},
          {"replaced", death.replaced},
          {"detected_after_s", or_null(death.detected_after_s)},
          {"respawn_s", or_null(death.respawn_s)},
          {"replay_s", or_null(death.replay_s)},
          {"total_s", or_null(death.total_s)},
          {"sent_before", death.sent_before}};
}

struct NamedCounter {
  const char* name;
  log::Counter counter;
};
constexpr NamedCounter reported_counters[] = {
    {"bytes_logged", log::Counter::bytes_logged},
    {"bytes_repeated", log::Counter::bytes_repeated},
    {"bytes_recorded", log::Counter::bytes_recorded},
    {"determinants_recorded", log::Counter::determinants_recorded},
    {"determinants_replayed", log::Counter::determinants_replayed},
    {"sends_compared", log::Counter::sends_compared},
    {"bytes_compared", log::Counter::bytes_compared},
    {"messages_sent", log::Counter::messages_sent},
    {"bytes_sent", log::Counter::bytes_sent},
    {"messages_received", log::Counter::messages_received},
    {"bytes_received", log::Counter::bytes_received},
    {"standbys_made", log::Counter::standbys_made},
    {"standbys_skipped", log::Counter::standbys_skipped},
    {"standbys_woken", log::Counter::standbys_woken},
};

std::uint64_t counter_of(const RankView& rank, log::Counter counter) {
  return rank.counters[static_cast<std::size_t>(counter)];
}

Json counters_of(const RankView& rank) {
  Json json;
  for (const NamedCounter& entry : reported_counters) json[entry.name] = counter_of(rank, entry.counter);
  return json;
}

Json totals_of(const std::vector<RankView>& ranks) {
  Json json;
  for (const NamedCounter& entry : reported_counters) {
    std::uint64_t total = 0;
    for (const RankView& rank : ranks) total += counter_of(rank, entry.counter);
    json[entry.name] = total;
  }
  return json;
}

/// By log::drop_counter().
constexpr const char* reasons_to_drop[] = {"foreign",   "other_job", "not_for_us",
                                           "forged",    "damaged",   "other_incarnation",
                                           "malformed", "repeated",  "unread"};
static_assert(std::size(reasons_to_drop) == log::drop_reasons);
using Drops = std::vector<std::uint64_t>;

Drops drops_of(const RankView& rank) {
  return {rank.counters.begin() + log::drop_counter_first, rank.counters.end()};
}

Json to_json(const Drops& drops) {
  Json json;
  for (std::size_t reason = 0; reason < std::size(reasons_to_drop); ++reason)
    json[reasons_to_drop[reason]] = reason < drops.size() ? drops[reason] : 0;
  return json;
}

/// Frames that came from elsewhere and were dropped, by who dropped them and why.
Json drops_of(const Report& report) {
  Json json = {{"ranks", Json::array()}, {"drivers", Json::array()}};
  for (const RankView& rank : report.ranks) json["ranks"].push_back(to_json(drops_of(rank)));
  for (const auto& [node, drops] : report.driver_drops) json["drivers"].push_back(to_json(drops));
  return json;
}

FileDescriptor open_for_writing(const std::string& path) {
  return FileDescriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
}

/// Our standard output or error if that is the same file ("--report /dev/stdout > file"): a report goes
/// behind what is there. Else -1.
int same_standard_stream(const struct stat& file) {
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (fstat(standard, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino)
      return standard;
  }
  return -1;
}

/// 0 or the errno of what failed.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

int write_file(const std::string& path, std::string_view text) {
  FileDescriptor file = open_for_writing(path);
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) return errno;
  const bool is_regular = S_ISREG(status.st_mode);
  if (const int standard = same_standard_stream(status); is_regular && standard >= 0)
    return write_all(standard, text);
  if (is_regular && ftruncate(file.get(), 0) != 0) return errno;
  if (const int failed = write_all(file.get(), text)) return failed;
  // Some file systems tell only now that they are full.
  return close(file.release()) == 0 ? 0 : errno;
}

}  // namespace

std::string report_to_json(const Report& report) {
  Json json;
  json["job"] = job_number_text(report.job_number);
  json["ranks"] = report.rank_count;
  json["profile"] = report.profile;
  json["deaths"] = Json::array();
  for (const DeathRecord& death : report.deaths) json["deaths"].push_back(to_json(death));
  json["replacements"] = report.replacements;
  json["liveliness_lost"] = std::count_if(report.deaths.begin(), report.deaths.end(),
                                          [](const DeathRecord& death) { return !death.silence.empty(); });
  json["lost_nodes"] = Json::array();
  for (const LostNodeRecord& lost : report.lost_nodes)
    json["lost_nodes"].push_back(
        {{"node", lost.node}, {"name", lost.title}, {"why", lost.why}, {"total_s", or_null(lost.total_s)}});
  json["drained_nodes"] = Json::array();
  for (const DrainedNodeRecord& drained : report.drained_nodes)
    json["drained_nodes"].push_back({{"name", drained.name},
                                     {"asked_by", drained.asked_by},
                                     {"ranks", drained.ranks},
                                     {"total_s", or_null(drained.total_s)}});
  json["injections"] = Json::array();
  for (const InjectionRecord& injection : report.injections)
    json["injections"].push_back(
        {{"rule", injection.rule}, {"fired", injection.fired}, {"times", injection.times}});
  json["overdue"] = Json::array();
  for (const OverdueRecord& overdue : report.overdue)
    json["overdue"].push_back({{"rank", overdue.rank},
                               {"mpi_call", overdue.mpi_call},
                               {"call_index", overdue.call_index},
                               {"stay_s", overdue.stay_s},
                               {"waits_for", overdue.waits_for}});
  json["deadlocks"] = report.deadlocks;
  json["spawned_world_count"] = report.spawned_world_count;
  json["spawned_worlds"] = Json::array();
  for (const SpawnedWorldRecord& world : report.worlds)
    json["spawned_worlds"].push_back({{"world", world.number},
                                      {"first_rank", world.first},
                                      {"ranks", world.rank_count},
                                      {"spawned_by", world.spawned_by}});
  json["totals"] = totals_of(report.ranks);
  json["per_rank"] = Json::array();
  for (const RankView& rank : report.ranks) json["per_rank"].push_back(counters_of(rank));
  if (!report.driver_drops.empty()) json["frames_dropped"] = drops_of(report);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Status write_report(const std::string& path, const std::string& json, int exit_code, double wall_seconds) {
  Json whole = {{"exit_code", exit_code}, {"wall_seconds", wall_seconds}};
  const Json told = Json::parse(json, nullptr, false);
  if (told.is_object()) whole.update(told);
  const int written = write_file(path, whole.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  if (written != 0) return system_failure(fmt::format("cannot write the report {}", path), written);
  return {};
}

Status check_report_path(const std::string& path) {
  struct stat status {};
  const bool is_there = stat(path.c_str(), &status) == 0;
  // To open a pipe would wait for its reader.
  if (is_there && !S_ISREG(status.st_mode)) return {};
  const FileDescriptor file(open_for_writing(path));
  if (!file) return system_failure(fmt::format("cannot write the report {}", path));
  if (!is_there) unlink(path.c_str());
  return {};
}

}  // namespace llamada::launcher
