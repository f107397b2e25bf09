#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "link_record.hpp"
#include "topic_keeper.hpp"

namespace llamada::service {

/// What the serving service takes, for the services that follow it: they do the same in the same order.
///
/// Threads: the Participant's.
class Feed {
 public:
  using Messages = std::vector<std::vector<std::byte>>;

  /// Nobody follows, so that nothing is remembered; or somebody does.
  void set_active(bool active);
  bool is_active() const { return is_active_; }
  /// No sample may be taken: the topics are compared with those of another store, or followers are behind.
  bool refuses() const { return is_frozen_ || bytes_ >= bytes_max; }
  void freeze(bool frozen) { is_frozen_ = frozen; }
  bool is_frozen() const { return is_frozen_; }
  bool is_empty() const { return messages_.empty(); }

  /// The number of the topic in messages. A new one is told to the followers.
  std::uint32_t index_of(const TopicKeeper& keeper);
  /// A record about this writer, to be filled.
  LinkRecord record_of(LinkKind kind, const TopicKeeper& keeper, const topics::Guid& writer);
  void took(const TopicKeeper& keeper, const topics::Guid& writer, const topics::SampleHeader& header,
            std::span<const std::byte> data, bool heard);
  void came(const TopicKeeper& keeper, const topics::Guid& writer, std::uint64_t participant,
            const qos::EndpointQos& qos);
  void lapsed(const TopicKeeper& keeper, const topics::Guid& writer);
  void gone(const TopicKeeper& keeper, const topics::Guid& writer, bool died);

  /// All since it was asked last.
  Messages take() {
    bytes_ = 0;
    return std::exchange(messages_, {});
  }

 private:
  static constexpr std::size_t bytes_max = std::size_t{16} << 20;

  void add(const LinkRecord& record);

  std::map<const TopicKeeper*, std::uint32_t> indices_;
  Messages messages_;
  std::size_t bytes_ = 0;
  bool is_active_ = false;
  bool is_frozen_ = false;
};

}  // namespace llamada::service
