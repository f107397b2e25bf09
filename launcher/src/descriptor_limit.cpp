#include "descriptor_limit.hpp"

#include <algorithm>
#include <filesystem>

namespace llamada::launcher {
namespace {

constexpr std::uint64_t mpirun_descriptors = 32;     // what it opens, and what libraries may
constexpr std::uint64_t llamanetd_descriptors = 27;  // without ranks
constexpr std::uint64_t llamanetd_descriptors_each = 7;
constexpr std::uint64_t link_descriptors_each = 2;
constexpr std::uint64_t spare_descriptors = 8;  // while a rank is started
constexpr std::uint64_t rank_descriptors = 32;  // without peers, with some for the program
constexpr std::uint64_t rank_descriptors_each = 2;

rlimit limits() {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

Status check(std::uint64_t wanted, const char* who) {
  const rlimit limit = limits();
  if (wanted <= limit.rlim_max) return {};
  return failure(
      Errc::out_of_resources,
      "{} needs {} file descriptors, and the hard limit is {} (ulimit -Hn): raise the limit, or start "
      "fewer ranks",
      who, wanted, limit.rlim_max);
}

}  // namespace

rlimit raise_descriptor_limit() {
  const rlimit limit = limits();
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &raised);
  return limit;
}

Status check_descriptors_of_mpirun() { return check(mpirun_descriptors, "mpirun"); }

Status check_descriptors_of_job(std::uint64_t rank_count, bool has_links) {
  const std::string who = fmt::format("llamanetd with {} ranks", rank_count);
  const std::uint64_t each = llamanetd_descriptors_each + (has_links ? link_descriptors_each : 0);
  if (auto status = check(llamanetd_descriptors + each * rank_count, who.c_str()); !status) return status;
  const std::string rank = fmt::format("a rank in a job of {}", rank_count);
  return check(rank_descriptors + rank_descriptors_each * rank_count, rank.c_str());
}

Status check_descriptors_for_more(std::uint64_t rank_count) {
  std::uint64_t open = 0;
  std::error_code ignored;
  for (std::filesystem::directory_iterator each("/proc/self/fd", ignored), end; each != end;
       each.increment(ignored))
    ++open;
  const std::string who = fmt::format("llamanetd with {} more ranks", rank_count);
  return check(open + spare_descriptors + llamanetd_descriptors_each * rank_count, who.c_str());
}

rlimit limit_for_rank(const rlimit& original, std::uint64_t rank_count) {
  const rlim_t wanted = rank_descriptors + rank_descriptors_each * rank_count;
  return {std::min(std::max(original.rlim_cur, wanted), original.rlim_max), original.rlim_max};
}

}  // namespace llamada::launcher
