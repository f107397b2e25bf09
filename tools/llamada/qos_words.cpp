#include "qos_words.hpp"

#include <fmt/format.h>

#include "llamada/qos/rank_protection.hpp"

namespace llamada::tools {
namespace {

using namespace llamada::qos;

/// "all samples", "the newest sample of each instance", "the newest 5 samples of each instance".
std::string kept_by(const History& history) {
  if (history.kind == HistoryKind::keep_all) return "all samples";
  return history.depth == 1 ? "the newest sample of each instance"
                            : fmt::format("the newest {} samples of each instance", history.depth);
}

std::string bounds_of(const ResourceLimits& limits) {
  if (limits.max_samples != length_unlimited) return fmt::format("at most {} samples", limits.max_samples);
  if (limits.max_instances != length_unlimited && limits.max_samples_per_instance != length_unlimited) {
    return fmt::format("at most {} instances of {} samples", limits.max_instances,
                       limits.max_samples_per_instance);
  }
  return "without a limit on their number";
}

void say_late_joiners(const ResolvedQos& qos, Words& words) {
  const DurabilityKind kind = qos.datawriter_qos.durability.kind;
  if (kind == DurabilityKind::volatile_ || qos.datareader_qos.durability.kind == DurabilityKind::volatile_) {
    words.survives.emplace_back(
        "A reader that comes late, or again after a death, gets only samples that are written from then on "
        "(DURABILITY VOLATILE).");
    return;
  }
  words.survives.push_back(fmt::format(
      "A reader that comes late, or again after a death, gets {} that a living writer has written before "
      "(DURABILITY {}).",
      kept_by(qos.datawriter_qos.history), qos::to_string(kind)));
  if (kind >= DurabilityKind::transient && qos.datareader_qos.durability.kind >= DurabilityKind::transient)
    words.survives.push_back(fmt::format(
        "While llamada-persistd runs, it also gets {} of writers that have ended (DURABILITY_SERVICE).",
        kept_by({qos.datawriter_qos.durability_service.history_kind,
                 qos.datawriter_qos.durability_service.history_depth})));
}

void say_losses(const ResolvedQos& qos, Words& words) {
  const bool reliable = qos.datawriter_qos.reliability.kind == ReliabilityKind::reliable &&
                        qos.datareader_qos.reliability.kind == ReliabilityKind::reliable;
  if (!reliable) {
    words.survives.emplace_back("Samples may be lost when a reader is slow (RELIABILITY BEST_EFFORT).");
  } else if (qos.datawriter_qos.history.kind == HistoryKind::keep_all &&
             qos.datareader_qos.history.kind == HistoryKind::keep_all) {
    words.survives.emplace_back(
        "No sample of a living writer is lost, however slow a reader is (RELIABLE, KEEP_ALL).");
    words.costs.push_back(
        fmt::format("When there is no room, a write waits for the slowest reader, up to max_blocking_time "
                    "{}, and then fails.",
                    qos::to_string(qos.datawriter_qos.reliability.max_blocking_time)));
  } else {
    words.survives.push_back(fmt::format(
        "A slow reader finds only {}; newer samples replace older ones (KEEP_LAST).",
        kept_by(qos.datareader_qos.history.kind == HistoryKind::keep_last ? qos.datareader_qos.history
                                                                          : qos.datawriter_qos.history)));
  }
}

void say_memory(const ResolvedQos& qos, Words& words) {
  const DataWriterQos& writer = qos.datawriter_qos;
  if (writer.durability.kind == DurabilityKind::volatile_) {
    words.costs.emplace_back("A sample's memory is used again as soon as all readers have it.");
  } else {
    words.costs.push_back(fmt::format("Each writer keeps {} in memory, {}.", kept_by(writer.history),
                                      bounds_of(writer.resource_limits)));
  }
  if (writer.send_window.max != length_unlimited) {
    words.costs.push_back(
        fmt::format("A writer has at most {} samples under way that a reliable reader has not acknowledged; "
                    "then it waits.",
                    writer.send_window.max));
  }
  if (writer.latency_budget.duration > Duration::zero()) {
    words.costs.push_back(fmt::format("A sample may be held back for {} so that several travel together.",
                                      qos::to_string(writer.latency_budget.duration)));
  }
}

void say_failures(const ResolvedQos& qos, Words& words) {
  const DataWriterQos& writer = qos.datawriter_qos;
  if (writer.ownership.kind == OwnershipKind::exclusive) {
    words.survives.push_back(
        fmt::format("Readers of an instance hear only the strongest living writer (this one's strength is "
                    "{}); when it dies, the next takes over.",
                    writer.ownership_strength.value));
  }
  if (writer.liveliness.lease_duration != duration_infinite) {
    words.survives.push_back(fmt::format("A writer that hangs is given up after {} (LIVELINESS {}).",
                                         qos::to_string(writer.liveliness.lease_duration),
                                         qos::to_string(writer.liveliness.kind)));
  } else {
    words.survives.emplace_back(
        "A writer whose process dies is given up at once; a writer that hangs is never given up (LIVELINESS "
        "lease infinite).");
  }
  if (writer.deadline.period != duration_infinite) {
    words.survives.push_back(fmt::format("An instance without a new sample for {} is reported (DEADLINE).",
                                         qos::to_string(writer.deadline.period)));
  }
  if (writer.lifespan.duration != duration_infinite) {
    words.survives.push_back(fmt::format("A sample older than {} is dropped (LIFESPAN).",
                                         qos::to_string(writer.lifespan.duration)));
  }
}

void say_bounds_of_ranks(const DataWriterQos& writer, Words& words) {
  const auto say = [&words](std::int32_t max, std::string_view whom, std::string_view policy) {
    if (max == length_unlimited) return;
    words.costs.push_back(fmt::format(
        "A rank has at most {} messages under way {} that are not yet received; then it waits ({}).", max,
        whom, policy));
  };
  say(writer.send_window.max, "to one other", "SEND_WINDOW");
  say(writer.resource_limits.max_samples_per_instance, "to one other",
      "RESOURCE_LIMITS max_samples_per_instance");
  say(writer.resource_limits.max_samples, "to all others", "RESOURCE_LIMITS max_samples");
  if (writer.reliability.max_blocking_time != Reliability{}.max_blocking_time)
    words.costs.push_back(
        fmt::format("max_blocking_time {} bounds no MPI call: a rank waits for as long as it must.",
                    qos::to_string(writer.reliability.max_blocking_time)));
}

void say_cost_of_logs(const RankReplacement& replacement, Words& words) {
  const std::string most = bytes_to_string(replacement.log_bytes_per_node);
  const std::string at_start = bytes_to_string(replacement.log_bytes_at_start);
  const bool is_on_disk = !replacement.log_directory.empty();
  words.costs.push_back(is_on_disk
                            ? fmt::format("Disk: every message sent is kept in {}, up to {} on a node.",
                                          replacement.log_directory, most)
                            : fmt::format("Memory: every message sent is kept, up to {} on a node.", most));
  if (replacement.log_bytes_at_start == 0) return;
  words.costs.push_back(
      is_on_disk ? fmt::format("Disk at the start: {} of that is reserved before the ranks run.", at_start)
                 : fmt::format("Time and memory at the start: {} of that is allocated before the ranks run.",
                               at_start));
}

/// ABORT: nothing is kept, and nobody goes on.
void say_end_of_job(Words& words) {
  words.survives.emplace_back("A rank dies: the job ends, with a message and the rank's exit code.");
  words.survives.emplace_back("The node dies: the job is gone.");
  words.costs.emplace_back("Nothing: a message's memory is used again as soon as it has been received.");
}

/// BLANK and SHRINK: nothing is kept, and the program does the rest.
void say_survivors(RankReplacementKind kind, Words& words) {
  words.survives.emplace_back(
      "A rank dies: the others go on without it. Calls that need it return MPIX_ERR_PROC_FAILED, and the "
      "program goes on with ULFM's functions (docs/ulfm.md).");
  words.survives.emplace_back(
      "A program that does not handle this error ends with it (MPI_ERRORS_ARE_FATAL).");
  words.survives.emplace_back(kind == RankReplacementKind::shrink
                                  ? "MPI_Comm_dup leaves out members that have died (SHRINK)."
                                  : "MPI_Comm_dup of a communicator with a dead member fails (BLANK).");
  words.survives.emplace_back("The node, mpirun or llamanetd dies: the job is gone.");
  words.costs.emplace_back("No memory: a message's memory is used again as soon as it has been received.");
  words.costs.emplace_back("Time: large messages are copied twice.");
  words.costs.emplace_back("All ranks must run on one node.");
}

void say_loss_of_node(const qos::RankProtection& protection, Words& words) {
  if (!protection.outlives_nodes && !protection.outlives_job) {
    words.survives.emplace_back("The node, mpirun or llamanetd dies: the job is gone.");
    return;
  }
  words.survives.emplace_back(
      "One of several nodes is lost: all ranks start again without it, and repeat what was recorded.");
  words.survives.emplace_back(
      protection.outlives_job
          ? "The node of mpirun or the whole job is killed: mpirun --resume goes on with it (docs/resume.md)."
          : "The node of mpirun, or mpirun, dies: the job is gone.");
  words.costs.emplace_back(
      "Time: output and changes of files wait until the outcomes before them are kept outside the node.");
}

void say_standbys(const RankReplacement& replacement, Words& words) {
  const qos::Duration interval = replacement.standby_interval;
  if (interval == qos::standby_off) return;
  words.survives.push_back(fmt::format(
      "A replacement goes on from a parked copy of its rank, which the rank makes {} where it can "
      "(docs/standby.md).",
      interval == qos::standby_automatic ? "as often as pays" : "every " + qos::to_string(interval)));
  words.costs.emplace_back("Memory: the pages that a rank changes after a copy was made are there twice.");
}

/// REBUILD: messages are kept for replacements.
void say_replacement(const RankReplacement& replacement, const qos::RankProtection& protection,
                     Words& words) {
  words.survives.push_back(fmt::format(
      "A rank dies: it is replaced and the job goes on, at most {} times for one rank and {} times in all.",
      replacement.max_replacements_per_rank, replacement.max_replacements_per_job));
  say_standbys(replacement, words);
  say_loss_of_node(protection, words);
  say_cost_of_logs(replacement, words);
  words.costs.emplace_back(replacement.on_unprotected == OnUnprotected::stop
                               ? "When that is used up, the job ends (on_unprotected STOP)."
                               : "When that is used up, mpirun prints a warning and the job goes on; a rank "
                                 "that dies later ends the job.");
  words.costs.emplace_back(
      "Time after a death: the replacement repeats the dead rank's computation, and the others wait for it.");
}

}  // namespace

Words words_for_ranks(const ResolvedQos& qos) {
  Words words;
  switch (qos.rank_replacement.kind) {
    case RankReplacementKind::abort:
      say_end_of_job(words);
      break;
    case RankReplacementKind::blank:
    case RankReplacementKind::shrink:
      say_survivors(qos.rank_replacement.kind, words);
      break;
    case RankReplacementKind::rebuild:
      say_replacement(qos.rank_replacement, qos::rank_protection(qos.datawriter_qos, qos.datareader_qos),
                      words);
      break;
  }
  say_bounds_of_ranks(qos.datawriter_qos, words);
  return words;
}

Words words_for_topics(const ResolvedQos& qos) {
  Words words;
  say_losses(qos, words);
  say_late_joiners(qos, words);
  say_failures(qos, words);
  say_memory(qos, words);
  return words;
}

}  // namespace llamada::tools
