#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint_directory.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/topics/discovery.hpp"
#include "llamada/topics/origin.hpp"
#include "llamada/topics/transport.hpp"
#include "reader_past.hpp"

namespace llamada::topics::detail {

/// Where a matched writer is to be found.
struct StreamOrigin {
  std::uint32_t slot = 0;
  std::uint32_t arena_id = 0;
  log::PeerArena arena;
  std::uint32_t endpoint_index = 0;
  EndpointView entry;
};

/// What a stream needs of its participant.
struct StreamContext {
  const Clock& clock;
  Transport& transport;
  EndpointDirectory& directory;
  std::uint32_t match_index = 0;
};

/// The way of samples from one writer to one reader.
class Stream : public SampleSource {
 public:
  Stream(const StreamContext& context, StreamOrigin origin, EndpointInfo writer, ReaderEvents* events)
      : writer(std::move(writer)), context_(context), origin_(origin), events_(events) {}

  const StreamOrigin& origin() const { return origin_; }
  std::uint32_t match_index() const { return context_.match_index; }
  bool started() const { return started_; }
  /// Begins where the grant says, or, without one, at the beginning of what there is.
  void start(const EndpointDirectory::Grant* grant);
  /// Gives the reader what has come. True: there is no more.
  bool absorb();
  /// Of a reader that acknowledges later: the samples up to here are kept.
  void acknowledge_kept(std::uint64_t number);
  /// Whether it has given samples, or found no room for them, since it was last asked.
  bool takes_progress() { return std::exchange(has_progress_, false); }
  /// Nothing more is read; samples that are out stay valid.
  void finish();
  /// Whether nothing more can be read, since the writer's arena is not as it must be.
  virtual bool is_damaged() const { return false; }
  /// Whether the writer has neither been deleted nor gone with its arena.
  bool writer_is_there() const;
  /// Whether its entry says that it was not deleted, now or when its application ended.
  bool writer_was_alive() const;
  /// When the writer was asserted last (LIVELINESS), on the monotonic clock.
  std::int64_t asserted_ns() const;
  bool wants_history();
  /// By when absorb() is to be called again though nothing may have come; INT64_MAX: not by itself.
  virtual std::int64_t due_ns() const { return INT64_MAX; }
  /// Tells which instances the writer writes, as a service has said.
  void show_claims();
  /// How many samples the writer gave to services and no longer has. Only of one that has just started.
  std::uint64_t given_back();
  /// So many samples do not come.
  void report_lost(std::uint64_t count);
  /// Which samples that are out: all, or those that the reader may evacuate by itself.
  enum class Out : std::uint8_t { all, waiting };
  /// Copies them to private memory.
  void evacuate(Out which);

  EndpointInfo writer;
  bool gone = false;                // its application has died or left
  bool misfit = false;              // it does not match any more
  bool alive = true;                // as was reported last
  bool held = false;                // nothing is read, since the services' samples come first
  bool has_all_of_past = false;     // a service has said that nothing is missing
  bool drained = false;             // absorb() has found nothing more since it was held
  bool acknowledges_later = false;  // by acknowledge_kept()
  ReaderPast* past = nullptr;       // of a reader that may get samples from services, too

 protected:
  virtual void begin(const EndpointDirectory::Grant* grant) = 0;
  /// As absorb(); `taken_` says up to where.
  virtual bool deliver_all() = 0;
  /// Lets the writer have what is not needed any more.
  virtual void update_holds() = 0;

  /// `origin`: of a sample that another writer wrote first.
  bool deliver(Sample&& sample, const std::optional<Origin>& origin = std::nullopt);
  /// How many samples come before the first one that is there.
  virtual std::uint64_t skipped() { return 0; }
  void count_copied(std::size_t size_bytes) override;
  const log::EndpointEntry& writer_entry() const { return origin_.arena.endpoint(origin_.endpoint_index); }
  log::MatchEntry& match() { return context_.directory.match(context_.match_index); }
  ReaderEvents& events() { return *events_; }
  bool finished() const { return events_ == nullptr; }
  /// After the own words have changed for which the writer may be waiting.
  void notify_writer();

  StreamContext context_;
  StreamOrigin origin_;
  std::uint64_t taken_ = 0;  // sequence number of the last sample that is over for this reader

 private:
  void acknowledge();
  void hear_of_past(const Origin& origin, const SampleHeader& header);

  ReaderEvents* events_;
  bool started_ = false;
  bool has_progress_ = false;
  std::uint64_t delivered_ = 0;     // sequence number of the last sample that the reader has taken
  std::uint64_t kept_ = 0;          // as acknowledge_kept() was told
  std::uint64_t acknowledged_ = 0;  // as the writer was told
};

/// From a log, of which the writer reuses nothing that this stream needs: RELIABLE at both ends.
class LogStream final : public Stream {
 public:
  using Stream::Stream;
  bool is_damaged() const override;

 private:
  void begin(const EndpointDirectory::Grant* grant) override;
  bool deliver_all() override;
  std::uint64_t skipped() override;
  void update_holds() override;
  void let_go(std::uint64_t hold) override;
  std::int64_t due_ns() const override { return first_ != nullptr ? due_ns_ : INT64_MAX; }
  void evacuate_late();

  std::int64_t due_ns_ = INT64_MAX;  // when those up to here, if far behind, are copied out
  std::uint64_t late_through_ = 0;
  log::LogReader log_;
  bool malformed_ = false;
};

/// From a log whose writer does not wait: samples are copied, and the copy is dropped when it was overtaken.
class LossyLogStream final : public Stream {
 public:
  using Stream::Stream;

 private:
  void begin(const EndpointDirectory::Grant* grant) override;
  bool deliver_all() override;
  std::uint64_t skipped() override { return chunk_ || enter_first() ? chunk_->records_before : 0; }
  void update_holds() override {}
  void let_go(std::uint64_t) override {}

  enum class Step { delivered, nothing, refused, overtaken };
  Step step();
  Step copy_record(const log::Cell& cell, std::uint64_t sequence);
  bool follow_link(const log::Cell& cell);
  bool is_still(const log::Chunk& chunk) const;
  bool enter_first();
  void skip_to(std::uint64_t sequence);

  std::optional<log::Chunk> chunk_;
  std::uint32_t cell_ = 0;
  bool begins_anywhere_ = false;  // what was before the first chunk has expired, and is not lost
};

/// From a table of slots, whose writer waits for nobody.
class SlotStream final : public Stream {
 public:
  using Stream::Stream;
  bool is_damaged() const override;

 private:
  enum class Step { taken, gone, refused };
  struct Scanned {
    std::uint64_t number;
    std::uint32_t index;
    auto operator<=>(const Scanned&) const = default;
  };

  void begin(const EndpointDirectory::Grant* grant) override;
  bool deliver_all() override;
  void update_holds() override {}
  void let_go(std::uint64_t hold) override;

  void scan(std::uint64_t latest);
  bool deliver_scanned();
  bool follow_ring(std::uint64_t latest);
  void skip_to(std::uint64_t number);
  const log::Slot* slot_at(std::uint32_t index) const;
  Step take(std::uint32_t index, std::uint64_t number);
  Step take_large(const log::Slot& slot, std::uint32_t index, const SampleHeader& header, log::Offset payload,
                  std::uint64_t size_bytes);
  std::optional<std::uint64_t> take_hold(const log::Slot& slot, std::uint32_t index, std::uint64_t number);
  bool is_still(const log::Slot& slot, std::uint64_t number) const;

  const log::SlotTable* table_ = nullptr;
  bool scans_ = false;       // the next step is a look at all slots
  bool is_history_ = false;  // what a scan finds is what there was before
  bool damaged_ = false;
  std::vector<Scanned> scanned_;  // to be delivered, the next at the end
  std::uint64_t scan_end_ = 0;
  std::uint32_t holds_ = 0;  // which of the hold words are in use
};

}  // namespace llamada::topics::detail
