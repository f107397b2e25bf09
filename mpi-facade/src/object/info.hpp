#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "object/reference.hpp"

namespace llamada::mpi {

/// Keys and values in the order in which they were first set (MPI 3.1, chapter 9).
class Info : public Counted {
 public:
  void set(std::string_view key, std::string_view value);
  std::optional<std::string_view> get(std::string_view key) const;
  /// Whether the key was there.
  bool remove(std::string_view key);
  std::size_t size() const { return entries_.size(); }
  const std::string& key(std::size_t index) const { return entries_[index].first; }
  void copy_from(const Info& other) { entries_ = other.entries_; }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace llamada::mpi
