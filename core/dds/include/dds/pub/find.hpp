#pragma once

#include "dds/pub/pub.hpp"
#include "dds/topic/builtin.hpp"

// Finding writers, and what readers they write for (ISO C++ PSM, 7.5.12).
namespace dds::pub {

namespace detail {
/// Those of the topic that the program has references to.
std::vector<std::shared_ptr<WriterState>> find_writers(const Publisher& publisher,
                                                       const std::string& topic_name);
}  // namespace detail

/// The writers of this topic, each a DataWriter<T> or an AnyDataWriter, at most `max_count`; gives their
/// number. Throws InvalidDowncastError for one that is of another type.
template <typename Writer, typename Iterator>
std::uint32_t find(const Publisher& publisher, const std::string& topic_name, Iterator out,
                   std::uint32_t max_count = ~std::uint32_t{0}) {
  std::uint32_t count = 0;
  for (const auto& each : detail::find_writers(publisher, topic_name)) {
    if (count == max_count) break;
    Writer writer(each);
    topic::detail::check_type<Writer>(*writer.native().topic()->type());
    *out++ = std::move(writer);
    ++count;
  }
  return count;
}
/// One of them; null: there is none.
template <typename Writer>
Writer find(const Publisher& publisher, const std::string& topic_name) {
  Writer found(core::null);
  find<Writer>(publisher, topic_name, &found, 1);
  return found;
}

core::InstanceHandleSeq matched_subscriptions(const AnyDataWriter& writer);
/// At most `max_count` of them; gives their number.
template <typename Iterator>
std::uint32_t matched_subscriptions(const AnyDataWriter& writer, Iterator out, std::uint32_t max_count) {
  return core::detail::put(matched_subscriptions(writer), out, max_count);
}
/// Throws an exception if the reader is not matched.
inline topic::SubscriptionBuiltinTopicData matched_subscription_data(const AnyDataWriter& writer,
                                                                     const core::InstanceHandle& reader) {
  return topic::SubscriptionBuiltinTopicData(
      core::detail::value_of(writer.native().matched_subscription_data(reader.native())));
}

/// From now on the participant does as if this writer were not there.
inline void ignore(const domain::DomainParticipant& participant, const core::InstanceHandle& writer) {
  core::detail::value_of(participant.native().ignore_publication(writer.native()));
}
/// Ignores several.
template <typename Iterator>
void ignore(const domain::DomainParticipant& participant, Iterator begin, Iterator end) {
  for (Iterator each = begin; each != end; ++each) pub::ignore(participant, *each);
}

}  // namespace dds::pub
