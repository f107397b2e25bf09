#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "covered_bytes.hpp"
#include "feed.hpp"
#include "item.hpp"
#include "kept_copy.hpp"
#include "llamada/replication/carrier.hpp"
#include "llamada/replication/held_datagrams.hpp"
#include "llamada/replication/session.hpp"
#include "served_log.hpp"

namespace llamada::replication {

/// For what has no event of its own.
inline constexpr Time retry_after = std::chrono::microseconds(50);

/// The datagrams with one peer on one link.
struct Lane {
  Lane(Link& on, const SessionOptions& options)
      : link(on), session(options), items(options.window_datagrams_max) {}
  Item& item(std::uint64_t number) { return items[number & (items.size() - 1)]; }

  Link& link;
  Session session;
  std::vector<Item> items;  // of the numbers under way
};

/// What a keeper has asked for of a payload, and was not sent yet.
struct ServedPull {
  LogNumber log = 0;
  std::uint64_t record = 0;
  ServedLog::Payload payload;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;
};

/// All that one process shares with another one.
struct Peer {
  static constexpr SessionOptions small_options{.window_datagrams_max = 256};
  static constexpr SessionOptions bulk_options{.delivery = SessionOptions::Delivery::as_they_come};

  Peer(EndpointNumber peer_number, Link& small_link, Link& bulk_link, DatagramPool& pool)
      : number(peer_number), small(small_link, small_options), bulk(bulk_link, bulk_options), held(pool) {}
  Lane& lane(bool is_bulk) { return is_bulk ? bulk : small; }
  ServedLog* find_served(LogNumber alias) { return alias < served.size() ? served[alias].get() : nullptr; }
  /// What takes records of this log from this peer.
  Feed* find_feed(LogNumber alias) {
    return alias < kept.size() && kept[alias]->takes() ? kept[alias].get() : nullptr;
  }

  void make_ready(LogNumber alias) {
    if (std::ranges::find(ready, alias) == ready.end()) ready.push_back(alias);
  }

  void make_begun(LogNumber alias) {
    if (std::ranges::find(begun, alias) == begun.end()) begun.push_back(alias);
  }

  /// Nothing is sent to it, and nothing is taken from it.
  bool is_gone() const { return state.is_lost || state.is_done; }

  EndpointNumber number;
  PeerState state;
  Time due = never;        // when the carrier is to look at this peer again
  bool is_active = false;  // `due` is not `never`: among Carrier::active_
  Lane small;
  Lane bulk;
  HeldDatagrams held;
  std::deque<Item> controls;  // to be sent
  // Serving.
  std::vector<std::unique_ptr<ServedLog>> served;  // by the peer's alias
  std::deque<LogNumber> ready;                     // of these, those that may have something to send
  std::deque<LogNumber> begun;                     // and those that have pieces to send
  std::deque<ServedPull> pulls;
  std::vector<LogNumber> unfollowed;  // the peer has not been told yet that these are free
  std::set<LogName> left_early;       // it has unfollowed these before they were published to it
  // Keeping.
  std::vector<std::unique_ptr<Feed>> kept;  // by this end's alias
  std::vector<LogNumber> parting;           // aliases that the peer may still use
  std::vector<LogNumber> free_aliases;      // in `kept`
  Time heard_at{};                          // when a frame came last
};

/// A log of this process that others follow.
struct Carrier::Source {
  LogName name;
  LogSource place;
  /// Those that may follow it.
  struct Follower {
    EndpointNumber keeper = 0;
    log::CursorEntry* cursor = nullptr;
    Peer* peer = nullptr;  // null until it follows
    LogNumber alias = 0;
    bool has_left = false;  // it has unfollowed the log
    void leave() const {
      // Pairs with the acquire of LogWriter::consumed_by_all().
      if (cursor != nullptr) cursor->consumed.store(log::retired_cursor, std::memory_order_release);
    }
  };
  std::vector<Follower> followers;
  bool is_withdrawn = false;
  Follower* find(EndpointNumber keeper) {
    for (Follower& follower : followers)
      if (follower.keeper == keeper) return &follower;
    return nullptr;
  }
};

/// A copy that is kept, and the holders that feed it.
struct Carrier::Copy {
  std::unique_ptr<KeptCopy> kept;
  Feed* followed = nullptr;
  std::vector<Feed*> feeds;  // of all holders so far
  Feed* find(const Peer& of) const {
    for (Feed* feed : feeds)
      if (feed->holder == &of) return feed;
    return nullptr;
  }
  /// The holder of a history that is on its way.
  Feed* catching_up() const {
    for (Feed* feed : feeds)
      if (feed->state == Feed::State::catches_up) return feed;
    return nullptr;
  }
};

/// A payload that is being fetched.
struct Carrier::PullRequest {
  Peer* holder = nullptr;
  LogNumber log = 0;
  LogName name;
  std::uint64_t record = 0;
  std::span<std::byte> into;
  Done done;
  std::uint64_t asked = 0;  // up to here
  CoveredBytes come;
  std::uint64_t rest() const { return into.size() - come.count(); }
  std::uint64_t outstanding() const { return asked > come.count() ? asked - come.count() : 0; }
};

}  // namespace llamada::replication
