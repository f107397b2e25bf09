#include "replication_node.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <utility>

#include "llamada/base/check.hpp"

namespace llamada::sim {
namespace {

using replication::Time;

constexpr std::size_t arena_bytes = 16 << 20;
constexpr std::uint64_t window_bytes = 64 << 10;
/// Chunks are taken as a whole, and the last record of a window may be long.
constexpr std::uint64_t copy_bytes_max = window_bytes + (3 * 256 << 10);
constexpr std::uint64_t eager_bytes_max = 3000;
constexpr std::uint64_t pulled_bytes_max = 20000;

void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(seed + i * 5 + (i >> 7));
}

}  // namespace

SimRecord record_of(const SimLog& log, std::uint64_t number) {
  Random random(log.seed * 1000003 + number);
  SimRecord record;
  record.kind = static_cast<std::uint8_t>(1 + random.below(254));
  record.flags = static_cast<std::uint16_t>(random.next());
  record.label = random.next();
  constexpr std::uint64_t classes[] = {9, 49, 300, 3000, 9000};
  record.payload.resize(random.below(classes[random.below(random.chance(1, 4) ? 5 : 3)]));
  fill(record.payload, record.label);
  if (record.payload.size() > log::inline_payload_max) record.extra.resize(log::extra_bytes_max);
  fill(record.extra, record.label + 1);
  return record;
}

SimMemory::SimMemory(std::size_t size_bytes) : size_bytes_(size_bytes) {
  void* mapped = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  LLAMADA_CHECK(mapped != MAP_FAILED);
  base_ = static_cast<std::byte*>(mapped);
}
SimMemory::~SimMemory() { ::munmap(base_, size_bytes_); }

/// What ends with an incarnation.
struct SimNode::Life {
  struct Own {
    log::LogWriter writer;
    replication::Carrier::OwnLog log = 0;
  };
  struct Copy {
    log::LogWriter* writer = nullptr;
    log::LogReader reader;
    std::uint64_t at = 0;  // the number of the record that the reader gives next; 0: not known yet
  };
  struct Fetch {
    std::size_t copy = 0;
    std::uint64_t record = 0;
    std::vector<std::byte> bytes;
    bool is_over = false;
    bool is_complete = false;
  };
  std::unique_ptr<log::ArenaWriter> arena;
  std::list<Own> own;
  std::vector<Copy> copies;
  std::list<Fetch> fetches;
  std::unique_ptr<replication::Carrier> carrier;
};

SimNode::SimNode(replication::EndpointNumber own, replication::EndpointNumber peer,
                 links::FakeNetwork& network, std::size_t frame_bytes, std::vector<SimLog> written,
                 std::vector<SimLog> kept)
    : own_(own),
      peer_(peer),
      small_(network.make_link({.datagram_bytes_max = frame_bytes})),
      bulk_(network.make_link({.datagram_bytes_max = frame_bytes + 100, .train_max = 8})),
      memory_(arena_bytes),
      written_(std::move(written)),
      kept_(std::move(kept)),
      read_(kept_.size()) {}
SimNode::~SimNode() = default;

std::string SimNode::begin(std::uint16_t incarnation, const replication::PeerState& peer) {
  incarnation_ = incarnation;
  life_ = std::make_unique<Life>();
  log::ArenaOptions options;
  options.log_count_max = options.cursor_count_max = 32;
  options.endpoint_count_max = options.match_count_max = options.grant_count_max = 1;
  options.incarnation = incarnation;
  options.extent_bytes = 64 << 10;
  options.may_grow = [this](std::uint64_t) { return !is_short_of_memory_; };
  auto arena = log::ArenaWriter::open(memory_.bytes(), options);
  if (!arena) return arena.error().text();
  life_->arena = std::move(*arena);
  const replication::CarrierOptions carrier_options{
      .identity = {.job = 7, .endpoint = own_, .incarnation = incarnation, .key = {1, 2}},
      .eager_bytes_max = eager_bytes_max,
      .pulled_bytes_max = pulled_bytes_max,
      .pull_bytes_max = 5000};
  life_->carrier = std::make_unique<replication::Carrier>(carrier_options, *small_, *bulk_, *life_->arena);
  life_->carrier->set_waiting(true);
  meet(peer);
  if (driver_) (void)life_->carrier->meet(SimDriver::number, *driver_);
  for (const SimLog& log : written_) {
    auto writer =
        log::LogWriter::open(*life_->arena, log.name.key,
                             {.retention = log.keeps_all ? log::Retention::keep_all : log::Retention::recycle,
                              .live_bytes_max = 100 << 10});
    if (!writer) return writer.error().text();
    life_->own.push_back({std::move(*writer)});
    auto published = life_->carrier->publish_to(life_->own.back().writer, log.name.key, peer_);
    if (!published) return published.error().text();
    life_->own.back().log = *published;
  }
  for (const SimLog& log : kept_) {
    auto copy = life_->carrier->follow(peer_, log.name, {.window_bytes = window_bytes});
    if (!copy) return copy.error().text();
    auto cursor = life_->arena->cursor(replication::copy_key(log.name), own_);
    if (!cursor) return cursor.error().text();
    (*copy)->add_reader(*cursor);
    life_->copies.push_back({*copy, log::LogReader::open(life_->arena->own(), (*copy)->index(), *cursor), 0});
  }
  return {};
}

void SimNode::kill() { life_.reset(); }

replication::PeerState SimNode::state() const {
  return {.incarnation = incarnation_, .small = small_->address(), .bulk = bulk_->address()};
}

void SimNode::meet(const replication::PeerState& peer) {
  if (life_) (void)life_->carrier->meet(peer_, peer);
}

void SimNode::meet_driver(const replication::PeerState& driver) {
  driver_ = driver;
  if (life_) (void)life_->carrier->meet(SimDriver::number, driver);
}

void SimNode::catch_up(Random& random) {
  if (!life_ || kept_.empty() || !driver_) return;
  (void)life_->carrier->catch_up(SimDriver::number, kept_[random.below(kept_.size())].name);
}

SimDriver::SimDriver(links::FakeNetwork& network, std::size_t frame_bytes)
    : small_(network.make_link({.datagram_bytes_max = frame_bytes})),
      bulk_(network.make_link({.datagram_bytes_max = frame_bytes + 100, .train_max = 8})) {
  const replication::CarrierOptions options{
      .identity = {.job = 7, .endpoint = number, .incarnation = 1, .key = {1, 2}},
      .eager_bytes_max = eager_bytes_max,
      .histories = this};
  carrier_ = std::make_unique<replication::Carrier>(options, *small_, *bulk_);
  carrier_->set_waiting(true);
}

void SimDriver::changed(replication::EndpointNumber endpoint) {
  if (met_.contains(endpoint)) (void)carrier_->meet(endpoint, nodes_.at(endpoint)->state());
}

std::optional<replication::PeerState> SimDriver::introduce(replication::EndpointNumber stranger) {
  if (!nodes_.contains(stranger)) return std::nullopt;
  met_.insert(stranger);
  return nodes_.at(stranger)->state();
}

std::optional<replication::LogSource> SimDriver::find(const replication::LogName& name,
                                                      replication::EndpointNumber keeper) {
  const log::PeerArena arena = nodes_.at(name.writer)->arena();
  std::uint32_t logs = 0, cursors = 0;
  const auto index = log::find_log(arena, name.key, logs);
  if (!index) return std::nullopt;
  return replication::LogSource{arena, *index,
                                log::find_cursor(arena, replication::keeper_key(name.key), keeper, cursors)};
}

std::string SimDriver::check_bounds() const {
  return carrier_->faults(replication::FrameFault::malformed) != 0 ? "the driver got a malformed frame" : "";
}

void SimNode::publish(Random& random, Time now) {
  if (!life_ || written_.empty()) return;
  const std::size_t index = random.below(written_.size());
  auto& own = *std::next(life_->own.begin(), static_cast<std::ptrdiff_t>(index));
  const SimLog& log = written_[index];
  if (own.writer.published() >= log.record_count) return;
  const SimRecord record = record_of(log, own.writer.published() + 1);
  {
    log::Reservation room;
    if (!own.writer.reserve(record.payload.size(), room)) return;
    std::ranges::copy(record.payload, room.payload().begin());
    std::ranges::copy(record.extra, room.extra().begin());
    own.writer.commit(std::move(room), record.kind, record.flags, record.label);
  }
  life_->carrier->grown(own.log, now);
}

std::string SimNode::work(Time now) {
  if (!life_) return {};
  life_->carrier->work(now);
  for (auto fetch = life_->fetches.begin(); fetch != life_->fetches.end();) {
    if (!fetch->is_over) {
      ++fetch;
      continue;
    }
    const SimRecord expected = record_of(kept_[fetch->copy], fetch->record);
    if (!fetch->is_complete) return fmt::format("record {} of copy {} is gone", fetch->record, fetch->copy);
    if (fetch->bytes != expected.payload)
      return fmt::format("record {} of copy {} was pulled with other bytes", fetch->record, fetch->copy);
    fetch = life_->fetches.erase(fetch);
  }
  return {};
}

std::string SimNode::read(Random& random) {
  if (!life_ || kept_.empty()) return {};
  const std::size_t index = random.below(kept_.size());
  Life::Copy& copy = life_->copies[index];
  for (std::uint64_t left = 1 + random.below(20); left > 0; --left) {
    const auto record = copy.reader.peek();
    if (copy.reader.failed()) return copy.reader.error().text();
    if (!record) return {};
    if (copy.at == 0) copy.at = copy.reader.records_before() + 1;
    if (std::string wrong = compare(index, *record, copy.at); !wrong.empty()) return wrong;
    read_[index] = std::max(read_[index], copy.at);
    ++copy.at;
    copy.reader.advance();
    copy.reader.release(copy.reader.position_chunk());
  }
  return {};
}

std::string SimNode::compare(std::size_t index, const log::Record& record, std::uint64_t number) {
  const auto wrong = [&](const char* what) {
    return fmt::format("record {} of copy {} has another {}", number, index, what);
  };
  if (number > read_[index] + 1)
    return fmt::format("copy {} goes from record {} to {}", index, read_[index], number);
  const SimRecord expected = record_of(kept_[index], number);
  if (record.kind != expected.kind) return wrong("kind");
  if (record.flags != expected.flags) return wrong("flags");
  if (record.label != expected.label) return wrong("label");
  const bool is_absent = kept_[index].keeps_all && expected.payload.size() > eager_bytes_max;
  if (is_absent != (record.absent_bytes != 0)) return wrong("form");
  if (!is_absent) {
    if (!std::ranges::equal(record.payload, expected.payload)) return wrong("payload");
    if (!std::ranges::equal(record.extra, expected.extra)) return wrong("extra");
    return {};
  }
  if (record.absent_bytes != expected.payload.size()) return wrong("size");
  if (record.absent_record != number) return wrong("number");
  Life::Fetch& fetch = life_->fetches.emplace_back();
  fetch.copy = index;
  fetch.record = number;
  fetch.bytes.resize(record.absent_bytes);
  const Status status =
      life_->carrier->pull(kept_[index].name, number, fetch.bytes, [&fetch](bool is_complete) {
        fetch.is_over = true;
        fetch.is_complete = is_complete;
      });
  return status ? std::string() : status.error().text();
}

std::string SimNode::check_bounds() const {
  if (!life_) return {};
  for (const Life::Copy& copy : life_->copies)
    if (copy.writer->live_bytes() > copy_bytes_max)
      return fmt::format("a copy has {} bytes", copy.writer->live_bytes());
  if (life_->carrier->pulled_bytes() > pulled_bytes_max)
    return fmt::format("{} bytes are being pulled", life_->carrier->pulled_bytes());
  if (life_->carrier->faults(replication::FrameFault::malformed) != 0) return "a frame was malformed";
  return {};
}

bool SimNode::is_done() const {
  if (!life_ || !life_->fetches.empty() || !life_->carrier->is_idle()) return false;
  if (life_->carrier->held_datagrams() != 0) return false;
  std::size_t index = 0;
  for (const auto& own : life_->own)
    if (own.writer.published() < written_[index++].record_count) return false;
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (read_[i] < kept_[i].record_count || life_->copies[i].at != kept_[i].record_count + 1) {
      if (kept_[i].record_count > 0) return false;
    }
  return true;
}

std::string SimNode::describe() const {
  std::string text = fmt::format("endpoint {} incarnation {}:", own_, incarnation_);
  if (!life_) return text + " dead";
  std::size_t index = 0;
  for (const auto& own : life_->own)
    text += fmt::format(" wrote {} of {}", own.writer.published(), written_[index++].record_count);
  for (std::size_t i = 0; i < kept_.size(); ++i)
    text += fmt::format(" copied {} read {} of {}", life_->copies[i].writer->published(), read_[i],
                        kept_[i].record_count);
  return text + fmt::format(" fetches {} held {} idle {}", life_->fetches.size(),
                            life_->carrier->held_datagrams(), life_->carrier->is_idle());
}

Time SimNode::due() const { return life_ ? life_->carrier->due() : replication::never; }

}  // namespace llamada::sim
