#pragma once

#include <memory>
#include <span>
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
  LoanedSamples(LoanedSamples&&) noexcept = default;
  LoanedSamples& operator=(LoanedSamples&& other) noexcept;
  ~LoanedSamples() { clear(); }

  std::size_t size() const { return samples_.size(); }
  bool empty() const { return samples_.empty(); }
  const Sample& operator[](std::size_t index) const { return samples_[index]; }
  auto begin() const { return samples_.begin(); }
  auto end() const { return samples_.end(); }

  /// Gives them back (return_loan).
  void clear();

 private:
  friend class DataReader;
  std::shared_ptr<DataReader> reader_;
  std::vector<Sample> samples_;
};

}  // namespace llamada::dcps
