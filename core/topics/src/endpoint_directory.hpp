#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "llamada/log/arena_writer.hpp"
#include "llamada/log/log_reader.hpp"

namespace llamada::topics::detail {

/// What the entry of an endpoint says in place.
struct EndpointSketch {
  log::EndpointKind kind = log::EndpointKind::writer;
  std::uint32_t log = 0;
  log::Offset slots = 0;
  std::string_view topic;  // cut off where there is no more room
  std::string_view type;
  std::string_view qos;
  std::uint8_t reliability = 0;
  std::uint8_t durability = 0;
};

/// The endpoints, matches and grants of the own arena: entries come, change and go, and are used again.
/// Peers notice after announce(). Byte layout: docs/internals/arena.md, "Endpoints".
///
/// Threads: the arena's.
class EndpointDirectory {
 public:
  explicit EndpointDirectory(log::ArenaWriter& arena);

  /// Errors: out_of_resources. The index of the entry.
  Result<std::uint32_t> add(const EndpointSketch& sketch, std::span<const std::byte> description);
  log::EndpointEntry& entry(std::uint32_t index) { return arena_.endpoint(index); }
  /// Peers see the old description or the new one. Errors: out_of_resources.
  Status describe(std::uint32_t index, std::span<const std::byte> description);
  /// The endpoint is deleted: no newcomer, but who reads from it may end.
  void bury(std::uint32_t index);
  /// Nobody needs the entry any more.
  void remove(std::uint32_t index);

  struct MatchTarget {
    std::uint32_t writer_arena = 0;
    std::uint32_t writer_number = 0;
    std::uint32_t reader_number = 0;
    std::uint32_t flags = 0;
  };
  Result<std::uint32_t> add_match(const MatchTarget& target);
  log::MatchEntry& match(std::uint32_t index);
  void remove_match(std::uint32_t index);

  struct Grant {
    std::uint64_t match_number = 0;
    std::uint32_t reader_arena = 0;
    std::uint32_t match_index = 0;
    std::uint64_t sequence = 0;
    log::LogPosition position;
  };
  Result<std::uint32_t> add_grant(const Grant& grant);
  void remove_grant(std::uint32_t index);

  /// Release: pairs with the acquire load of ArenaHeader::changes by who looks at the entries.
  void announce() { arena_.header().changes.fetch_add(1, std::memory_order_release); }

  log::ArenaWriter& arena() { return arena_; }

 private:
  Result<std::uint64_t> store(std::span<const std::byte> description, std::uint64_t version);
  void free_description(std::uint64_t word);
  std::uint64_t next_number() { return ++last_number_; }

  log::ArenaWriter& arena_;
  std::uint64_t last_number_;
  std::vector<std::uint32_t> free_endpoints_;
  std::vector<std::uint32_t> free_matches_;
  std::vector<std::uint32_t> free_grants_;
};

// Entries of a peer's arena, which its owner may be changing: nothing while they are.

struct EndpointView {
  std::uint64_t number = 0;
  log::EndpointKind kind = log::EndpointKind::writer;
  std::uint32_t log = 0;
  log::Offset slots = 0;
  std::uint64_t description = 0;
  bool alive = false;
};
std::optional<EndpointView> view_endpoint(const log::PeerArena& arena, std::uint32_t index);
/// The description that the entry has now, and its word.
std::optional<std::vector<std::byte>> read_description(const log::PeerArena& arena, std::uint32_t index,
                                                       std::uint64_t& word);

struct MatchView {
  std::uint64_t number = 0;
  EndpointDirectory::MatchTarget target;
};
std::optional<MatchView> view_match(const log::PeerArena& arena, std::uint32_t index);
std::optional<EndpointDirectory::Grant> view_grant(const log::PeerArena& arena, std::uint32_t index);

}  // namespace llamada::topics::detail
