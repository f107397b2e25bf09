#include "line_merger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "output_pattern.hpp"

namespace llamada::launcher {

void LineMerger::take(std::uint32_t rank, std::string_view bytes, std::string& out) {
  std::string& partial = partial_[rank];
  const std::size_t newline = bytes.rfind('\n');
  if (newline != bytes.npos) {
    partial += bytes.substr(0, newline + 1);
    give(rank, partial, out);
    partial.clear();
    bytes.remove_prefix(newline + 1);
  }
  partial += bytes;
  if (partial.size() <= line_size_bytes_max) return;
  give(rank, partial, out);
  partial.clear();
}

void LineMerger::end(std::uint32_t rank, std::string& out) {
  const auto found = partial_.find(rank);
  if (found == partial_.end()) return;
  if (!found->second.empty()) give(rank, found->second, out);
  partial_.erase(found);
}

void LineMerger::name_world(std::uint32_t first, std::uint32_t count, std::uint32_t number,
                            const std::vector<std::string>& hosts) {
  for (std::uint32_t i = 0; i < count; ++i) labels_[first + i] = fmt::format("{}:{}", number, i);
  if (hosts.empty()) return;
  hosts_.resize(std::max<std::size_t>(hosts_.size(), first));
  hosts_.resize(std::max(hosts_.size(), first + hosts.size()));
  std::copy(hosts.begin(), hosts.end(), hosts_.begin() + first);
}

std::string LineMerger::label_of(std::uint32_t rank) const {
  const auto label = labels_.find(rank);
  return label == labels_.end() ? fmt::format("{}", rank) : label->second;
}

bool LineMerger::has_partial() const {
  return std::any_of(partial_.begin(), partial_.end(),
                     [](const auto& entry) { return !entry.second.empty(); });
}

void LineMerger::flush_partial(std::string& out) {
  for (auto& [rank, partial] : partial_) {
    if (partial.empty()) continue;
    give(rank, partial, out);
    partial.clear();
  }
}

void LineMerger::give(std::uint32_t rank, std::string_view bytes, std::string& out) {
  bool line_begins = open_rank_ != rank;
  open_rank_ = bytes.back() == '\n' ? std::nullopt : std::optional(rank);
  if (prefix_.empty()) {
    out += bytes;
    return;
  }
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    if (line_begins)
      out += fill_pattern(prefix_, label_of(rank), rank < hosts_.size() ? hosts_[rank] : std::string());
    out += bytes.substr(0, size);
    bytes.remove_prefix(size);
    line_begins = true;
  }
}

}  // namespace llamada::launcher
