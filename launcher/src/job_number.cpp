#include "llamada/launcher/job_number.hpp"

#include <fmt/format.h>
#include <sys/random.h>

namespace llamada::launcher {

Result<std::uint64_t> draw_job_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) return system_failure("getrandom");
  return number;
}

std::string job_number_text(std::uint64_t job_number) { return fmt::format("{:016x}", job_number); }

std::string driver_name(std::uint64_t job_number, std::uint32_t node) {
  return fmt::format("job-{}-{}", job_number_text(job_number), node);
}

}  // namespace llamada::launcher
