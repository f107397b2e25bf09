#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "endpoint_directory.hpp"
#include "keeper_watch.hpp"
#include "reader_endpoint.hpp"
#include "stream.hpp"
#include "writer_endpoint.hpp"

namespace llamada::topics::detail {

inline constexpr std::int64_t never_ns = INT64_MAX;

/// A writer or reader in a peer's arena, as it was last looked at.
struct RemoteEndpoint {
  EndpointInfo info;
  std::uint32_t index = 0;
  EndpointView view;
};

/// How far one peer's arena has been looked at.
struct PeerView {
  std::uint32_t id = 0;
  log::PeerArena arena;
  bool alive = true;
  std::uint64_t changes_seen = UINT64_MAX;
  bool has_participant = false;  // of this domain
  std::uint32_t participant_index = 0;
  std::uint64_t participant_word = 0;
  bool announced = false;  // to DiscoveryEvents
  ParticipantInfo participant;
  std::map<std::uint64_t, RemoteEndpoint> endpoints;  // by number
};

class ParticipantState {
 public:
  ParticipantState(Transport& transport, const Clock& clock, ParticipantOptions options,
                   DiscoveryEvents* discovery);
  ~ParticipantState();

  Status ensure_announced();
  Status poll();
  std::int64_t now_ns() const { return clock.monotonic().count(); }
  std::uint32_t own_arena_id() const { return transport.peer(transport.slot()).id; }
  log::EndpointEntry& own_entry() { return directory.entry(entry); }
  /// True if nobody has announced anything since the last look at everybody.
  bool has_seen_all() const {
    if (transport.roster_changes() != roster_seen_) return false;
    return std::all_of(watched_.begin(), watched_.end(), [](const Watched& peer) {
      // Pairs with the release in EndpointDirectory::announce().
      return peer.changes->load(std::memory_order_acquire) == peer.seen;
    });
  }
  /// Whether an application that keeps topics is there, the own one included.
  bool has_service() const;
  /// True if this endpoint was there at that look.
  bool knows(const EndpointId& endpoint) const {
    return std::any_of(peers_.begin(), peers_.end(), [&](const PeerView& view) {
      return view.id == endpoint.participant && view.alive && view.endpoints.contains(endpoint.endpoint);
    });
  }
  const PeerView* view_of(std::uint32_t slot, std::uint32_t arena_id) const;
  void assert_manually();
  /// Describes the participant as its options say. Errors: out_of_resources.
  Status describe();
  /// Fills in the entry of an endpoint. Errors: out_of_resources.
  Result<std::uint32_t> announce(const EndpointSpec& spec, const StorePlace& place);
  /// Announces an endpoint of `spec` again with the policies of `changed`, which becomes its spec.
  /// Errors: those of qos::check_changeable(), out_of_resources.
  Status announce_change(std::uint32_t entry, EndpointSpec changed, EndpointSpec& spec);
  /// The next poll() is due by then.
  void due_by(std::int64_t time_ns);
  /// Those whose samples have all been let go.
  void drop_retired_streams();
  /// Something has changed here that the next poll() is to look at, beside what arrives.
  void unsettle() { settled_ = false; }

  Transport& transport;
  const Clock& clock;
  ParticipantOptions options;
  DiscoveryEvents* discovery;
  EndpointDirectory directory;
  KeeperWatch keeper_watch;
  std::uint32_t entry = 0;
  bool has_entry = false;
  std::vector<WriterImplementation*> writers;
  std::vector<ReaderImplementation*> readers;
  std::vector<RetiredWriter> retired_writers;
  std::vector<std::unique_ptr<Stream>> retired_streams;  // finished, with samples out
  bool order_changed = true;                             // of the streams
  std::atomic<std::int64_t> next_due_ns{never_ns};

 private:
  ParticipantInfo own_info() const;
  std::uint64_t make_guid() const;
  void look_at_peers();
  struct Services {
    std::vector<std::uint64_t> serving;
    bool has_standby = false;
  };
  bool is_service(const PeerView& view) const;
  Services services() const;
  void leave(PeerView& view, std::uint32_t slot);
  void announce_gone(PeerView& view);
  void look_at(PeerView& view, std::uint32_t slot);
  bool look_at_participant(PeerView& view, std::uint32_t slot);
  void look_at_endpoint(PeerView& view, std::uint32_t slot, std::uint32_t index,
                        std::map<std::uint64_t, RemoteEndpoint>& seen);
  void look_at_endpoints(PeerView& view, std::uint32_t slot);
  void look_at_matches(PeerView& view, std::uint32_t slot);
  void look_at_grants(PeerView& view, std::uint32_t slot);
  void judge(PeerView& view, std::uint32_t slot, const RemoteEndpoint& remote);
  void judge_new();
  void drop_matches(std::uint32_t slot, const PeerView& view, bool all);
  void drain();
  void sort_streams();
  void bury_retired();
  void keep_time();
  bool needs_old_arenas() const;
  bool is_settled() const;
  bool can_settle() const;
  bool drain_settled();
  Status look_at_all();
  void note(Status status);

  // What a peer says of its changes, as it was when all of them had been looked at.
  struct Watched {
    const std::atomic<std::uint64_t>* changes;
    std::uint64_t seen;
  };

  std::uint64_t guid_ = 0;
  bool settled_ = false;  // all there was to do has been done: only changes and arrivals make more
  std::uint64_t roster_seen_ = 0;
  std::vector<Watched> watched_;
  std::vector<PeerView> peers_;  // by slot
  std::vector<Stream*> order_;   // all streams, by TRANSPORT_PRIORITY
  Status failed_;
};

}  // namespace llamada::topics::detail
