#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "feed.hpp"
#include "intake.hpp"
#include "llamada/topics/participant.hpp"
#include "merger.hpp"
#include "state_sender.hpp"
#include "topics.hpp"

namespace llamada::service {

/// Another service that joins this one, which serves, and then follows it. In this order:
///
/// 1. It says that it joins, and this one tells what it has seen of which writer.
/// 2. The other one tells what it has, with the data of what this one has not seen. This one adds that, and
///    forgets what the other one has forgotten.
/// 3. This one tells all that it has then, with the data that the other one lacks. The other one drops what
/// is
///    not told.
/// 4. From then on each sample that this one takes is told, and acknowledged once the other one has it, too.
///
/// No sample is taken from 1 to 3. Threads: the Participant's.
class Replica final : private topics::WriterEvents {
 public:
  /// `reader`: the other service's. Errors: as Participant::create_writer().
  static Result<std::unique_ptr<Replica>> open(topics::Participant& participant,
                                               const topics::EndpointInfo& reader, Topics& topics, Feed& feed,
                                               const Clock& clock);
  ~Replica() override = default;

  const topics::EndpointId& reader() const { return reader_.id; }
  std::uint32_t pid() const { return reader_.pid; }

  /// It has not joined yet.
  bool waits() const { return stage_ == Stage::waits; }
  /// The other one joins by this writer; no other one is being compared. `possible`: or why it cannot.
  void join(const topics::EndpointId& writer, const Status& possible);
  bool has_joined_by(const topics::EndpointId& writer) const { return other_writer_ == writer; }
  /// What the other one says after that, from within Participant::poll(). False: not now.
  bool take(std::span<const std::byte> message);
  /// Does what is to be done, not from within poll(). `writers`: all that are read. Errors: any; the other
  /// one has to join again.
  Status work(const std::vector<std::unique_ptr<Intake>>& writers);
  /// The topics are compared: nothing else may change them.
  bool compares() const { return stage_ > Stage::waits && stage_ < Stage::follows; }
  bool follows() const { return stage_ == Stage::follows; }
  /// It has all that was published.
  bool has_all() const { return messages_.empty() && writer_->all_acknowledged(); }
  void publish(const Feed::Messages& messages);
  /// The other one has gone, or its reader.
  bool is_gone() const { return is_gone_; }
  void has_gone() { is_gone_ = true; }
  /// Ends what was begun in the store: call it when it is over. Errors: the store's.
  Status abandon();
  /// Samples were added or dropped here: what other services have is no longer the same.
  bool takes_change() { return std::exchange(has_changed_, false); }
  /// What people should know of the alignment, once: a part of a sentence, or empty.
  std::string take_news() { return std::exchange(news_, {}); }

 private:
  enum class Stage : std::uint8_t { waits, joined, tells_seen, listens, heard, tells_all, follows };

  struct Compared {
    TopicKeeper* keeper = nullptr;
    std::unique_ptr<Merger> merger;
    KeptState other;  // of the other service; without the numbers of its items
  };

  Replica(topics::EndpointInfo reader, Topics& topics, Feed& feed, const Clock& clock)
      : reader_(std::move(reader)), topics_(topics), feed_(feed), clock_(clock) {}

  void on_matched(const topics::EndpointInfo&) override { is_matched_ = true; }
  void on_qos_changed(const topics::EndpointInfo&) override {}
  void on_unmatched(const topics::EndpointId&, bool) override { is_gone_ = true; }
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_liveliness_lost() override {}

  Status begin();
  Status take_record(const LinkRecord& record);
  Status take_topic(const LinkRecord& record);
  Status take_sample(Compared& compared, const LinkRecord& record);
  Status merge();
  Status merge(Compared& compared);
  void tell_present(const std::vector<std::unique_ptr<Intake>>& writers);
  Status flush();
  Status check_patience();
  void progress() { progressed_ns_ = clock_.monotonic().count(); }

  topics::EndpointInfo reader_;
  Topics& topics_;
  Feed& feed_;
  const Clock& clock_;
  std::unique_ptr<topics::WriterEndpoint> writer_;
  Stage stage_ = Stage::waits;
  std::optional<topics::EndpointId> other_writer_;
  std::optional<StateSender> sender_;
  std::map<TopicKey, Compared> compared_;
  std::map<std::uint32_t, Compared*> by_index_;  // as the other service counts topics
  std::deque<std::vector<std::byte>> messages_;  // to be published
  Status failed_;
  std::size_t got_ = 0, forgot_ = 0;
  std::string news_;
  std::int64_t progressed_ns_ = 0;
  bool has_changed_ = false;
  bool is_matched_ = false;
  bool is_gone_ = false;
};

}  // namespace llamada::service
