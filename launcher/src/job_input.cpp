#include "job_input.hpp"

#include <algorithm>

#include "llamada/launcher/job_control.hpp"

namespace llamada::launcher {

void JobInput::add(std::string_view bytes) {
  if (bytes.empty()) has_ended_ = true;
  bytes_ += bytes;
  if (keeps_ && bytes_.size() > kept_bytes_max) is_lost_ = true;
  if (taker_ == Taker::none) end_incarnation();
}

void JobInput::begin_incarnation() {
  taker_ = Taker::one;
  given_ = taken_ = start_;
  end_given_ = false;
}

void JobInput::end_incarnation() {
  taker_ = Taker::none;
  taken_ = end();
  drop_taken();
}

std::optional<std::string> JobInput::next() {
  if (taker_ != Taker::one) return std::nullopt;
  const std::uint64_t possible = std::min(end(), taken_ + in_flight_bytes_max) - given_;
  if (possible == 0) {
    if (!has_ended_ || end_given_ || given_ < end()) return std::nullopt;
    end_given_ = true;
    return std::string();
  }
  std::string part = bytes_.substr(given_ - start_, std::min(possible, control::part_size_bytes_max));
  given_ += part.size();
  return part;
}

void JobInput::taken(std::uint64_t size_bytes) {
  if (taker_ != Taker::one) return;
  taken_ = std::min(taken_ + size_bytes, given_);
  drop_taken();
}

std::uint64_t JobInput::acknowledge() {
  const std::uint64_t news = taken_ > acknowledged_ ? taken_ - acknowledged_ : 0;
  acknowledged_ += news;
  return news;
}

void JobInput::drop_taken() {
  if (keeps_ && !is_lost_) return;
  bytes_.erase(0, taken_ - start_);
  start_ = taken_;
}

}  // namespace llamada::launcher
