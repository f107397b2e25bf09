#include "reader_past.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace llamada::topics::detail {

/// Of the time since the last look, what it could not look does not count.
void ReaderPast::look_again(std::int64_t now_ns) {
  const std::int64_t looked_ns = std::exchange(looked_ns_, now_ns);
  if (looked_ns == never_ns || now_ns - looked_ns <= looked_for_max_ns) return;
  const std::int64_t away_ns = now_ns - looked_ns - looked_for_max_ns;
  if (lost_ns_ != never_ns) lost_ns_ += away_ns;
  for (auto& [id, service] : services_) service.progressed_ns += away_ns;
}

void ReaderPast::look(const std::vector<std::uint64_t>& services, bool has_standby, std::int64_t now_ns) {
  look_again(now_ns);
  std::erase_if(services_, [&](const auto& known) {
    if (std::find(services.begin(), services.end(), known.first) != services.end()) return false;
    if (!known.second.is_served) lost_ns_ = now_ns;
    return true;
  });
  for (const std::uint64_t service : services) services_.try_emplace(service, Service{false, now_ns});
  // One that is there, perhaps for one that has died, gives what both have.
  if (!services_.empty()) lost_ns_ = never_ns;
  if (!std::exchange(has_looked_, true)) {
    if (services_.empty() && has_standby) lost_ns_ = now_ns;  // one of them is about to serve
    holds_ = awaits();
  }
  release_if_over(now_ns);
}

void ReaderPast::progressed(std::uint64_t service, std::int64_t now_ns) {
  services_[service].progressed_ns = now_ns;
}

void ReaderPast::promised(std::uint64_t service, std::int64_t time_ns) {
  const auto found = services_.find(service);
  if (found != services_.end()) found->second.progressed_ns = std::max(found->second.progressed_ns, time_ns);
}

void ReaderPast::ended(std::uint64_t service, std::int64_t now_ns) {
  if (const auto found = services_.find(service); found != services_.end()) found->second.is_served = true;
  is_decided_ = true;
  release_if_over(now_ns);
}

bool ReaderPast::awaits_more(std::int64_t now_ns) {
  if (!awaits()) {
    if (is_decided_) return false;
    lost_ns_ = now_ns;
  }
  holds_ = true;
  return true;
}

bool ReaderPast::awaits() const {
  return lost_ns_ != never_ns || std::any_of(services_.begin(), services_.end(),
                                             [](const auto& known) { return !known.second.is_served; });
}

void ReaderPast::release_if_over(std::int64_t now_ns) {
  if (!holds_ || awaits()) return;
  holds_ = false;
  released_ns_ = now_ns;
}

std::int64_t ReaderPast::keep_time(std::int64_t now_ns) {
  look_again(now_ns);
  std::int64_t due_ns = never_ns;
  bool gives_up = false;
  const auto is_over = [&](std::int64_t since_ns) {
    if (now_ns - since_ns >= patience_ns) return true;
    due_ns = std::min({due_ns, since_ns + patience_ns, now_ns + look_period_ns});
    return false;
  };
  if (lost_ns_ != never_ns && is_over(lost_ns_)) {
    lost_ns_ = never_ns;
    gives_up = true;
  }
  for (auto& [id, service] : services_) {
    if (service.is_served || !is_over(service.progressed_ns)) continue;
    service.is_served = true;
    gives_up = true;
  }
  if (gives_up) give_up(now_ns);
  return due_ns;
}

void ReaderPast::give_up(std::int64_t now_ns) {
  is_decided_ = true;
  fmt::print(stderr,
             "llamada: topic '{}': the persistence service has not answered within {} s. A reader of process "
             "{} goes on without it and may miss samples of writers that have ended. Look whether "
             "llamada-persistd still runs.\n",
             topic_, patience_ns / 1'000'000'000, ::getpid());
  release_if_over(now_ns);
}

}  // namespace llamada::topics::detail
