#pragma once

#include <span>
#include <utility>
#include <vector>

#include "llamada/dcps/sample_info.hpp"

namespace llamada::dcps {

class DataReader;
struct CachedSample;

/// Samples that a reader has lent (DDS 1.4, 2.2.2.5.3.20): their data lie where the reader has them, of large
/// ones in the writer's own memory, until this is destroyed or cleared. Counted by RESOURCE_LIMITS until
/// then. Move-only; keeps its reader. Any thread, one at a time.
class LoanedSamples {
 public:
  struct Sample {
    CachedSample* sample = nullptr;  ///< the reader's own
    SampleInfo info;
    /// Empty if !info.valid_data.
    std::span<const std::byte> data = {};
  };

  LoanedSamples() = default;
  LoanedSamples(LoanedSamples&& other) noexcept
      : reader_(std::exchange(other.reader_, nullptr)), samples_(std::move(other.samples_)) {}
  LoanedSamples& operator=(LoanedSamples&& other) noexcept;
  ~LoanedSamples() {
    if (reader_ != nullptr) clear();
  }

  std::size_t size() const { return samples_.size(); }
  bool empty() const { return samples_.empty(); }
  const Sample& operator[](std::size_t index) const { return samples_[index]; }
  auto begin() const { return samples_.begin(); }
  auto end() const { return samples_.end(); }

  /// Gives them back (return_loan).
  void clear();

 private:
  friend class DataReader;
  DataReader* reader_ = nullptr;  // stays while it has samples on loan
  std::vector<Sample> samples_;
};

}  // namespace llamada::dcps
