#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "due_timer.hpp"
#include "link_probe.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/base/result.hpp"

namespace llamada::llamanet {

/// The probe of a driver's links, on its clock, and later the pings. An agent without a thread: its owner
/// calls work() when one of descriptors() is readable.
class DriverProbe {
 public:
  /// Errors: those of the system.
  static Result<std::unique_ptr<DriverProbe>> begin(std::unique_ptr<LinkProbe> links);

  std::vector<int> descriptors() const;
  /// True once: when all is known. It goes on answering others.
  bool work();
  std::vector<PairProbe> results() const { return links_->results(); }
  /// What follows are pings.
  void end() { links_->leave_ethernet(); }
  /// Asks the other nodes, and says of which something has come since the last call.
  std::vector<std::uint32_t> ping();
  void stop_hearing(std::vector<std::uint32_t> nodes) { links_->stop_hearing(std::move(nodes)); }

 private:
  DriverProbe(std::unique_ptr<LinkProbe> links, DueTimer timer)
      : links_(std::move(links)), timer_(std::move(timer)) {}

  std::unique_ptr<LinkProbe> links_;
  DueTimer timer_;
  SystemClock clock_;
  bool has_told_ = false;
};

}  // namespace llamada::llamanet
