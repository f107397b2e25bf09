#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "llamada/topics/participant.hpp"
#include "topic_keeper.hpp"

namespace llamada::service {

/// Gives one late reader all that is kept for it, by a writer that only this reader matches. Its last sample
/// says that nothing is missing; the writer is deleted when the reader has that.
///
/// Threads: the Participant's.
class Served final : private topics::WriterEvents {
 public:
  /// `keepers`: those of the reader's topic, perhaps none; they must outlive it. Errors: as
  /// Participant::create_writer().
  static Result<std::unique_ptr<Served>> open(topics::Participant& participant,
                                              const topics::EndpointInfo& reader,
                                              std::vector<const TopicKeeper*> keepers);
  ~Served() override = default;

  const topics::EndpointInfo& info() const { return reader_; }
  /// Publishes what there is room for. Not from within Participant::poll(). `is_complete`: what writers had
  /// left before they went has been kept. When this service has no memory left for it, the reader is told
  /// that it has to wait. Errors: the store's.
  Status work(bool is_complete);
  /// There was no memory for it when it worked last; why.
  const std::optional<Error>& lacks_room() const { return lacks_room_; }
  /// Its reader has all that there was room for, so that nothing of its own comes back.
  bool holds_nothing() const { return writer_->all_acknowledged(); }
  /// It is given up: the reader sees that something is missing.
  void give_up() { is_over_ = true; }
  /// The reader has all, or is gone.
  bool is_over() const { return is_over_; }
  std::uint64_t sample_count() const { return sample_count_; }

 private:
  Served(topics::EndpointInfo reader, std::vector<const TopicKeeper*> keepers)
      : reader_(std::move(reader)), keepers_(std::move(keepers)) {}

  void on_matched(const topics::EndpointInfo&) override { is_matched_ = true; }
  void on_qos_changed(const topics::EndpointInfo& reader) override { reader_ = reader; }
  void on_unmatched(const topics::EndpointId&, bool) override { is_over_ = true; }
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_liveliness_lost() override {}

  Status give(bool is_complete);
  void note_judged(const TopicKeeper& keeper);
  Result<bool> tell_judged();
  Result<bool> say(const topics::Origin& origin, std::uint64_t instance, bool claims);
  Result<bool> feed(const TopicKeeper& keeper);
  Status publish(const KeptSample& sample, std::span<const std::byte> data);
  bool is_wanted(const topics::Guid& writer, const qos::EndpointQos& offer);

  topics::EndpointInfo reader_;
  std::vector<const TopicKeeper*> keepers_;
  std::size_t keeper_ = 0;         // the one that is being read
  std::uint64_t next_number_ = 1;  // of its samples
  std::uint64_t sample_count_ = 0;
  std::map<topics::Guid, bool> wanted_;
  std::deque<TopicKeeper::Judged> judged_;  // to be told behind the samples
  std::unique_ptr<topics::WriterEndpoint> writer_;
  std::optional<Error> lacks_room_;
  bool has_said_all_ = false;
  bool is_matched_ = false;
  bool is_over_ = false;
};

}  // namespace llamada::service
