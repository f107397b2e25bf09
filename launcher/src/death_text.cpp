#include "death_text.hpp"

#include <string.h>

#include <algorithm>

#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/inject.hpp"

namespace llamada::launcher {
namespace {

std::string where_it_was(const DeathRecord& death) {
  const char* replaying = death.replaying ? ", repeating its predecessor" : "";
  switch (death.state) {
    case RankState::none:
      return "before MPI_Init";
    case RankState::attached:
      return fmt::format("MPI_Init, or before it{}", replaying);
    case RankState::finalized:
      return fmt::format("after MPI_Finalize, its MPI call {}{}", death.call_index, replaying);
    case RankState::in_program:
    case RankState::exiting:
      break;
  }
  if (death.mpi_call.empty())
    return fmt::format("its own code, after {} MPI calls{}", death.call_index, replaying);
  return fmt::format("{}, its MPI call {}{}", death.mpi_call, death.call_index, replaying);
}

std::string what_was_done(const DeathRecord& death, Verdict verdict, const DeathContext& context) {
  const qos::RankReplacement& policy = *context.policy;
  switch (verdict) {
    case Verdict::replace:
      return fmt::format(
          "replaced as incarnation {} (replacement {} of at most {} of this rank, profile '{}')",
          death.incarnation + 1, context.replacements_of_rank + 1, policy.max_replacements_per_rank,
          context.profile);
    case Verdict::abort_job:
      return fmt::format(
          "the job is ended, because rank_replacement is ABORT in the profile '{}'; with\n"
          "            mpirun --qos fault-tolerant the rank would have been replaced",
          context.profile);
    case Verdict::lost:
      return fmt::format("the others go on without it (rank_replacement {}, profile '{}')",
                         to_string(policy.kind), context.profile);
    case Verdict::deterministic_fault:
      return "the job is ended: the rank died of the same fault at the same MPI call before. That is a\n"
             "            deterministic application fault: a replacement would die of it again";
    case Verdict::unprotected:
      if (!context.unprotected_because.empty())
        return fmt::format(
            "the job is ended, because a replacement could not repeat what the rank has done:\n"
            "            {}",
            context.unprotected_because);
      return fmt::format(
          "the job is ended, because the messages that a replacement needs are no longer kept (profile\n"
          "            '{}', log_bytes_per_node {}, or too much standard input)",
          context.profile, qos::bytes_to_string(policy.log_bytes_per_node));
    case Verdict::rank_limit:
      return fmt::format(
          "the job is ended, because the rank has been replaced {} times, and\n"
          "            max_replacements_per_rank of the profile '{}' allows no more",
          context.replacements_of_rank, context.profile);
    case Verdict::job_limit:
      return fmt::format(
          "the job is ended, because max_replacements_per_job of the profile '{}' is {}, and all\n"
          "            are used up",
          context.profile, policy.max_replacements_per_job);
    default:
      return "the job is ended";
  }
}

std::string cause_of(int signal) {
  const char* words = strsignal(signal);
  return fmt::format("{} ({})", signal_name(signal), words ? words : "unknown");
}

std::string why_killed(const DeathRecord& death) {
  if (!death.silence.empty()) return fmt::format(" by mpirun: the rank {}", death.silence);
  if (!death.memory_used_up) return {};
  return fmt::format(
      ": the kernel ended it, because the memory of {} is used up;\n"
      "            give the job more memory, or fewer ranks",
      *death.memory_used_up);
}

std::string cause_of(const DeathRecord& death, const Judgement& judgement) {
  const std::string why = why_killed(death);
  if (death.cause_is_unknown && why.empty())
    return "it ended without MPI_Finalize; the launcher that started it (srun) says how";
  return cause_of(judgement.signal.value_or(0)) + why;
}

/// "rank 3", "rank 0 of spawned world 1".
std::string name_of(const DeathRecord& death) {
  return death.name.empty() ? fmt::format("rank {}", death.rank) : death.name;
}

/// "rank 3 of 4", "rank 0 of 2 of spawned world 1".
std::string name_among(const DeathRecord& death, std::uint32_t rank_count) {
  std::string name = name_of(death);
  const std::size_t behind_number = std::min(name.find(' ', name.find(' ') + 1), name.size());
  return name.insert(behind_number, fmt::format(" of {}", rank_count));
}

std::string one_line(const DeathRecord& death, const Judgement& judgement, const DeathContext& context) {
  if (judgement.verdict == Verdict::lost)
    return fmt::format(
        "mpirun: {} (pid {}) left MPI without MPI_Finalize, which counts as exit code {}; {}.\n",
        name_of(death), death.pid, judgement.exit_code, what_was_done(death, judgement.verdict, context));
  if (judgement.verdict == Verdict::failed)
    return fmt::format("mpirun: {} (pid {}) ended with exit code {}.\n", name_of(death), death.pid,
                       judgement.exit_code);
  if (death.state == RankState::none || death.state == RankState::attached)
    return fmt::format(
        "mpirun: {} (pid {}) ended with exit code {} without MPI_Init while others are in MPI; "
        "the job is ended.\n",
        name_of(death), death.pid, judgement.exit_code);
  return fmt::format(
      "mpirun: {} (pid {}) left MPI without MPI_Finalize; the job is ended with exit code {}.\n",
      name_of(death), death.pid, judgement.exit_code);
}

}  // namespace

std::string describe_death(const DeathRecord& death, const Judgement& judgement,
                           const DeathContext& context) {
  switch (judgement.verdict) {
    case Verdict::done:
    case Verdict::user_ended:
    case Verdict::swept_away:
      return {};
    case Verdict::failed:
    case Verdict::program_will:
      return one_line(death, judgement, context);
    case Verdict::lost:
      if (!judgement.signal) return one_line(death, judgement, context);
      break;
    default:
      break;
  }
  std::string found;
  for (const std::string& line : death.last_errors)
    found += fmt::format("  {:<9} {}\n", found.empty() ? "said" : "", line);
  if (!death.core_file.empty()) found += fmt::format("  core      {}\n", death.core_file);
  return fmt::format(
      "mpirun: {} died.\n"
      "  host      {}\n"
      "  process   {} (incarnation {})\n"
      "  cause     {}\n"
      "  in        {}\n"
      "{}"
      "  done      {}\n",
      name_among(death, context.rank_count), context.host, death.pid, death.incarnation,
      cause_of(death, judgement), where_it_was(death), found,
      what_was_done(death, judgement.verdict, context));
}

}  // namespace llamada::launcher
