#include "workload.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "llamada/base/crash_point.hpp"
#include "llamada/llamanet/application.hpp"
#include "llamada/log/journal.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "llamada/replication/frame.hpp"
#include "points.hpp"

namespace llamada::crash {
namespace {

using llamanet::Application;
using llamanet::SlotState;

constexpr std::array<log::LogKey, 2> keys{{{1, 1}, {1, 2}}};  // the first recycles, the second keeps all
constexpr log::LogKey journal_key{2, 1};
constexpr std::uint64_t live_bytes_max = 64 << 10;
constexpr std::uint64_t journal_every = 2;
// Where one waits until the other sleeps, so that both wake each other whatever the machine's mood.
constexpr std::uint64_t writer_waits_every = 500;

class Process {
 public:
  Process(const Assignment& assignment, Board& board) : assignment_(assignment), board_(board) {}

  [[noreturn]] void run() {
    attach();
    assignment_.slot == writer_slot ? write_all() : read_all();
    report_points();
    ::_exit(0);
  }

 private:
  template <typename... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    auto text = fmt::format(format, std::forward<Arguments>(arguments)...);
    std::snprintf(board_.error, sizeof(board_.error), "slot %u, incarnation %u: %s", assignment_.slot,
                  application_ ? application_->incarnation() : 0, text.c_str());
    ::_exit(1);
  }

  template <typename Value>
  Value must(Result<Value> result) {
    if (!result) fail("{}", result.error().text());
    if constexpr (!std::is_void_v<Value>) return std::move(*result);
  }

  void attach() {
    llamanet::ApplicationOptions options;
    options.socket_name = assignment_.socket_name;
    options.slot = assignment_.slot;
    options.token = assignment_.token;
    options.arena.log_count_max = 8;
    options.arena.cursor_count_max = 8;
    options.arena.endpoint_count_max = 8;
    options.arena.extent_bytes = 64 << 10;
    application_ = must(Application::attach(options));
    application_->leave_silently();
    for (auto* link : {&application_->small_link(), &application_->bulk_link()}) try_link(*link);
  }

  /// Sends to itself by the book. What a predecessor sent may still be there.
  void try_link(replication::Link& link) {
    const auto& entry = application_->book()->entries.at(assignment_.slot);
    must(link.meet(assignment_.slot, &link == &application_->small_link() ? entry.small : entry.bulk));
    const std::uint32_t sent = application_->incarnation();
    // The kernel lets nothing through that does not begin as a frame of the job.
    const replication::FrameHead head{.job = static_cast<std::uint32_t>(application_->book()->job_number),
                                      .to = assignment_.slot};
    const replication::Datagram datagram{std::as_bytes(std::span(&head, 1)),
                                         std::as_bytes(std::span(&sent, 1))};
    if (link.send(assignment_.slot, std::span(&datagram, 1)) != 1) fail("a link takes nothing");
    for (std::uint32_t received = 0; received != sent;)
      for (const auto& bytes : link.receive())
        if (bytes.size() == sizeof head + sizeof received)
          std::memcpy(&received, bytes.data() + sizeof head, sizeof received);
  }

  log::PeerArena other() const {
    return application_->roster().peer(assignment_.slot == writer_slot ? reader_slot : writer_slot);
  }

  // Until the other sleeps, or has died since, or has ended: then nothing would be learnt.
  void wait_until_asleep(std::uint32_t slot) {
    auto deaths = application_->roster().page_slot(slot).deaths.load();
    while (application_->roster().page_slot(slot).deaths.load() == deaths &&
           application_->roster().slot_state(slot) != SlotState::done) {
      auto arena = application_->roster().peer(slot);
      // It says so before its last look, after which it may not sleep: once at least it has.
      if (arena.ready() && arena.header().sleeping.load() != 0 && arena.counter(log::Counter::sleeps) != 0)
        return;
      ::sched_yield();
    }
  }

  void sleep(const std::function<bool()>& look_again) { must(application_->bell().sleep(look_again)); }

  // The writer.

  void write_all() {
    if (application_->arena().reading().endpoint_count() == 0) {
      log::EndpointDescription endpoint;
      endpoint.topic = "Crash";
      must(application_->arena().add_endpoint(endpoint));
    }
    open_logs();
    open_journal();
    for (auto next = std::min(logs_[0].published(), logs_[1].published()); next < records_count; ++next) {
      if (next % writer_waits_every == 0) wait_until_asleep(reader_slot);
      for (std::size_t which = 0; which < keys.size(); ++which)
        if (logs_[which].published() == next) publish(which, next);
      if (next % journal_every == 0) note(next);
    }
    check_own_history();
  }

  void open_logs() {
    for (std::size_t which = 0; which < keys.size(); ++which) {
      log::LogOptions options;
      options.retention = which == 0 ? log::Retention::recycle : log::Retention::keep_all;
      options.live_bytes_max = live_bytes_max;
      logs_[which] = must(log::LogWriter::open(application_->arena(), keys[which], options));
    }
    auto distance = logs_[0].published() - logs_[1].published();
    if (distance > 1) fail("the logs have {} and {} records", logs_[0].published(), logs_[1].published());
  }

  void open_journal() {
    journal_ = must(log::Journal::open(application_->arena(), journal_key));
    for (std::uint64_t i = 0; i < journal_.adopted_size(); ++i) {
      auto entry = journal_.read_next();
      if (!entry || entry->value / journal_every != i) fail("entry {} of the journal is not whole", i);
    }
  }

  void note(std::uint64_t sequence) {
    if (journal_.size() > sequence / journal_every) return;  // the predecessor did
    must(journal_.append({7, 1, sequence}));
    journal_.set_last_count(2);
    journal_.set_last_value(sequence + 1);  // rounds down to the same
  }

  void find_reader() {
    if (cursor_ != nullptr) return;
    cursor_ = log::find_cursor(other(), keys[0], writer_slot, cursors_scanned_);
    if (cursor_ != nullptr) logs_[0].add_reader(cursor_);
  }

  void publish(std::size_t which, std::uint64_t sequence) {
    auto payload = payload_of(sequence);
    for (;;) {
      find_reader();
      auto consumed = cursor_ == nullptr ? 0 : cursor_->consumed.load(std::memory_order_acquire);
      bool published =
          (which == 0 || payload.size() <= log::inline_payload_max) &&
          logs_[which].try_publish(log::kind_data, static_cast<std::uint16_t>(which), sequence, payload);
      if (!published && which == 1 && payload.size() > log::inline_payload_max) {
        publish_announced(sequence, payload);
        published = true;
      }
      if (!published) {
        auto status =
            logs_[which].publish(log::kind_data, static_cast<std::uint16_t>(which), sequence, payload);
        if (!status && status.error().code() != Errc::would_block) fail("{}", status.error().text());
        published = status.has_value();
      }
      if (published) return application_->wake(reader_slot);
      sleep([&] {
        if (cursor_ == nullptr) find_reader();
        return cursor_ != nullptr && cursor_->consumed.load(std::memory_order_acquire) != consumed;
      });
    }
  }

  void publish_announced(std::uint64_t sequence, std::span<const std::byte> payload) {
    if (publish_again(sequence, payload)) return;
    auto room = must(logs_[1].reserve(payload.size(), log::LogWriter::Filling::by_fill));
    logs_[1].announce(room, log::kind_data, 1, sequence);
    logs_[1].fill(room, payload);
    if (payload.size() >= kept_.size()) kept_ = room.payload();
    logs_[1].commit(std::move(room), log::kind_data, 1, sequence);
  }

  /// If the last one that this incarnation has written is the same.
  bool publish_again(std::uint64_t sequence, std::span<const std::byte> payload) {
    if (kept_.size() != payload.size()) return false;
    log::Reservation room;
    if (auto reserved = logs_[1].reserve_again(kept_, room); !reserved) fail("{}", reserved.error().text());
    logs_[1].announce(room, log::kind_data, 1, sequence);
    if (!logs_[1].equals(room, payload)) return false;
    logs_[1].commit(std::move(room), log::kind_data, 1, sequence);
    return true;
  }

  void check_own_history() {
    for (std::size_t which = 0; which < keys.size(); ++which)
      if (logs_[which].published() != records_count)
        fail("log {} says that it has {} records", which, logs_[which].published());
    auto reader = log::LogReader::open(application_->arena().reading(), logs_[1].index());
    for (std::uint64_t sequence = 0; sequence < records_count; ++sequence, reader.advance())
      check_record(1, sequence, reader.peek());
    if (reader.peek()) fail("the history has more than was published");
  }

  // The reader.

  struct Stream {
    log::LogReader reader;
    bool open = false;
    std::optional<std::uint64_t> next;  // the sequence number to come; none before the first
    std::uint32_t scanned = 0;
  };

  void read_all() {
    for (;;) {
      bool moved = false, complete = true;
      for (std::size_t which = 0; which < keys.size(); ++which) {
        moved |= read_some(which);
        complete &= streams_[which].next == records_count;
      }
      if (complete) return;
      if (!moved) sleep([&] { return something_there(); });
    }
  }

  bool something_there() {
    for (std::size_t which = 0; which < keys.size(); ++which)
      if (open_stream(which) && streams_[which].reader.ready()) return true;
    return false;
  }

  bool open_stream(std::size_t which) {
    auto& stream = streams_[which];
    if (stream.open) return true;
    auto index = log::find_log(other(), keys[which], stream.scanned);
    if (!index) return false;
    auto* cursor = must(application_->arena().cursor(keys[which], writer_slot));
    // What lies before may be written again meanwhile.
    stream.reader = which == 0 && board_.held.chunk != 0
                        ? log::LogReader::open_at(other(), *index, board_.held, cursor)
                        : log::LogReader::open(other(), *index, cursor);
    return stream.open = true;
  }

  bool read_some(std::size_t which) {
    if (!open_stream(which)) return false;
    auto& stream = streams_[which];
    bool moved = false;
    while (auto record = stream.reader.peek()) {
      if (!stream.next) stream.next = first_sequence(which, record->label);
      check_record(which, *stream.next, record);
      auto passed = ++*stream.next;
      board_.passed[which].store(std::max(board_.passed[which].load(), passed));
      stream.reader.advance();
      moved = true;
      // So that now and then the writer is asleep when it is woken.
      if (which == 0 && passed % writer_waits_every == writer_waits_every / 2 &&
          application_->incarnation() == 1)
        wait_until_writer_is_held();
      if (which == 0) {
        board_.held = stream.reader.position();
        board_.held.cell = 0;
      }
      auto before = released_[which];
      stream.reader.release(stream.reader.position_chunk());
      released_[which] = stream.reader.position_chunk();
      if (released_[which] != before) application_->wake(writer_slot);
    }
    if (stream.reader.failed()) fail("{}", stream.reader.error().text());
    return moved;
  }

  // The writer runs into its bound, for nothing is released meanwhile.
  void wait_until_writer_is_held() {
    auto writer = other();
    auto deaths = application_->roster().page_slot(writer_slot).deaths.load();
    auto blocks = writer.counter(log::Counter::would_blocks);
    while (application_->roster().page_slot(writer_slot).deaths.load() == deaths &&
           application_->roster().slot_state(writer_slot) == SlotState::attached &&
           writer.counter(log::Counter::would_blocks) == blocks && writer_still_publishes(writer))
      ::sched_yield();
    if (writer.counter(log::Counter::would_blocks) != blocks) wait_until_asleep(writer_slot);
  }

  bool writer_still_publishes(const log::PeerArena& writer) const {
    std::uint32_t scanned = 0;
    auto index = log::find_log(writer, keys[0], scanned);
    // It may wait for this process to sleep as well.
    return index && writer.log(*index).published.load() % writer_waits_every != 0;
  }

  // A replacement begins where its predecessor's cursor allows: nothing may be missing between the two.
  std::uint64_t first_sequence(std::size_t which, std::uint64_t sequence) {
    auto passed = board_.passed[which].load();
    if (which == 1 && sequence != 0) fail("the kept log begins with record {}", sequence);
    if (sequence > passed)
      fail("log {} begins with record {}, but {} were read before", which, sequence, passed);
    return sequence;
  }

  // Both.

  static std::vector<std::byte> payload_of(std::uint64_t sequence) {
    constexpr std::array<std::size_t, 5> sizes{0, 8, 48, 200, 3000};
    std::vector<std::byte> payload(sizes[sequence % sizes.size()]);
    // Of the longest two in a row are the same.
    const std::uint64_t content = payload.size() == sizes.back() ? sequence / 10 : sequence;
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(content * 31 + i);
    return payload;
  }

  void check_record(std::size_t which, std::uint64_t sequence, const std::optional<log::Record>& record) {
    if (!record) fail("record {} of log {} is missing", sequence, which);
    auto payload = payload_of(sequence);
    if (record->label != sequence || record->flags != which || record->kind != log::kind_data)
      fail("log {}: record {} stands where {} must", which, record->label, sequence);
    if (!std::equal(payload.begin(), payload.end(), record->payload.begin(), record->payload.end()))
      fail("log {}: record {} is not what was published", which, sequence);
  }

  void report_points() {
    auto& place = board_.points[assignment_.slot];
    std::snprintf(place, sizeof(place), "%s", passes_so_far().c_str());
  }

  const Assignment& assignment_;
  Board& board_;
  std::unique_ptr<Application> application_;
  std::array<log::LogWriter, 2> logs_;
  std::span<const std::byte> kept_;  // a payload of the second one
  log::Journal journal_;
  const log::CursorEntry* cursor_ = nullptr;
  std::uint32_t cursors_scanned_ = 0;
  std::array<Stream, 2> streams_;
  std::array<std::uint64_t, 2> released_{};
};

}  // namespace

void run_application(const Assignment& assignment, Board& board) {
  if (!assignment.point.empty()) arm_crash_point(assignment.point, assignment.count);
  Process(assignment, board).run();
}

}  // namespace llamada::crash
