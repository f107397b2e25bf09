#include "driver_probe.hpp"

#include <utility>

namespace llamada::llamanet {

Result<std::unique_ptr<DriverProbe>> DriverProbe::begin(std::unique_ptr<LinkProbe> links) {
  auto timer = DueTimer::open();
  if (!timer) return propagate(timer);
  std::unique_ptr<DriverProbe> probe(new DriverProbe(std::move(links), std::move(*timer)));
  const auto now = probe->clock_.monotonic();
  probe->timer_.set(now, now);
  return probe;
}

std::vector<int> DriverProbe::descriptors() const {
  std::vector<int> descriptors = links_->descriptors();
  descriptors.push_back(timer_.descriptor());
  return descriptors;
}

std::vector<std::uint32_t> DriverProbe::ping() {
  work();
  links_->ping();
  return links_->take_heard();
}

bool DriverProbe::work() {
  timer_.clear();
  links_->work(clock_.monotonic(), clock_.realtime());
  timer_.set(links_->due(), clock_.monotonic());
  return links_->is_over() && !std::exchange(has_told_, true);
}

}  // namespace llamada::llamanet
