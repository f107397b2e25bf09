#pragma once

#include <functional>
#include <vector>

#include "kept_state.hpp"
#include "link_record.hpp"
#include "llamada/topics/participant.hpp"

namespace llamada::service {

/// Tells another service what a store has: topics, writers, and samples with or without their data. It ends
/// with LinkKind::end, if it is told to.
class StateSender {
 public:
  struct Topic {
    std::uint32_t index = 0;  ///< In the messages.
    KeptState state;
  };
  enum class Data : std::uint8_t { nothing, without_body, with_body };
  using Choose = std::function<Data(const KeptState&, const KeptSample&)>;

  /// The store must not change meanwhile.
  StateSender(const store::Store& store, std::vector<Topic> topics, Choose choose)
      : store_(store), topics_(std::move(topics)), choose_(std::move(choose)) {}

  /// Publishes what there is room for. True: all was published. Errors: the store's, the writer's.
  Result<bool> work(topics::WriterEndpoint& writer);
  std::size_t body_count() const { return body_count_; }

 private:
  Status send_topic(topics::WriterEndpoint& writer);
  Status send_item(topics::WriterEndpoint& writer, const Topic& topic, const KeptItem& item);

  const store::Store& store_;
  std::vector<Topic> topics_;
  Choose choose_;
  std::size_t topic_ = 0;
  std::vector<topics::Guid> guids_;  // of the topic's writers
  std::size_t item_ = 0;             // of the topic: it itself, its writers, its items
  std::size_t body_count_ = 0;
};

/// Errors: as WriterEndpoint::publish().
Status send(topics::WriterEndpoint& writer, std::span<const std::byte> message);

}  // namespace llamada::service
