#include "llamada/dcps/loaned_samples.hpp"

#include <utility>

#include "llamada/dcps/data_reader.hpp"

namespace llamada::dcps {

LoanedSamples& LoanedSamples::operator=(LoanedSamples&& other) noexcept {
  if (this == &other) return *this;
  clear();
  reader_ = std::exchange(other.reader_, nullptr);
  samples_ = std::move(other.samples_);
  return *this;
}

void LoanedSamples::clear() {
  if (DataReader* reader = std::exchange(reader_, nullptr)) reader->give_back(std::move(samples_));
  samples_.clear();
}

}  // namespace llamada::dcps
