// How a carrier follows logs, gives credit and pulls payloads.
#include <algorithm>
#include <cstring>
#include <utility>

#include "peer.hpp"

namespace llamada::replication {
namespace {

/// The copy's own bound is its credit.
constexpr std::uint64_t no_bound_bytes = std::uint64_t{1} << 50;

}  // namespace

Result<log::LogWriter*> Carrier::follow(EndpointNumber holder, const LogName& name,
                                        const FollowOptions& options) {
  const auto found = peers_.find(holder);
  if (found == peers_.end())
    return failure(Errc::invalid_argument, "endpoint {} is to be followed and was never met", holder);
  auto& copy = copies_[name];
  if (!copy.kept) {
    auto log = open_copy(name, options);
    if (!log) {
      copies_.erase(name);
      return propagate(log);
    }
    copy.kept = std::make_unique<KeptCopy>(*own_, name, std::move(*log), options.window_bytes);
  }
  auto feed = feed_from(copy, *found->second);
  if (!feed) return propagate(feed);
  follow_with_pulls(copy, **feed);
  if (options.history) {
    (*feed)->state = Feed::State::waits;
    if (auto asked = catch_up(*options.history, name); !asked) return propagate(asked);
  } else {
    send_follow(**feed);
  }
  return &copy.kept->log();
}

Result<log::LogWriter> Carrier::open_copy(const LogName& name, const FollowOptions& options) {
  if (own_ == nullptr)
    return failure(Errc::unsupported, "endpoint {} has no arena to keep copies in",
                   options_.identity.endpoint);
  return log::LogWriter::open(*own_, copy_key(name),
                              {.live_bytes_max = no_bound_bytes,
                               .readers_expected = options.local_readers,
                               .begins_behind = options.begins_behind});
}

/// The copy has one feed for each holder, with the same alias until it is followed no more.
Result<Feed*> Carrier::feed_from(Copy& copy, Peer& holder) {
  if (Feed* known = copy.find(holder)) return known;
  if (holder.free_aliases.empty()) {
    if (holder.kept.size() >= options_.follows_max)
      return failure(Errc::out_of_resources, "{} logs of endpoint {} are followed, and no more may be",
                     holder.kept.size(), holder.number);
    holder.free_aliases.push_back(static_cast<LogNumber>(holder.kept.size()));
    holder.kept.push_back(std::make_unique<Feed>());
  }
  const LogNumber alias = holder.free_aliases.back();
  holder.free_aliases.pop_back();
  Feed& feed = *holder.kept[alias];
  feed = {};
  feed.copy = copy.kept.get();
  feed.holder = &holder;
  feed.alias = alias;
  copy.feeds.push_back(&feed);
  return &feed;
}

/// What is being pulled is asked of the new holder.
void Carrier::follow_with_pulls(Copy& copy, Feed& feed) {
  if (copy.followed != nullptr) copy.followed->state = Feed::State::idle;
  copy.followed = &feed;
  feed.state = Feed::State::follows;
  for (const auto& pull : pulls_) {
    if (!(pull->name == copy.kept->name()) || pull->holder == feed.holder) continue;
    pull->holder = feed.holder;
    pull->log = feed.alias;
    ask_again(*pull);
  }
}

void Carrier::send_follow(Feed& feed) {
  feed.holder->controls.push_back(Item::of_control(Type::follow, feed.alias, feed.copy->follow(feed)));
  note_due(*feed.holder, Time{0});
}

void Carrier::note_open(bool was_open, const KeptCopy& copy) {
  if (copy.is_open() && !was_open) ++open_copies_;
  if (!copy.is_open() && was_open) --open_copies_;
}

void Carrier::give_credit(Peer& peer, Time now) {
  for (const auto& feed : peer.kept) {
    if (!feed->goes_on() || !feed->copy->is_short_of_credit(*feed)) continue;
    if (const auto credit = feed->copy->credit(*feed))
      peer.controls.push_back(Item::of_control(Type::credit, feed->alias, *credit));
    else
      // Readers do not say that they have read on.
      note_due(peer, now + retry_after);
  }
}

bool Carrier::is_behind(const LogName& name, std::uint64_t records) {
  const auto found = copies_.find(name);
  if (found == copies_.end() || !found->second.kept) return false;
  KeptCopy& copy = *found->second.kept;
  return copy.log().published() < records && copy.is_growing();
}

Status Carrier::pull(const LogName& name, std::uint64_t record, std::span<std::byte> into, Done done) {
  const auto copy = copies_.find(name);
  const Feed* const feed = copy != copies_.end() ? copy->second.followed : nullptr;
  if (feed == nullptr)
    return failure(Errc::not_found, "no copy is kept of log {:x}.{:x} of rank {}", name.key.high,
                   name.key.low, name.writer);
  Peer* const holder = feed->holder;
  if (holder->state.is_done)
    return failure(Errc::not_found, "record {} of rank {} cannot be fetched: endpoint {} is done", record,
                   name.writer, holder->number);
  if (find_pull(*holder, feed->alias, record) != pulls_.end())
    return failure(Errc::already_exists, "record {} of rank {} is being fetched already", record,
                   name.writer);
  auto request = std::make_unique<PullRequest>();
  request->holder = holder;
  request->log = feed->alias;
  request->name = name;
  request->record = record;
  request->into = into;
  request->done = std::move(done);
  pulls_.push_back(std::move(request));
  note_due(Time{0});
  return {};
}

std::uint64_t Carrier::pulled_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& pull : pulls_) bytes += pull->outstanding();
  return bytes;
}

/// Shortest rest first, so that many that come at once do not all come late.
void Carrier::ask_for_pieces() {
  const auto fails = [](const auto& pull) { return pull->holder->state.is_done; };
  for (auto at = pulls_.begin(); (at = std::ranges::find_if(pulls_, fails)) != pulls_.end();)
    finish_pull(at, false);
  if (pulls_.empty()) return;
  std::ranges::stable_sort(pulls_, {}, [](const auto& pull) { return pull->rest(); });
  std::uint64_t outstanding = pulled_bytes();
  for (const auto& pull : pulls_) {
    while (pull->asked < pull->into.size() && pull->outstanding() < options_.pull_bytes_max) {
      const std::uint64_t bytes = std::min(options_.pull_bytes_max, pull->into.size() - pull->asked);
      if (outstanding > 0 && outstanding + bytes > options_.pulled_bytes_max) return;
      pull->holder->controls.push_back(
          Item::of_control(Type::pull, pull->log, Pull{pull->record, pull->asked, bytes}));
      note_due(*pull->holder, Time{0});
      pull->asked += bytes;
      outstanding += bytes;
    }
  }
}

/// Of another holder, or of one that has forgotten.
void Carrier::ask_again(PullRequest& pull) {
  pull.asked = 0;
  pull.come = {};
  note_due(Time{0});
}

Carrier::Pulls::iterator Carrier::find_pull(const Peer& peer, LogNumber alias, std::uint64_t record) {
  return std::ranges::find_if(pulls_, [&](const auto& pull) {
    return pull->holder == &peer && pull->log == alias && pull->record == record;
  });
}

void Carrier::take_pulled(Peer& peer, LogNumber alias, const PieceBody& piece) {
  const auto at = find_pull(peer, alias, piece.piece.record);
  if (at == pulls_.end()) return;
  PullRequest& pull = **at;
  // read_piece() has seen that it lies within the whole.
  if (piece.piece.size_bytes != pull.into.size()) return count(FrameFault::malformed);
  std::memcpy(pull.into.data() + piece.piece.offset, piece.bytes.data(), piece.bytes.size());
  pull.come.add(piece.piece.offset, piece.piece.offset + piece.bytes.size());
  if (pull.rest() == 0) finish_pull(at, true);
}

void Carrier::finish_pull(Pulls::iterator at, bool is_complete) {
  const std::unique_ptr<PullRequest> pull = std::move(*at);
  pulls_.erase(at);
  if (pull->done) pull->done(is_complete);
}

void Carrier::take_gone(Peer& peer, LogNumber alias, const Gone& gone) {
  Feed* const feed = peer.find_feed(alias);
  if (feed == nullptr) return;
  if (gone.of == Gone::of_pull) {
    if (const auto at = find_pull(peer, alias, gone.from); at != pulls_.end()) finish_pull(at, false);
    return;
  }
  const LogName name = feed->copy->name();
  if (feed->state != Feed::State::follows) end_catch_up(*feed);
  if (options_.events != nullptr) options_.events->gone(name, gone);
}

}  // namespace llamada::replication
