#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "writer_store.hpp"

namespace llamada::topics::detail {

/// A KEEP_LAST or BEST_EFFORT writer's samples: slots that are written again as newer samples replace older
/// ones, except while a reader has one in place. Nobody can block it. Byte layout: docs/internals/arena.md,
/// "Slots".
///
/// A slot is live while its sample is in the writer's history, then retired (still readable) until it is
/// taken for another sample, the oldest first.
class SlotStore final : public WriterStore {
 public:
  static Result<std::unique_ptr<WriterStore>> create(log::ArenaWriter& arena, const qos::DataWriterQos& qos,
                                                     StorePlace& place);

  Status loan(std::size_t size_bytes, Loan& into) override;
  Status publish(Loan& loan, const SampleHeader& header) override;
  Status publish(std::span<const std::byte> data, const SampleHeader& header) override;
  Status publish(std::span<const std::byte> data, const SampleHeader& header, const Origin& origin) override;
  std::uint64_t published() const override { return published_; }
  void add_reader(const log::MatchEntry& match, bool reliable) override;
  void remove_reader(const log::MatchEntry& match) override;
  void acknowledged(std::uint64_t sequence_number) override;
  void expired(std::uint64_t sequence_number) override { retire_through(sequence_number); }
  bool has_resized() override { return false; }
  Result<log::LogPosition> position() override { return log::LogPosition{}; }
  void discard() override;

  /// A loan was dropped.
  void give_back(std::uint32_t index) { free_.push_back(index); }

 private:
  struct Own {  // what the writer knows of a slot
    std::optional<log::Chunk> payload;
    std::uint64_t sequence_number = 0;
    std::uint64_t instance = 0;
    std::uint32_t coherent_set = 0;
    bool ends_set = false;
    bool live = false;
  };
  struct LiveSet {  // a coherent set of which something is live
    std::size_t sample_count = 0;
    std::optional<std::uint32_t> end;
  };
  struct Numbered {
    std::uint64_t sequence_number;
    std::uint32_t index;
  };

  SlotStore(log::ArenaWriter& arena, const qos::DataWriterQos& qos);
  Status open(StorePlace& place);
  log::Slot& slot(std::uint32_t index) const;
  Result<std::uint32_t> take_slot(std::size_t size_bytes);
  std::optional<std::uint32_t> take_let_go();
  std::optional<std::uint32_t> take_retired();
  Result<std::uint32_t> take_new();
  Status grow();
  bool is_held(std::uint32_t index) const;
  Status make_room(std::uint32_t index, std::size_t size_bytes);
  std::span<std::byte> payload(std::uint32_t index, std::size_t size_bytes) const;
  Status check_limit(const SampleHeader& header) const;
  void commit(std::uint32_t index, std::size_t size_bytes, const SampleHeader& header);
  void remember(std::uint32_t index, const SampleHeader& header);
  bool is_live(const Numbered& numbered) const;
  void drop_stale(std::deque<Numbered>& row) const;
  void remember_end(std::uint32_t index, std::uint32_t set);
  void retire(std::uint32_t index);
  void retire_through(std::uint64_t sequence_number);
  void retire_data(std::uint32_t index);
  void retire_end(std::uint32_t set);
  void forget_instance(std::uint64_t instance);
  std::deque<std::uint32_t>& history_of(std::uint64_t instance);

  log::ArenaWriter& arena_;
  bool keeps_for_good_;
  bool keeps_all_;  // BEST_EFFORT: the newest of all instances together
  std::size_t depth_;
  std::int32_t samples_max_;
  log::Chunk table_chunk_;
  log::SlotTable* table_ = nullptr;
  std::vector<log::Chunk> blocks_;
  std::vector<Own> own_;  // by index
  std::uint32_t capacity_ = 0;
  std::uint64_t published_ = 0;
  std::size_t live_count_ = 0;  // without the ends of coherent sets
  std::unordered_map<std::uint64_t, std::deque<std::uint32_t>> histories_;  // live slots, oldest first
  std::unordered_map<std::uint32_t, LiveSet> sets_;
  std::uint32_t newest_ended_set_ = 0;  // 0: none whose end is live
  // By number. Of slots that are live no more entries may linger, but no more than of others.
  std::deque<Numbered> order_;         // live slots
  std::deque<Numbered> endings_;       // of unregistered instances: forgotten once acknowledged
  std::deque<std::uint32_t> retired_;  // oldest first
  std::vector<std::uint32_t> held_;    // sequence is 0, but a reader had it in place
  std::vector<std::uint32_t> free_;
  std::vector<const log::MatchEntry*> readers_;
};

}  // namespace llamada::topics::detail
