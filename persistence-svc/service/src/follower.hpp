#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "link_record.hpp"
#include "llamada/topics/participant.hpp"
#include "merger.hpp"
#include "state_sender.hpp"
#include "topics.hpp"

namespace llamada::service {

/// This service joins the one that serves, and then keeps what that one takes: the other end of a Replica.
///
/// Threads: the Participant's.
class Follower final : private topics::ReaderEvents, private topics::WriterEvents {
 public:
  /// `reader`: the serving service's. Errors: as Participant::create_reader() and create_writer().
  static Result<std::unique_ptr<Follower>> open(topics::Participant& participant,
                                                const topics::EndpointInfo& reader, Topics& topics);
  ~Follower() override = default;

  /// Of the serving service.
  std::uint64_t participant() const { return reader_info_.id.participant; }
  std::uint32_t pid() const { return reader_info_.pid; }
  /// Does what is to be done, not from within poll(). Errors: any; it has to be opened again.
  Status work();
  /// The store has all that the serving one had, and gets what comes.
  bool is_aligned() const { return stage_ == Stage::follows; }
  /// The serving service has gone, or has ended the link.
  bool is_over() const { return is_over_; }
  /// Nothing that it has said is still to be heard.
  bool has_heard_all() const { return !hears_; }
  /// Ends what was begun in the store, and forgets who writes: call it when it is over. Errors: the store's.
  Status abandon();
  /// What people should know of the alignment, once: a part of a sentence, or empty.
  std::string take_news() { return std::exchange(news_, {}); }
  /// The writers of which the serving service has all, since it was asked last.
  std::vector<topics::Guid> take_ended() { return std::exchange(ended_, {}); }

 private:
  enum class Stage : std::uint8_t { joins, hears_seen, tells, hears_all, follows };

  Follower(topics::EndpointInfo reader, Topics& topics) : reader_info_(std::move(reader)), topics_(topics) {}

  // The reader.
  bool on_sample(const topics::EndpointId& writer, topics::Sample&& sample) override;
  void on_matched(const topics::EndpointInfo& other) override { (other.writer ? hears_ : is_heard_) = true; }
  void on_qos_changed(const topics::EndpointInfo&) override {}
  void on_unmatched(const topics::EndpointId& other, bool) override {
    is_over_ = true;
    (other == reader_info_.id ? is_heard_ : hears_) = false;
  }
  void on_liveliness_changed(const topics::EndpointId&, bool) override {}
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_samples_lost(const topics::EndpointId&, std::uint64_t) override {}
  void on_liveliness_lost() override {}

  Status hear_seen(const LinkRecord& record);
  Status hear_all(const LinkRecord& record);
  Status begin_topic(const LinkRecord& record);
  Status end_topic();
  Status end_alignment();
  bool follow(const LinkRecord& record);
  Status begin_telling();
  Status commit();

  topics::EndpointInfo reader_info_;
  Topics& topics_;
  std::unique_ptr<topics::ReaderEndpoint> reader_;
  std::unique_ptr<topics::WriterEndpoint> writer_;
  std::optional<topics::EndpointId> other_writer_;
  Stage stage_ = Stage::joins;
  struct Other {
    std::map<topics::Guid, Seen> seen;
    bool is_damaged = false;
  };
  std::map<TopicKey, Other> others_;
  TopicKey heard_;  // of the last topic
  std::optional<StateSender> sender_;
  std::unique_ptr<Merger> merger_;
  std::map<std::uint32_t, TopicKeeper*> by_index_;
  Status failed_;
  std::size_t got_ = 0, dropped_ = 0, given_ = 0;
  std::string news_;
  std::vector<topics::Guid> ended_;
  std::uint64_t taken_ = 0;
  bool is_heard_ = false;  // the other one reads what is told
  bool hears_ = false;
  bool is_over_ = false;
};

}  // namespace llamada::service
