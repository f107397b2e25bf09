#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "llamada/topics/participant.hpp"

namespace llamada::topics::detail {

/// Where the samples of one writer lie in its arena: a log or a table of slots.
class WriterStore {
 public:
  virtual ~WriterStore() = default;

  /// Errors: as WriterEndpoint's. `header.sequence_number` is ignored: it is published() + 1.
  virtual Status loan(std::size_t size_bytes, Loan& into) = 0;
  virtual Status publish(Loan& loan, const SampleHeader& header) = 0;
  virtual Status publish(std::span<const std::byte> data, const SampleHeader& header) = 0;
  /// A sample that another writer wrote first. Errors: unsupported (slots), and as the others.
  virtual Status publish(std::span<const std::byte> data, const SampleHeader& header,
                         const Origin& origin) = 0;
  virtual std::uint64_t published() const = 0;

  /// Nothing is reused that a reader uses: of a log, a RELIABLE one; of slots, any.
  virtual void add_reader(const log::MatchEntry& match, bool reliable) = 0;
  virtual void remove_reader(const log::MatchEntry& match) = 0;
  /// All RELIABLE readers have the samples up to here: what is VOLATILE may go.
  virtual void acknowledged(std::uint64_t sequence_number) = 0;
  /// The samples up to here have outlived LIFESPAN, or a service has them: they may go once all RELIABLE
  /// readers have them, whatever else is to be kept.
  virtual void expired(std::uint64_t sequence_number) = 0;
  /// True if its memory has grown or shrunk since this was last asked.
  virtual bool has_resized() = 0;
  /// Where a reader begins that wants no history.
  virtual Result<log::LogPosition> position() = 0;
  /// Gives back all memory, once no reader is left.
  virtual void discard() = 0;
};

/// What the directory of endpoints is told of the store.
struct StorePlace {
  std::uint32_t log = 0;
  log::Offset slots = 0;
};

class LogStore final : public WriterStore {
 public:
  static Result<std::unique_ptr<WriterStore>> create(log::ArenaWriter& arena, bool keeps, StorePlace& place);

  Status loan(std::size_t size_bytes, Loan& into) override;
  Status publish(Loan& loan, const SampleHeader& header) override;
  Status publish(std::span<const std::byte> data, const SampleHeader& header) override;
  Status publish(std::span<const std::byte> data, const SampleHeader& header, const Origin& origin) override;
  std::uint64_t published() const override { return log_.published(); }
  void add_reader(const log::MatchEntry& match, bool reliable) override;
  void remove_reader(const log::MatchEntry& match) override;
  void acknowledged(std::uint64_t) override {}
  void expired(std::uint64_t sequence_number) override { log_.expire(sequence_number); }
  bool has_resized() override { return std::exchange(bytes_seen_, log_.live_bytes()) != log_.live_bytes(); }
  Result<log::LogPosition> position() override { return log_.position(); }
  void discard() override { log_.discard(); }

 private:
  Status publish_small(std::span<const std::byte> data, const SampleHeader& header, bool extended);
  Status reserve(std::size_t size_bytes, log::Reservation& into);
  bool is_released_by_all() const;
  void copy(std::byte* to, std::span<const std::byte> from);

  log::LogWriter log_;
  alignas(64) std::byte small_room_[log::inline_payload_max];
  bool small_is_lent_ = false;
  std::vector<const log::MatchEntry*> readers_;  // RELIABLE ones
  bool backwards_ = false;
  std::uint64_t bytes_seen_ = 0;  // by has_resized()
  std::size_t lossy_count_ = 0;   // others, who see by a chunk's generation whether it is reused
};

/// RELIABLE KEEP_ALL: a log; else a table of slots. A writer for one reader keeps nothing in its log that
/// this one has. Errors: out_of_resources.
Result<std::unique_ptr<WriterStore>> make_store(log::ArenaWriter& arena, const EndpointSpec& spec,
                                                StorePlace& place);

}  // namespace llamada::topics::detail
