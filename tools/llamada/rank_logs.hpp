#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "llamada/llamanet/mapped_arena.hpp"
#include "llamada/log/lossy_reader.hpp"
#include "rank_watch.hpp"

namespace llamada::tools {

/// Reads the logs that one rank writes, in its arena, of which it keeps the mapping.
class RankLogs {
 public:
  /// `from_start`: also what the logs have that are there at the first look.
  RankLogs(int rank, std::uint32_t arena_id, std::shared_ptr<const llamanet::MappedArena> memory,
           const RankWatchOptions& options, bool from_start);

  int rank() const { return rank_; }
  std::uint32_t arena_id() const { return arena_id_; }
  /// Tells of what has come since the last look; whether anything has.
  bool look(RankWatchEvents& events);

 private:
  /// A log, as far as it was read.
  struct Stream {
    log::LogKey key;
    std::uint32_t index;
    log::LossyReader reader;
    std::map<std::uint32_t, std::uint64_t> ordinals;  // the last one of each context
    std::vector<std::byte> patch;                     // for the next message
    std::uint64_t missed = 0;                         // told of already
    std::uint64_t restarts = 0;                       // of `reader`, as far as they were looked at
  };

  void find_streams();
  bool is_wanted(const log::LogKey& key) const;
  bool read(Stream& stream, RankWatchEvents* events);
  void take(Stream& stream, const log::CopiedRecord& record, RankWatchEvents* events);
  void take_message(Stream& stream, const log::CopiedRecord& record, RankWatchEvents* events);
  void take_collective(const Stream& stream, const log::CopiedRecord& record, RankWatchEvents& events) const;
  SeenPayload payload_of(const log::CopiedRecord& record, const std::vector<std::byte>& patch) const;

  const int rank_;
  const std::uint32_t arena_id_;
  const std::shared_ptr<const llamanet::MappedArena> memory_;
  const log::PeerArena arena_;
  const RankWatchOptions options_;
  bool skips_;  // what is there at the first look
  log::DirectoryScan scan_;
  std::vector<Stream> streams_;
};

}  // namespace llamada::tools
