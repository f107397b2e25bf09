#pragma once

#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dds/core/exception.hpp"
#include "dds/sub/state.hpp"
#include "dds/topic/representation.hpp"
#include "llamada/dcps/loaned_samples.hpp"

namespace dds::sub {

class GenerationCount {
 public:
  explicit GenerationCount(const llamada::dcps::SampleInfo& info)
      : disposed_(info.disposed_generation_count), no_writers_(info.no_writers_generation_count) {}
  std::int32_t disposed() const { return disposed_; }
  std::int32_t no_writers() const { return no_writers_; }

 private:
  std::int32_t disposed_, no_writers_;
};

class Rank {
 public:
  explicit Rank(const llamada::dcps::SampleInfo& info)
      : sample_(info.sample_rank),
        generation_(info.generation_rank),
        absolute_(info.absolute_generation_rank) {}
  std::int32_t sample() const { return sample_; }
  std::int32_t generation() const { return generation_; }
  std::int32_t absolute_generation() const { return absolute_; }

 private:
  std::int32_t sample_, generation_, absolute_;
};

/// The information of a reader about a sample (DDS 1.4, 2.2.2.5.5; ISO C++ PSM, 7.5.13).
class SampleInfo {
 public:
  explicit SampleInfo(const llamada::dcps::SampleInfo& native = {}) : native_(native) {}
  /// False: the sample has no data and only tells a change of the instance's state.
  bool valid() const { return native_.valid_data; }
  core::Time timestamp() const { return core::Time(native_.source_timestamp); }
  status::DataState state() const {
    return status::DataState({native_.sample_state, native_.view_state, native_.instance_state});
  }
  GenerationCount generation_count() const { return GenerationCount(native_); }
  Rank rank() const { return Rank(native_); }
  core::InstanceHandle instance_handle() const { return core::InstanceHandle(native_.instance_handle); }
  core::InstanceHandle publication_handle() const { return core::InstanceHandle(native_.publication_handle); }
  /// Not in the standard: when it arrived, and which one of its writer it is.
  core::Time reception_timestamp() const { return core::Time(native_.reception_timestamp); }
  std::uint64_t sequence_number() const { return native_.sequence_number; }
  const llamada::dcps::SampleInfo& native() const { return native_; }

 private:
  llamada::dcps::SampleInfo native_;
};

/// A sample on loan: a reference into LoanedSamples.
template <typename T>
class SampleRef {
 public:
  using DataType = T;

  SampleRef(const T* data, const llamada::dcps::SampleInfo& info, const std::string* error)
      : data_(data), info_(&info), error_(error) {}

  /// Throws InvalidDataError if there is none, or if the bytes that came are not of this type.
  const T& data() const {
    if (data_ != nullptr) return *data_;
    throw core::InvalidDataError(error_ != nullptr ? *error_
                                                   : "this sample has no data: info().valid() is false");
  }
  operator const T&() const { return data(); }  // NOLINT: implicit by intent
  SampleInfo info() const { return SampleInfo(*info_); }

 private:
  const T* data_;
  const llamada::dcps::SampleInfo* info_;
  const std::string* error_;
};

/// A copy of a sample, which the program owns.
template <typename T>
class Sample {
 public:
  using DataType = T;

  Sample() = default;
  Sample(const T& data, const SampleInfo& info) : data_(data), info_(info) {}
  Sample(T&& data, const SampleInfo& info) : data_(std::move(data)), info_(info) {}
  Sample(const SampleRef<T>& other) : info_(other.info()) {  // NOLINT: implicit by intent
    if (info_.valid()) data_ = other.data();
  }
  Sample& operator=(const SampleRef<T>& other) {
    if (other.info().valid())
      data_ = other.data();
    else
      data_ = std::move(*topic::detail::Representation<T>::make());
    info_ = other.info();
    return *this;
  }
  const T& data() const { return data_; }
  void data(const T& data) { data_ = data; }
  void data(T&& data) { data_ = std::move(data); }
  const SampleInfo& info() const { return info_; }
  void info(const SampleInfo& info) { info_ = info; }

 private:
  T data_{};
  SampleInfo info_;
};

/// Samples that a reader has lent (DDS 1.4, 2.2.2.5.3.20; ISO C++ PSM, 7.5.13): valid until this and all its
/// copies are gone, or return_loan(). Samples of plain types lie where the writer has put them.
template <typename T>
class LoanedSamples {
 public:
  using DataType = T;
  using value_type = SampleRef<T>;
  using const_iterator = const SampleRef<T>*;
  using iterator = const_iterator;

  LoanedSamples() = default;
  explicit LoanedSamples(llamada::dcps::LoanedSamples&& native) {
    if (native.empty()) return;
    content_ = std::make_shared_for_overwrite<Content>();
    content_->native = std::move(native);
    if (content_->native.size() == 1) {
      content_->one.emplace(sample_of(content_->native[0]));
      return;
    }
    content_->samples.reserve(content_->native.size());
    for (const auto& each : content_->native) content_->samples.push_back(sample_of(each));
  }

  std::size_t length() const { return content_ ? content_->native.size() : 0; }
  std::size_t size() const { return length(); }
  bool empty() const { return length() == 0; }
  const SampleRef<T>& operator[](std::size_t index) const {
    if (index >= length()) throw std::out_of_range("there are " + std::to_string(length()) + " samples");
    return begin()[index];
  }
  const_iterator begin() const {
    if (!content_) return nullptr;
    return content_->one ? &*content_->one : content_->samples.data();
  }
  const_iterator end() const { return begin() + length(); }
  void return_loan() { content_.reset(); }

 private:
  using Representation = topic::detail::Representation<T>;

  struct Content {
    llamada::dcps::LoanedSamples native;
    typename Representation::Copies copies;
    std::list<std::string> errors;
    std::optional<SampleRef<T>> one;  // if there is but one
    std::vector<SampleRef<T>> samples;
  };

  SampleRef<T> sample_of(const llamada::dcps::LoanedSamples::Sample& sample) {
    const std::string* error = nullptr;
    const T* data = sample.info.valid_data ? data_of(sample.data, error) : nullptr;
    return {data, sample.info, error};
  }

  const T* data_of(std::span<const std::byte> bytes, const std::string*& error) {
    if constexpr (Representation::is_plain) {
      if (bytes.size() == sizeof(T) && llamada::types::detail::is_aligned(bytes.data(), alignof(T)))
        return reinterpret_cast<const T*>(bytes.data());
    }
    T& copy = content_->copies.emplace_back();
    const llamada::Status status = Representation::deserialize(bytes, copy);
    if (status) return &copy;
    content_->copies.pop_back();
    error = &content_->errors.emplace_back(status.error().text());
    return nullptr;
  }

  std::shared_ptr<Content> content_;
};

namespace detail {

/// Puts copies of the first `max_count` samples, or of all, behind `out`; gives their number. An iterator
/// that needs a Sample<T> to insert, as std::back_insert_iterator does, gets a large one from the heap.
template <typename T, typename Iterator>
std::uint32_t put(const LoanedSamples<T>& samples, Iterator out, std::size_t max_count) {
  using Place = decltype(*out++);
  constexpr bool needs_sample = std::is_assignable_v<Place, Sample<T>> && !std::is_same_v<Place, Sample<T>&>;
  std::uint32_t count = 0;
  for (const auto& each : samples) {
    if (count == max_count) break;
    if constexpr (needs_sample && sizeof(T) > 4096)
      *out++ = std::move(*std::make_unique<Sample<T>>(each));
    else
      *out++ = each;
    ++count;
  }
  return count;
}

}  // namespace detail

/// Samples on loan in the PSM's other form (7.5.13): copies share the loan, as those of LoanedSamples do
/// here.
template <typename T>
class SharedSamples {
 public:
  using DataType = T;
  using value_type = SampleRef<T>;
  using const_iterator = typename LoanedSamples<T>::const_iterator;
  using iterator = const_iterator;

  SharedSamples() = default;
  SharedSamples(LoanedSamples<T> samples) : samples_(std::move(samples)) {}  // NOLINT: implicit by intent

  std::uint32_t length() const { return static_cast<std::uint32_t>(samples_.length()); }
  std::size_t size() const { return samples_.size(); }
  bool empty() const { return samples_.empty(); }
  const SampleRef<T>& operator[](std::size_t index) const { return samples_[index]; }
  const_iterator begin() const { return samples_.begin(); }
  const_iterator end() const { return samples_.end(); }

 private:
  LoanedSamples<T> samples_;
};

/// Hands the loan on: `samples` is empty then (7.5.13).
template <typename T>
LoanedSamples<T> move(LoanedSamples<T>& samples) {
  return std::move(samples);
}

}  // namespace dds::sub
