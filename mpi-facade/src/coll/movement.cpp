#include "coll/movement.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace llamada::mpi::coll {
namespace {

/// So many bytes for all peers go in one record at most.
constexpr std::size_t together_bytes_max = 32 * 1024;

}  // namespace

bool Barrier::step() {
  if (!published_ && !(published_ = channel_.publish_whole({}, everybody, {}))) return false;
  for (; peer_ < channel_.members().peer_end(); ++peer_) {
    if (peer_ == channel_.self()) continue;
    if (!channel_.expect(peer_, {}, 0)) return false;
    channel_.next(peer_);
  }
  return true;
}

bool NothingMoved::step() {
  if (!has_given_ && !(has_given_ = channel_.publish_whole({}, audience_, {}))) return false;
  for (; next_ < end_; ++next_) {
    if (next_ == channel_.self()) continue;
    if (!channel_.expect(next_, {}, 0)) return false;
    channel_.next(next_);
  }
  return true;
}

Broadcast::Broadcast(Channel& channel, const Data& data, int root)
    : channel_(channel),
      sending_(channel.self() == root ? Sending(channel, data, everybody) : Sending()),
      receiving_(channel.self() == root || root == no_root ? Receiving() : Receiving(channel, data, root)) {}

// ---- from all

void ReceivingFromAll::begin() {
  const int count = channel_.members().peer_count();
  if (static_cast<std::size_t>(count) > std::size(few_)) {
    many_.resize(static_cast<std::size_t>(count));
    sources_ = many_.data();
  }
  left_ = first_left_ = 0;
  for (int index = 0; index < count; ++index) {
    const bool nothing =
        channel_.members().peer_begin() + index == channel_.self() || results_[index].bytes == 0;
    Source& source = sources_[index];
    source.progress.bytes = 0;
    source.progress.piece = {};
    source.progress.is_lent = false;
    source.done = nothing;
    left_ += nothing ? 0 : 1;
  }
}

/// Beginning behind oneself, so that not all copy out of the same member's memory.
int ReceivingFromAll::peer(int offset) const {
  const int count = channel_.members().peer_count();
  if (!channel_.members().is_intra()) return offset;
  return (channel_.self() + 1 + offset) % count;
}

bool ReceivingFromAll::step() {
  const int count = channel_.members().peer_count();
  for (int offset = first_left_; left_ > 0 && offset < count; ++offset) {
    const int index = peer(offset);
    Source& source = sources_[index];
    if (!source.done) {
      source.done = take(channel_, results_[index], channel_.members().peer_begin() + index, source.progress);
      if (source.done) --left_;
    }
    if (source.done && offset == first_left_) ++first_left_;
  }
  return left_ == 0;
}

// ---- to all

int SendingToAll::peer(int offset) const {
  if (!channel_.members().is_intra()) return offset;
  return (channel_.self() + 1 + offset) % channel_.size();
}

void SendingToAll::begin() {
  offset_ = lending_offset_ = 0;
  lent_to_.clear();
  together_bytes_ = 0;
  sending_ = Sending();
  if (others() < 2) return;
  std::size_t bytes = 0;
  bool all = true;  // Who is to get nothing expects no record.
  for (int index = 0; index < channel_.members().peer_count(); ++index) {
    if (channel_.members().peer_begin() + index == channel_.self()) continue;
    const std::size_t part = contributions_[index].bytes;
    all = all && part > 0;
    bytes += part;
    if (bytes > together_bytes_max) return;
  }
  if (all) together_bytes_ = bytes;
}

bool SendingToAll::step() {
  if (together_bytes_ > 0) return step_together();
  if (lend_large() && send_others()) return true;
  hear();
  return false;
}

bool SendingToAll::send_others() {
  for (;;) {
    if (!sending_.step()) return false;
    if (offset_ >= others()) return take_back();
    const int index = peer(offset_++);
    if (std::ranges::find(lent_to_, index) == lent_to_.end()) send(index);
  }
}

void SendingToAll::send(int index) {
  sending_ = Sending(channel_, contributions_[index], channel_.members().peer_begin() + index);
}

/// Before anything else, for this needs no room to speak of, and the others can begin.
bool SendingToAll::lend_large() {
  if (lent_bytes_min_ == never) return true;
  for (; lending_offset_ < others(); ++lending_offset_) {
    const int index = peer(lending_offset_), member = channel_.members().peer_begin() + index;
    const Data part = contributions_[index];
    if (part.bytes < lent_bytes_min_ || part.memory() == nullptr || !channel_.loans().may_lend_to(member))
      continue;
    if (!channel_.loans().lend(member, {part.memory(), part.bytes})) return false;
    lent_to_.push_back(index);
  }
  return true;
}

bool SendingToAll::done() const {
  if (together_bytes_ > 0) return offset_ > 0;
  const auto is_over = [&](int index) {
    return channel_.loans().state_of(channel_.members().peer_begin() + index) == Loans::State::over;
  };
  return offset_ >= others() && sending_.done() && std::ranges::all_of(lent_to_, is_over);
}

/// What is said of loans is taken while there is no room, too: this member gives room to who says it no
/// sooner, and two may wait for each other's.
void SendingToAll::hear() {
  for (const int index : lent_to_) (void)channel_.loans().state_of(channel_.members().peer_begin() + index);
}

/// What was refused goes through the log.
bool SendingToAll::take_back() {
  for (auto index = lent_to_.begin(); index != lent_to_.end();) {
    const auto state = channel_.loans().state_of(channel_.members().peer_begin() + *index);
    if (state == Loans::State::open) {
      ++index;
      continue;
    }
    if (state == Loans::State::refused) send(*index);
    index = lent_to_.erase(index);
    if (!sending_.step()) return false;
  }
  return lent_to_.empty();
}

bool SendingToAll::step_together() {
  if (offset_ > 0) return true;
  const int count = channel_.members().peer_count();
  const std::size_t table_bytes = sizeof(std::uint32_t) * (static_cast<std::size_t>(count) + 1);
  auto room = channel_.room(table_bytes + together_bytes_);
  if (!room) return false;
  std::size_t at = table_bytes;
  for (int index = 0; index <= count; ++index) {
    const auto begin = static_cast<std::uint32_t>(at);
    std::memcpy(room->data() + sizeof(begin) * static_cast<std::size_t>(index), &begin, sizeof(begin));
    if (index == count || channel_.members().peer_begin() + index == channel_.self()) continue;
    const Data part = contributions_[index];
    part.pack(0, room->subspan(at, part.bytes));
    at += part.bytes;
  }
  channel_.commit(Content::together, everybody, together_bytes_);
  offset_ = 1;
  return true;
}

// ---- rooted

Gather::Gather(Channel& channel, const Data& own, const Parts& results, int root, bool in_place, Kind kind)
    : channel_(channel),
      own_(own),
      results_(results),
      is_root_(channel.self() == root),
      in_place_(in_place),
      kind_(kind),
      receiving_(channel, results) {
  if (!is_root_ && root != no_root) sending_ = Sending(channel, own, root);
}

void Gather::begin() {
  channel_.begin_with_peers(kind_);
  if (!is_root_) return;
  if (channel_.members().is_intra() && !in_place_) copy_own(channel_, own_, results_[channel_.self()]);
  receiving_.begin();
}

Scatter::Scatter(Channel& channel, const Parts& contributions, const Data& own, int root, bool in_place,
                 std::size_t lent_bytes_min)
    : channel_(channel),
      contributions_(contributions),
      own_(own),
      root_(root),
      in_place_(in_place),
      sending_(channel, contributions, lent_bytes_min) {}

void Scatter::begin() {
  channel_.begin_with_peers(Kind::scatter);
  if (root_ == no_root) return;
  if (root_ != channel_.self()) {
    receiving_ = Receiving(channel_, own_, root_);
    return;
  }
  if (channel_.members().is_intra() && !in_place_) copy_own(channel_, contributions_[channel_.self()], own_);
  sending_.begin();
}

bool Scatter::step() {
  if (root_ == no_root) return true;
  if (root_ == channel_.self()) return sending_.step();
  return receiving_.step();
}

// ---- all

Allgather::Allgather(Channel& channel, const Data& own, const Parts& results, bool in_place, Kind kind)
    : channel_(channel),
      own_(own),
      results_(results),
      in_place_(in_place),
      kind_(kind),
      sending_(channel, in_place && channel.members().is_intra() ? results[channel.self()] : own, everybody),
      receiving_(channel, results) {}

void Allgather::begin() {
  channel_.begin_with_peers(kind_);
  if (channel_.members().is_intra() && !in_place_) copy_own(channel_, own_, results_[channel_.self()]);
  receiving_.begin();
}

void Alltoall::begin() {
  channel_.begin_with_peers(kind_);
  own_taken_ = in_place_ || !channel_.members().is_intra();
  if (in_place_) pack_results();
  sending_.begin();
  receiving_.begin();
}

void Alltoall::take_own() {
  if (!own_taken_) copy_own(channel_, contributions_[channel_.self()], results_[channel_.self()]);
  own_taken_ = true;
}

bool Alltoall::step() {
  bool sent = sending_.step();
  const bool received = receiving_.step();
  take_own();
  // What was taken may have lain before the word that a loan is over: nobody wakes this member for that
  // again.
  if (!sent) sent = sending_.step();
  return received && sent && channel_.loans().settle();
}

/// What is given is kept apart, for results take its place.
void Alltoall::pack_results() {
  std::size_t bytes = 0;
  for (int index = 0; index < channel_.members().peer_count(); ++index) bytes += results_[index].bytes;
  packed_.resize(bytes);
  std::vector<Data> parts;
  std::size_t at = 0;
  for (int index = 0; index < channel_.members().peer_count(); ++index) {
    const Data part = results_[index];
    const std::span<std::byte> place(packed_.data() + at, part.bytes);
    part.pack(0, place);
    parts.push_back(Data::of(std::span<const std::byte>(place)));
    at += part.bytes;
  }
  packed_parts_ = Parts(std::move(parts));
}

// ---- the library's own

Status barrier(Channel& channel, Waiter& waiter) {
  Barrier machine(channel);
  return run(channel, waiter, machine);
}

Status broadcast(Channel& channel, Waiter& waiter, const Data& data, int root) {
  Broadcast machine(channel, data, root);
  return run(channel, waiter, machine);
}

Status gather(Channel& channel, Waiter& waiter, const Data& contribution, std::span<const Data> results,
              int root) {
  const Parts parts(results);
  Gather machine(channel, contribution, parts, root, true);
  return run(channel, waiter, machine);
}

Status scatter(Channel& channel, Waiter& waiter, std::span<const Data> contributions, const Data& result,
               int root) {
  const Parts parts(contributions);
  Scatter machine(channel, parts, result, root, true);
  return run(channel, waiter, machine);
}

Status allgather(Channel& channel, Waiter& waiter, const Data& contribution, std::span<const Data> results) {
  // What is given need not lie among the results.
  class Given final : public Machine {
   public:
    Given(Channel& channel, const Data& own, const Parts& results)
        : channel_(channel), sending_(channel, own, everybody), receiving_(channel, results) {}
    void begin() override {
      channel_.begin(Kind::allgather);
      receiving_.begin();
    }
    bool step() override {
      const bool sent = sending_.step();
      return receiving_.step() && sent;
    }

   private:
    Channel& channel_;
    Sending sending_;
    ReceivingFromAll receiving_;
  };
  const Parts parts(results);
  Given machine(channel, contribution, parts);
  return run(channel, waiter, machine);
}

Status alltoall(Channel& channel, Waiter& waiter, std::span<const Data> contributions,
                std::span<const Data> results) {
  const Parts given(contributions), taken(results);
  Alltoall machine(channel, given, taken, false);
  return run(channel, waiter, machine);
}

}  // namespace llamada::mpi::coll
