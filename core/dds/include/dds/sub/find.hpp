#pragma once

#include "dds/sub/sub.hpp"
#include "dds/topic/builtin.hpp"

// Finding readers, and what writers they read of (ISO C++ PSM, 7.5.13).
namespace dds::sub {

namespace detail {

std::shared_ptr<SubscriberState> builtin_subscriber(const domain::DomainParticipant& participant);
/// Those of the topic that the program has references to; of a built-in topic always one.
std::vector<std::shared_ptr<ReaderState>> find_readers(const Subscriber& subscriber,
                                                       const std::string& topic_name);
/// Those with samples in these states, of any topic.
std::vector<std::shared_ptr<ReaderState>> find_readers(const Subscriber& subscriber,
                                                       const status::DataState& state);

template <typename Reader, typename Iterator>
std::uint32_t put(const std::vector<std::shared_ptr<ReaderState>>& found, Iterator out,
                  std::uint32_t max_count) {
  std::uint32_t count = 0;
  for (const auto& each : found) {
    if (count == max_count) break;
    Reader reader(each);
    topic::detail::check_type<Reader>(*reader.native().topicdescription()->type());
    *out++ = std::move(reader);
    ++count;
  }
  return count;
}

}  // namespace detail

/// Has the readers of the built-in topics (DDS 1.4, 2.2.5), which find() gives. It and they cannot be closed.
inline Subscriber builtin_subscriber(const domain::DomainParticipant& participant) {
  return Subscriber(detail::builtin_subscriber(participant));
}

/// The readers of this topic, each a DataReader<T> or an AnyDataReader, at most `max_count`; gives their
/// number. Throws InvalidDowncastError for one that is of another type.
template <typename Reader, typename Iterator>
std::uint32_t find(const Subscriber& subscriber, const std::string& topic_name, Iterator out,
                   std::uint32_t max_count = ~std::uint32_t{0}) {
  return detail::put<Reader>(detail::find_readers(subscriber, topic_name), out, max_count);
}
/// Takes a Topic, a ContentFilteredTopic or a TopicDescription instead of a name.
template <typename Reader, typename Described, typename Iterator>
requires std::is_base_of_v<topic::detail::DescriptionState, typename Described::State> std::uint32_t find(
    const Subscriber& subscriber, const Described& topic, Iterator out,
    std::uint32_t max_count = ~std::uint32_t{0}) {
  return find<Reader>(subscriber, topic.name(), out, max_count);
}
/// The readers with samples in these states. Within a CoherentAccess with GROUP and ordered_access they come
/// in the order in which to read, one sample from each.
template <typename Reader, typename Iterator>
std::uint32_t find(const Subscriber& subscriber, const status::DataState& state, Iterator out,
                   std::uint32_t max_count = ~std::uint32_t{0}) {
  return detail::put<Reader>(detail::find_readers(subscriber, state), out, max_count);
}

core::InstanceHandleSeq matched_publications(const AnyDataReader& reader);
/// At most `max_count` of them; returns their number.
template <typename Iterator>
std::uint32_t matched_publications(const AnyDataReader& reader, Iterator out, std::uint32_t max_count) {
  return core::detail::put(matched_publications(reader), out, max_count);
}
/// Throws an exception if the writer is not matched.
inline topic::PublicationBuiltinTopicData matched_publication_data(const AnyDataReader& reader,
                                                                   const core::InstanceHandle& writer) {
  return topic::PublicationBuiltinTopicData(
      core::detail::value_of(reader.native().matched_publication_data(writer.native())));
}

/// From now on the participant does as if this reader were not there.
inline void ignore(const domain::DomainParticipant& participant, const core::InstanceHandle& reader) {
  core::detail::value_of(participant.native().ignore_subscription(reader.native()));
}
/// Ignores several.
template <typename Iterator>
void ignore(const domain::DomainParticipant& participant, Iterator begin, Iterator end) {
  for (Iterator each = begin; each != end; ++each) sub::ignore(participant, *each);
}

}  // namespace dds::sub
