#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/profile.hpp"
#include "llamada/topics/data_writer.hpp"
#include "llamada/topics/log_reader.hpp"

namespace llamada::topics {

class DataReader;

namespace detail {

/// One writer that a reader is matched with: the way through its log, and what of it is still in use.
struct Stream {
  DataReader* reader = nullptr;
  std::uint32_t slot = 0;
  std::uint32_t id = 0;
  std::uint32_t log = 0;
  PeerArena arena;
  const EndpointEntry* writer = nullptr;
  CursorEntry* cursor = nullptr;
  std::uint32_t cursor_index = 0;
  LogReader log_reader;
  bool started = false;  // a VOLATILE reader waits to be told where it begins
  bool gone = false;     // the writer's arena is no longer in the roster
  bool reported = false;
  std::map<std::uint64_t, std::uint32_t> held;  // samples in use, by the ordinal of their chunk
};

}  // namespace detail

/// A sample on loan, in place in its writer's history, which keeps it there until this is destroyed.
/// Move-only; must not outlive its DataReader.
class Sample {
 public:
  Sample(Sample&& other) noexcept;
  Sample& operator=(Sample&& other) noexcept;
  ~Sample();

  std::span<const std::byte> data() const { return record_.payload; }
  std::uint64_t instance() const { return record_.label; }
  /// The application that wrote it.
  std::uint32_t writer_slot() const { return slot_; }

 private:
  friend class DataReader;
  Sample(detail::Stream* stream, const Record& record);
  detail::Stream* stream_;
  Record record_;
  std::uint32_t slot_;
};

/// Receives the samples of one topic (DDS 1.4, 2.2.2.5.3) from all matching writers: each writer's in its
/// order.
///
/// HISTORY KEEP_ALL leaves samples in the writers' logs until they are taken (back-pressure), KEEP_LAST keeps
/// the newest of each instance. RESOURCE_LIMITS max_samples bounds what is in the reader's cache and on loan:
/// the rest stays with the writers.
///
/// Threads: the participant's.
class DataReader {
 public:
  /// All Samples must be gone.
  ~DataReader();
  DataReader(const DataReader&) = delete;
  DataReader& operator=(const DataReader&) = delete;

  /// The oldest sample, which leaves the cache; nothing if there is none. Polls.
  std::optional<Sample> take();
  /// The oldest sample that was not read before; it stays in the cache for take(). Polls.
  std::optional<Sample> read();
  /// Waits for a sample that take() will give. Errors: timeout, closed.
  Status wait_for_data(std::chrono::nanoseconds at_most);

  const std::string& topic() const { return topic_; }
  const qos::DataReaderQos& qos() const { return qos_; }
  /// Writers from which samples come.
  std::size_t matched_count() const;
  const IncompatibleQosStatus& requested_incompatible_qos() const { return incompatible_; }
  /// Writers whose history could not be read on (its error says why); their samples end there.
  const std::vector<Error>& lost_writers() const { return lost_; }

 private:
  friend class DomainParticipant;
  friend class Sample;

  struct Cached {
    detail::Stream* stream;
    Record record;
  };

  DataReader(DomainParticipant& participant, std::string topic, std::string type,
             const qos::DataReaderQos& qos);
  Status open();
  Status consider(std::uint32_t slot, std::uint32_t id, const PeerArena& arena, const EndpointEntry& writer);
  void start(std::uint32_t slot, std::uint32_t cursor_index, const LogPosition& position);
  void mark_gone(std::uint32_t slot, std::uint32_t id);
  bool holds_old_arenas() const;

  void absorb();
  bool absorb_one(detail::Stream& stream);
  bool has_room() const;
  void keep_last(const Record& newest);
  void drop_finished();
  static void hold(detail::Stream& stream, const Record& record);
  static void let_go(detail::Stream& stream, const Record& record);
  void store_cursor(detail::Stream& stream);

  DomainParticipant& participant_;
  std::string topic_;
  std::string type_;
  qos::DataReaderQos qos_;
  std::uint32_t endpoint_ = 0;
  bool opened_ = false;
  std::list<detail::Stream> streams_;
  std::deque<Cached> cache_;
  std::size_t read_count_ = 0;  // of the cache's front, read already
  std::size_t loan_count_ = 0;
  IncompatibleQosStatus incompatible_;
  std::vector<Error> lost_;
};

}  // namespace llamada::topics
