#include "llamada/dcps/loaned_samples.hpp"

#include <utility>

#include "llamada/dcps/data_reader.hpp"

namespace llamada::dcps {

LoanedSamples& LoanedSamples::operator=(LoanedSamples&& other) noexcept {
  if (this == &other) return *this;
  clear();
  reader_ = std::move(other.reader_);
  samples_ = std::move(other.samples_);
  loans_ = std::move(other.loans_);
  return *this;
}

void LoanedSamples::clear() {
  samples_.clear();
  if (const std::shared_ptr<DataReader> reader = std::move(reader_)) reader->give_back(loans_);
  loans_.clear();
}

}  // namespace llamada::dcps
