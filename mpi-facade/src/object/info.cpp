#include "object/info.hpp"

#include <algorithm>

namespace llamada::mpi {

void Info::set(std::string_view key, std::string_view value) {
  for (auto& [known, old] : entries_) {
    if (known == key) {
      old = value;
      return;
    }
  }
  entries_.emplace_back(key, value);
}

std::optional<std::string_view> Info::get(std::string_view key) const {
  for (const auto& [known, value] : entries_) {
    if (known == key) return value;
  }
  return std::nullopt;
}

bool Info::remove(std::string_view key) {
  return std::erase_if(entries_, [&](const auto& entry) { return entry.first == key; }) > 0;
}

}  // namespace llamada::mpi
