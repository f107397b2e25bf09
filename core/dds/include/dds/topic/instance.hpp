#pragma once

#include "dds/core/types.hpp"

namespace dds::topic {

/// A sample and the handle of its instance, for DataWriter::write() and key_value() (ISO C++ PSM, 7.5.11).
template <typename T>
class TopicInstance {
 public:
  TopicInstance() = default;
  explicit TopicInstance(const core::InstanceHandle& handle) : handle_(handle) {}
  TopicInstance(const core::InstanceHandle& handle, const T& sample) : handle_(handle), sample_(sample) {}
  TopicInstance(const core::InstanceHandle& handle, T&& sample)
      : handle_(handle), sample_(std::move(sample)) {}

  operator core::InstanceHandle() const { return handle_; }  // NOLINT: implicit by intent
  const core::InstanceHandle& handle() const { return handle_; }
  void handle(const core::InstanceHandle& handle) { handle_ = handle; }
  const T& sample() const { return sample_; }
  T& sample() { return sample_; }
  void sample(const T& sample) { sample_ = sample; }
  void sample(T&& sample) { sample_ = std::move(sample); }

 private:
  core::InstanceHandle handle_;
  T sample_{};
};

}  // namespace dds::topic
