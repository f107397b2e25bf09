#include "top_jobs.hpp"

#include <fmt/format.h>

#include "job_choice.hpp"
#include "llamada/mpi/calls.hpp"
#include "slot_state.hpp"

namespace llamada::tools {
namespace {

using llamanet::Inspector;
using nlohmann::ordered_json;

std::uint64_t messages_of(const llamanet::ArenaView& arena) {
  return arena.counter(log::Counter::messages_sent);
}
std::uint64_t bytes_of(const llamanet::ArenaView& arena) { return arena.counter(log::Counter::bytes_sent); }

ordered_json describe_rank(const Inspector::Slot& slot, double messages_per_s, double bytes_per_s,
                           double in_mpi) {
  const auto view = slot.view();
  return {{"rank", slot.index},
          {"state", state_name(slot)},
          {"messages_per_s", messages_per_s},
          {"bytes_per_s", bytes_per_s},
          {"in_mpi", in_mpi},
          {"call", mpi::call_name(static_cast<mpi::CallId>(view.call_id()))},
          {"waits", view.sleeping()},
          {"replacements", slot.incarnation > 0 ? slot.incarnation - 1 : 0},
          {"memory_bytes", view.pool_used()},
          {"live_bytes", view.pool_live()}};
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6); }

void print_rank(const ordered_json& rank) {
  const auto call = rank["call"].get<std::string>();
  fmt::print("  {:<8} {:>12.1f} {:>10.3f} {:>7.0f} % {:>8} {:>10} {:>10}  {}\n",
             fmt::format("rank {}", rank["rank"].get<std::uint32_t>()), rank["messages_per_s"].get<double>(),
             rank["bytes_per_s"].get<double>() / 1e6, 100 * rank["in_mpi"].get<double>(),
             rank["replacements"].get<std::uint32_t>(), megabytes(rank["memory_bytes"].get<std::uint64_t>()),
             megabytes(rank["live_bytes"].get<std::uint64_t>()),
             rank["waits"].get<bool>() && !call.empty() ? "waits in " + call
             : call.empty()                             ? rank["state"].get<std::string>()
                                                        : "in " + call);
}

}  // namespace

Result<JobsInterval> JobsInterval::begin() {
  auto found = find_jobs();
  if (!found) return propagate(found);
  JobsInterval interval;
  for (const FoundJob& each : *found) {
    auto driver = Inspector::open(each.socket_name);
    if (!driver) continue;
    Job job{std::move(*driver), {}};
    for (const auto& slot : job.driver.slots())
      job.ranks.push_back({messages_of(slot.view()), bytes_of(slot.view()), 0});
    interval.jobs_.push_back(std::move(job));
  }
  return interval;
}

void JobsInterval::sample() {
  ++samples_;
  for (Job& job : jobs_)
    for (std::size_t i = 0; i < job.ranks.size(); ++i)
      job.ranks[i].found_in_mpi += job.driver.slots()[i].view().call_id() != 0;
}

ordered_json JobsInterval::describe(double elapsed_s) const {
  ordered_json jobs = ordered_json::array();
  const auto rate = [elapsed_s](std::uint64_t from, std::uint64_t to) {
    return to < from ? 0.0 : static_cast<double>(to - from) / elapsed_s;
  };
  for (const Job& job : jobs_) {
    ordered_json ranks = ordered_json::array();
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
      const auto& slot = job.driver.slots()[i];
      if (slot.other_node) continue;  // its own node's driver shows it
      const Rank& rank = job.ranks[i];
      const double in_mpi =
          samples_ == 0 ? 0.0 : static_cast<double>(rank.found_in_mpi) / static_cast<double>(samples_);
      ranks.push_back(describe_rank(slot, rate(rank.messages, messages_of(slot.view())),
                                    rate(rank.bytes, bytes_of(slot.view())), in_mpi));
    }
    jobs.push_back({{"job", job.driver.name()},
                    {"pid", job.driver.pid()},
                    {"protected", job.driver.is_protected()},
                    {"ranks", std::move(ranks)}});
  }
  return jobs;
}

void print_jobs(const ordered_json& jobs) {
  for (const auto& job : jobs) {
    fmt::print("{}  (llamanetd, pid {}){}\n", job["job"].get<std::string>(), job["pid"].get<std::uint32_t>(),
               job["protected"].get<bool>() ? "" : "  UNPROTECTED: ranks can no longer be replaced");
    fmt::print("  {:<8} {:>12} {:>10} {:>9} {:>8} {:>10} {:>10}\n", "", "messages/s", "MB/s", "in MPI",
               "replaced", "log MB", "live MB");
    for (const auto& rank : job["ranks"]) print_rank(rank);
  }
}

}  // namespace llamada::tools
