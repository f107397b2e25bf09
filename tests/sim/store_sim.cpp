// A store of segments on a disk that loses, tears and damages what the seed says, and a process that dies at
// any call, also while it starts. After each start the store has what a prefix of its batches gives: all that
// was synced, nothing that was never appended, each batch whole, nothing that a synced drop has removed.

#include <fmt/format.h>

#include <algorithm>

#include "llamada/store/segment_store.hpp"
#include "replication_seeds.hpp"
#include "set_clock.hpp"
#include "store_counts.hpp"
#include "store_damage.hpp"

using namespace llamada;
using namespace llamada::sim;
using namespace llamada::store;
using namespace std::chrono_literals;
using test::SimulatedDisk;

namespace {

constexpr std::uint64_t segment_bytes = 16 << 10;
constexpr std::uint64_t batch_bytes_max = 4 << 10;
constexpr std::uint64_t kept_bytes_max = 96 << 10;
constexpr std::size_t unsynced_max = 6;

StoreCounts counts;

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed)
      : random_(seed),
        disk_(random_.next()),
        fails_(random_.chance(1, 2)),
        fills_(random_.chance(1, 4)),
        flips_(random_.chance(1, 4)),
        crash_every_(20 + random_.below(100)) {}

  std::string run() {
    std::string wrong = start();
    const std::uint64_t steps = 100 + random_.below(200);
    for (std::uint64_t step = 0; step < steps && wrong.empty(); ++step) {
      ++counts.steps;
      wrong = this->step();
    }
    if (wrong.empty()) wrong = calm_down();
    counts.failed_syncs += disk_.failed_syncs();
    return wrong;
  }

 private:
  // --- what happens ---

  std::string step() {
    disturb();
    std::string wrong;
    switch (random_.below(12)) {
      case 0:
        wrong = declare();
        break;
      case 1:
      case 2:
      case 3:
      case 4:
        wrong = append();
        break;
      case 5:
        wrong = drop();
        break;
      case 6:
      case 7:
        wrong = write();
        break;
      case 8:
      case 9:
        wrong = sync();
        break;
      case 10:
        wrong = look();
        break;
      default:
        clock_.pass(random_.chance(1, 2) ? 100ms : 2s);
    }
    if (wrong.empty() && model_.unsynced_batches() > unsynced_max) wrong = sync();
    if (!wrong.empty()) return wrong;
    if (disk_.is_dead() || random_.chance(1, crash_every_)) return crash_and_start();
    return {};
  }

  void disturb() {
    if (fails_ && random_.chance(1, 12))
      disk_.fails_in[random_.below(SimulatedDisk::call_count)] =
          1 + static_cast<std::uint32_t>(random_.below(4));
    if (random_.chance(1, 2 * crash_every_)) disk_.dies_in = 1 + random_.below(30);
    if (fills_ && random_.chance(1, 30))
      disk_.capacity_bytes = random_.chance(1, 2) ? std::uint64_t{1} << 30 : disk_.used_bytes();
    if (flips_ && random_.chance(1, 150)) flip();
  }

  void flip() {
    // Without a segment nothing else says that this is a store.
    if (disk_.is_dead() || model_.unsynced_batches() > 0 || store_->figures().segments == 0) return;
    const auto fails = std::exchange(disk_.fails_in, {});
    const auto dies_in = std::exchange(disk_.dies_in, 0);
    const SimulatedDisk::Flip flip = disk_.choose_flip();
    if (!flip.name.empty()) {
      if (!has_flipped_) name_.remember(disk_);
      model_.note_damage(damage_of(disk_, flip, fails_));
      disk_.apply(flip);
      has_flipped_ = true;
      ++counts.flips;
    }
    disk_.fails_in = fails;
    disk_.dies_in = dies_in;
  }

  /// The process or the machine dies, and the store is opened again, perhaps several times.
  std::string crash_and_start() {
    if (random_.chance(3, 4)) disk_.die();  // otherwise it is closed in good order
    store_.reset();
    model_.note_torn_batches();
    lose();
    for (int tries = 0; tries < 20; ++tries) {
      if (random_.chance(1, 3)) disk_.dies_in = 1 + random_.below(60);
      if (fails_ && random_.chance(1, 4))
        disk_.fails_in[random_.below(SimulatedDisk::call_count)] =
            1 + static_cast<std::uint32_t>(random_.below(8));
      const bool may_fail = disk_.dies_in != 0 || disk_.fails_in != decltype(disk_.fails_in){};
      const std::string wrong = start();
      if (wrong != "not opened") return wrong;
      if (!may_fail && !fills_) return "the store cannot be opened, though the disk works: " + why_not_;
      ++counts.broken_starts;
      lose();
      // A full disk must not prevent a start for good.
      if (tries > 10) disk_.capacity_bytes = std::uint64_t{1} << 30;
    }
    return "the store cannot be opened in many tries: " + why_not_;
  }

  void lose() {
    if (random_.chance(1, 2)) {
      disk_.lose_power();
      lost_power_ = true;
      ++counts.losses_of_power;
    } else {
      disk_.restart();
    }
  }

  std::string start() {
    const std::uint64_t failed_before = disk_.failed_calls();
    sentences_.clear();
    auto opened = open_segment_store(std::make_unique<test::SimulatedFiles>(disk_), options());
    if (!opened && is_refused(opened.error())) return start();
    has_lost_ |= !opened && opened.error().code() == Errc::precondition_not_met;
    if (!opened || disk_.is_dead()) {
      why_not_ = opened ? "the disk has died" : opened.error().text();
      disk_.die();
      if (opened) opened->reset();
      return "not opened";
    }
    ++counts.starts;
    store_ = std::move(*opened);
    disk_.fails_in = {};
    const auto dies_in = std::exchange(disk_.dies_in, 0);
    const StoreFigures figures = store_->figures();
    counts.torn += figures.torn_batches;
    if (figures.synced != figures.written)
      return fmt::format("a start leaves batches {} to {} unsynced", figures.synced + 1, figures.written);
    if (!has_flipped_ && !has_lost_ && failed_before == disk_.failed_calls()) {
      if (!sentences_.empty()) return "a start on a good disk says: " + sentences_.front();
      if (figures.damaged_batches + figures.damaged_items > 0) return "a start on a good disk finds damage";
    }
    const StoreState found = read_all(*store_);
    if (!wrong_.empty()) return wrong_;
    if (model_.is_damaged() && figures.damaged_batches + figures.damaged_items > 0) ++counts.found_damaged;
    // The kernel forgets what a failed sync was to write, and the power need not fail for that.
    std::string wrong = model_.started(found, figures.written, lost_power_ || has_failed(),
                                       disk_.failed_calls() != failed_before_);
    lost_power_ = false;
    note_synced();
    disk_.dies_in = dies_in;
    ids_.clear();
    for (const auto& [id, stream] : found.streams) ids_[id] = stream.name;
    return wrong;
  }

  /// Flips have left nothing that tells whose segments these are. With its name the store has all again.
  bool is_refused(const Error& error) {
    if (!has_flipped_ || error.code() != Errc::parse_error || !name_.is_lost(disk_)) return false;
    ++counts.nameless;
    name_.restore(disk_);
    return true;
  }

  SegmentOptions options(bool read_only = false) {
    return {.segment_bytes = segment_bytes,
            .batch_bytes_max = batch_bytes_max,
            .read_only = read_only,
            .say = [this](std::string_view text) { sentences_.emplace_back(text); },
            .clock = &clock_};
  }

  void note_synced() {
    failed_syncs_before_ = disk_.failed_syncs();
    failed_before_ = disk_.failed_calls();
  }
  /// Since the last sync.
  bool has_failed() const { return disk_.failed_syncs() != failed_syncs_before_; }

  // --- what the process does ---

  /// Why a call must not have failed, or an empty text.
  std::string judge(const Error& error, std::uint64_t failed_before, const char* what) {
    if (disk_.is_dead() || disk_.failed_calls() != failed_before || error.code() == Errc::would_block)
      return {};
    const bool is_full = error.code() == Errc::out_of_resources;
    if (is_full && fills_) ++counts.full;
    // It looks for room once a second.
    const bool may_be_full = fills_ || (disk_.failed_calls() > 0 && clock_.monotonic() - failed_at_ < 1s);
    if (is_full && may_be_full) return {};
    return fmt::format("{} fails on a disk that works: {}", what, error.text());
  }

  template <typename Call>
  auto call(const char* what, const Call& action, std::string& wrong) {
    const std::uint64_t failed_before = disk_.failed_calls();
    auto done = action();
    if (disk_.failed_calls() != failed_before) failed_at_ = clock_.monotonic();
    if (done) return done;
    has_lost_ |= done.error().code() == Errc::precondition_not_met;
    wrong = judge(done.error(), failed_before, what);
    return done;
  }

  std::string declare() {
    const std::string name = fmt::format("s{}", random_.below(5));
    const std::vector<std::byte> description(random_.below(50), static_cast<std::byte>(random_.next()));
    const auto known = std::ranges::find_if(ids_, [&](const auto& each) { return each.second == name; });
    std::string wrong;
    const auto id = call(
        "stream()", [&] { return store_->stream(name, description); }, wrong);
    if (!id) return wrong;
    if (known != ids_.end())
      return known->first == *id ? "" : fmt::format("stream {} has got a second number", name);
    if (ids_.contains(*id)) return fmt::format("number {} is given to a second stream", *id);
    ids_[*id] = name;
    last_[*id] = 0;
    model_.add(
        {.kind = StoreChange::declare, .stream = *id, .name = name, .description = digest_of(description)});
    return {};
  }

  StreamId any_stream() {
    if (ids_.empty()) return 0;
    return std::next(ids_.begin(), static_cast<std::ptrdiff_t>(random_.below(ids_.size())))->first;
  }

  std::string append() {
    const StreamId stream = any_stream();
    if (stream == 0) return {};
    if (store_->figures().live_bytes > kept_bytes_max) return drop();
    std::vector<std::byte> body(random_.chance(1, 100) ? random_.below(3 * segment_bytes / 2)
                                                       : random_.below(1500));
    std::vector<std::byte> head(random_.below(30), static_cast<std::byte>(random_.next()));
    // Some have whole pieces of zeros.
    if (random_.chance(3, 4))
      for (std::byte& each : body) each = static_cast<std::byte>(random_.next());
    const Item item{.stream = stream,
                    .number = last_[stream] + 1 + random_.below(3),
                    .group = random_.below(4),
                    .kind = static_cast<std::uint8_t>(random_.below(kind_reserved)),
                    .flags = static_cast<std::uint8_t>(random_.next()),
                    .time_ns = static_cast<std::int64_t>(random_.next()),
                    .head = head,
                    .body = body};
    std::string wrong;
    const auto appended = call(
        "append()", [&] { return store_->append(item); }, wrong);
    if (!appended) return wrong;
    last_[stream] = item.number;
    model_.add({.kind = StoreChange::append,
                .stream = stream,
                .number = item.number,
                .kept = {digest_of(item), item.group, head.size() + body.size()}});
    return {};
  }

  std::string drop() {
    const StreamId stream = any_stream();
    if (stream == 0) return {};
    std::string wrong;
    const std::uint64_t number =
        last_[stream] - random_.below(std::min<std::uint64_t>(last_[stream] + 1, 12));
    const std::uint64_t chosen = random_.below(14);
    const auto kind = chosen == 0  ? StoreChange::end
                      : chosen < 5 ? StoreChange::drop
                                   : StoreChange::drop_below;
    const auto dropped = call(
        "dropping",
        [&]() -> Status {
          if (kind == StoreChange::end) return store_->end(stream);
          if (kind == StoreChange::drop) return store_->drop(stream, number);
          return store_->drop_below(stream, number);
        },
        wrong);
    if (!dropped) return wrong;
    model_.add({.kind = kind, .stream = stream, .number = number});
    if (kind == StoreChange::end) ids_.erase(stream);
    if (kind == StoreChange::drop_below && number > 0) last_[stream] = std::max(last_[stream], number - 1);
    return {};
  }

  std::string write() {
    const BatchNumber next = store_->figures().written + 1;
    const std::uint64_t segments = store_->figures().segments;
    std::string wrong;
    const auto written = call(
        "write()", [&] { return store_->write(); }, wrong);
    if (written && *written == next - 1) {
      // Nothing but single drops, of items that are not there.
      if (!std::ranges::all_of(model_.open(),
                               [](const auto& each) { return each.kind == StoreChange::drop; }))
        return fmt::format("write() gives batch {}, the last one", *written);
      model_.forget_open();
      return wrong;
    }
    if (written && *written != next) return fmt::format("write() gives batch {}, {} is next", *written, next);
    model_.written(next, written.has_value());
    if (written && store_->figures().segments < segments) ++counts.cleaned;
    return wrong;
  }

  std::string sync() {
    const StoreFigures before = store_->figures();
    std::string wrong;
    const auto synced = call(
        "sync()", [&] { return store_->sync(before.written); }, wrong);
    if (!synced) return wrong;
    model_.synced(before.written);
    if (!disk_.is_dead()) note_synced();
    if (store_->figures().segments < before.segments) ++counts.cleaned;
    return {};
  }

  /// What readers see of the running store, and what a second process does that only reads.
  std::string look() {
    // A file whose sync has failed may show anything until its batches lie elsewhere.
    if (has_failed()) return {};
    const std::uint64_t failed_before = disk_.failed_calls();
    const StoreState found = read_all(*store_);
    if (disk_.is_dead() || disk_.failed_calls() != failed_before) return wrong_ = {};
    if (!wrong_.empty()) return wrong_;
    if (std::string wrong = model_.check(found); !wrong.empty()) return "while it runs: " + wrong;
    return random_.chance(1, 4) ? look_from_outside() : std::string();
  }

  std::string look_from_outside() {
    const std::uint64_t failed_before = disk_.failed_calls(), used = disk_.used_bytes();
    sentences_.clear();
    auto opened = open_segment_store(std::make_unique<test::SimulatedFiles>(disk_), options(true));
    if (disk_.is_dead() || disk_.failed_calls() != failed_before) return {};
    StoreModel model = model_;
    // Whose name is damaged, and has nothing yet, cannot be told from none.
    if (!opened && has_flipped_ && opened.error().code() == Errc::not_found)
      return model.started({}, 0, false, false);
    if (!opened && opened.error().code() == Errc::parse_error && name_.is_lost(disk_)) return {};
    if (!opened) return "opening to read: " + opened.error().text();
    const StoreState found = read_all(**opened);
    if (disk_.is_dead() || disk_.failed_calls() != failed_before) return wrong_ = {};
    if (!wrong_.empty()) return "opened to read: " + wrong_;
    if (disk_.used_bytes() != used) return "a store that was opened to read has changed the disk";
    if (!has_flipped_ && !has_lost_ && !sentences_.empty())
      return "opened to read, it says: " + sentences_.front();
    const std::string wrong = model.started(found, (*opened)->figures().written, false, false);
    return wrong.empty() ? wrong : "opened to read: " + wrong;
  }

  // --- what is looked at ---
  StoreState read_all(const Store& store) {
    StoreState state;
    for (const StreamInfo& info : store.streams()) {
      auto& stream = state.streams[info.id];
      stream.name = info.name;
      stream.description = digest_of(info.description);
      std::uint64_t last = 0, damaged = 0, bytes = 0;
      const auto status = store.read(
          info.id, 0,
          [&](const Item& item) {
            if (item.number <= last)
              wrong_ = fmt::format("stream {}: item {} comes after {}", info.name, item.number, last);
            if (item.stream != info.id)
              wrong_ = fmt::format("stream {}: an item of stream {}", info.name, item.stream);
            last = item.number;
            bytes += item.head.size() + item.body.size();
            stream.items[item.number] = {digest_of(item), item.group, item.head.size() + item.body.size()};
            return true;
          },
          [&](std::uint64_t number) {
            ++damaged;
            if (!model_.damage().items.contains({info.id, number}))
              wrong_ = fmt::format("stream {}: item {} is damaged, though nothing was flipped there",
                                   info.name, number);
          });
      if (!status) {
        wrong_ = "reading: " + status.error().text();
        return state;
      }
      if (info.items != stream.items.size() + damaged || (damaged == 0 && info.bytes != bytes))
        wrong_ = fmt::format("stream {}: {} items are told, {} are read", info.name, info.items,
                             stream.items.size());
      look_at_group(store, info, stream);
    }
    return state;
  }

  void look_at_group(const Store& store, const StreamInfo& info, const StoreState::Stream& stream) {
    const std::uint64_t group = random_.below(4), count = random_.below(4);
    std::uint64_t damaged = 0;
    std::vector<std::uint64_t> found;
    const auto status = store.newest(
        info.id, group, count,
        [&](const Item& item) {
          found.push_back(item.number);
          return true;
        },
        [&](std::uint64_t) { ++damaged; });
    if (status && damaged == 0 && !model_.is_damaged() && found != stream.newest(group, count))
      wrong_ = fmt::format("stream {}: the newest {} of group {} are others", info.name, count, group);
  }

  /// The faults end: the store goes on, gives back what is dropped, and has all after a last start.
  std::string calm_down() {
    disk_.capacity_bytes = std::uint64_t{1} << 30;
    disk_.fails_in = {};
    disk_.dies_in = 0;
    fails_ = fills_ = false;
    clock_.pass(2s);
    std::string wrong = write();
    if (wrong.empty()) wrong = sync();
    for (int i = 0; i < 60 && wrong.empty(); ++i) {
      wrong = drop();
      if (wrong.empty()) wrong = write();
      if (wrong.empty()) wrong = sync();
    }
    if (!wrong.empty()) return "after the last fault: " + wrong;
    const StoreFigures figures = store_->figures();
    const std::uint64_t most = figures.live_bytes * 10 / 3 + 5 * segment_bytes;
    if (disk_.used_bytes() > most)
      return fmt::format("{} bytes of the disk are used for {} live ones in {} segments", disk_.used_bytes(),
                         figures.live_bytes, figures.segments);
    if (!model_.is_damaged())
      if (wrong = model_.check_live_bytes(figures.live_bytes); !wrong.empty()) return wrong;
    if (wrong = look(); !wrong.empty()) return wrong;
    for (int again = 0; again < 2; ++again) {
      if (random_.chance(1, 2)) disk_.die();
      store_.reset();
      disk_.lose_power();
      lost_power_ = true;
      if (wrong = start(); !wrong.empty()) return "at the end: " + wrong;
    }
    return random_.chance(1, 10) ? lose_name() : std::string();
  }

  /// Nothing tells the id any longer: a start is refused, and finds all once the id is back.
  std::string lose_name() {
    if (has_flipped_ || store_->figures().segments == 0) return {};
    store_.reset();
    has_flipped_ = true;
    name_.lose(disk_, random_);
    if (const std::string wrong = start(); !wrong.empty()) return "without a name: " + wrong;
    return name_.is_back() ? "" : "a store without its id is opened";
  }

  Random random_;
  SetClock clock_;
  SimulatedDisk disk_;
  std::unique_ptr<Store> store_;
  StoreModel model_;
  StoreName name_;
  bool fails_, fills_, flips_;
  std::uint64_t crash_every_;
  bool lost_power_ = false, has_flipped_ = false;
  bool has_lost_ = false;  // a batch, perhaps with the name of a stream that later ones have items of
  std::uint64_t failed_syncs_before_ = 0, failed_before_ = 0;
  std::chrono::nanoseconds failed_at_{0};
  std::vector<std::string> sentences_;
  std::string wrong_, why_not_;
  std::map<StreamId, std::string> ids_;     ///< As the process knows them.
  std::map<StreamId, std::uint64_t> last_;  ///< The greatest number of each.
};

}  // namespace

TEST_CASE("segments: after any crash a store has what was synced, in whole batches, and nothing else",
          "[sim]") {
  sim::run_seeds([](std::uint64_t seed) { return Simulation(seed).run(); }, 3000);
  counts.print();
}
