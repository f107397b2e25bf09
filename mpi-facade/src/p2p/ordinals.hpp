#pragma once

#include <cstdint>
#include <unordered_map>

namespace llamada::mpi {

/// Counts messages by context, quickly for the context used last.
class Ordinals {
 public:
  /// The ordinal of the next message in `context`, from 1.
  std::uint64_t next(std::uint32_t context) {
    ++total_;
    return ++counter(context);
  }
  /// So many messages are counted at once.
  void pass(std::uint32_t context, std::uint64_t count) {
    total_ += count;
    counter(context) += count;
  }
  std::uint64_t last(std::uint32_t context) { return counter(context); }
  /// The messages of all contexts.
  std::uint64_t total() const { return total_; }

 private:
  std::uint64_t& counter(std::uint32_t context) {
    if (!last_counter_ || last_context_ != context) {
      // Elements of an unordered_map never move.
      last_counter_ = &counters_[context];
      last_context_ = context;
    }
    return *last_counter_;
  }

  std::unordered_map<std::uint32_t, std::uint64_t> counters_;
  std::uint64_t total_ = 0;
  std::uint32_t last_context_ = 0;
  std::uint64_t* last_counter_ = nullptr;
};

}  // namespace llamada::mpi
