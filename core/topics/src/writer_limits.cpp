#include "writer_limits.hpp"

namespace llamada::topics::detail {
namespace {

bool is_end(ChangeKind kind) {
  return kind == ChangeKind::unregistered || kind == ChangeKind::disposed_unregistered;
}

bool exceeds(std::uint64_t count, std::int32_t max) {
  return max != qos::length_unlimited && count >= static_cast<std::uint64_t>(max);
}

}  // namespace

WriterLimits::WriterLimits(const qos::DataWriterQos& qos)
    : keeps_for_good_(qos.durability.kind != qos::DurabilityKind::volatile_),
      keeps_all_(qos.history.kind == qos::HistoryKind::keep_all &&
                 qos.reliability.kind == qos::ReliabilityKind::reliable),
      limits_(qos.resource_limits),
      window_(qos.reliability.kind == qos::ReliabilityKind::reliable ? qos.send_window.max
                                                                     : qos::length_unlimited) {
  if (!keeps_all_) {  // what a table of slots holds is bounded by itself
    limits_.max_samples = qos::length_unlimited;
    limits_.max_samples_per_instance = qos::length_unlimited;
  }
  has_limits_ = window_ != qos::length_unlimited || limits_.max_samples != qos::length_unlimited ||
                limits_.max_instances != qos::length_unlimited ||
                limits_.max_samples_per_instance != qos::length_unlimited;
}

Status WriterLimits::check_limits(const SampleHeader* header, std::uint64_t under_way, std::uint64_t kept,
                                  bool expires) const {
  if (exceeds(under_way, window_))
    return failure(Errc::would_block, "{} samples are not acknowledged: SEND_WINDOW max", under_way);
  const Errc full = keeps_for_good_ && !expires ? Errc::out_of_resources : Errc::would_block;
  if (exceeds(kept, limits_.max_samples))
    return failure(full, "the writer keeps {} samples: RESOURCE_LIMITS max_samples", limits_.max_samples);
  // Of what is not known yet, and of the end of a coherent set, there is no instance.
  if (header == nullptr || header->kind == ChangeKind::coherent_end) return {};
  const auto found = instances_.find(header->instance);
  if (found == instances_.end()) {
    if (exceeds(instances_.size(), limits_.max_instances))
      return failure(Errc::out_of_resources, "the writer has {} instances: RESOURCE_LIMITS max_instances",
                     limits_.max_instances);
    return {};
  }
  if (exceeds(found->second.sample_count, limits_.max_samples_per_instance))
    return failure(full,
                   "the writer keeps {} samples of an instance: RESOURCE_LIMITS max_samples_per_instance",
                   limits_.max_samples_per_instance);
  return {};
}

void WriterLimits::add_limited(const SampleHeader& header, std::uint64_t sequence_number) {
  const bool counts_samples = limits_.max_samples_per_instance != qos::length_unlimited;
  if (!counts_samples && limits_.max_instances == qos::length_unlimited) return;
  if (header.kind == ChangeKind::coherent_end) return;
  Instance& instance = instances_[header.instance];
  instance.is_registered = !is_end(header.kind);
  if (counts_samples) {
    ++instance.sample_count;
    pending_.push_back({sequence_number, header.instance});
  } else if (!instance.is_registered) {
    instances_.erase(header.instance);
  }
}

void WriterLimits::released(std::uint64_t sequence_number) {
  while (!pending_.empty() && pending_.front().sequence_number <= sequence_number) {
    const auto found = instances_.find(pending_.front().instance);
    const bool counts_instances = limits_.max_instances != qos::length_unlimited;
    const bool is_known = counts_instances && found->second.is_registered;
    if (--found->second.sample_count == 0 && !is_known) instances_.erase(found);
    pending_.pop_front();
  }
}

}  // namespace llamada::topics::detail
