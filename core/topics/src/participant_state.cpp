#include "participant_state.hpp"

#include <algorithm>

#include "description.hpp"
#include "llamada/base/random.hpp"
#include "llamada/topics/service_role.hpp"

namespace llamada::topics::detail {
namespace {

/// "RELIABLE KEEP_ALL TRANSIENT_LOCAL".
template <typename Qos>
std::string short_text(const Qos& qos) {
  return fmt::format("{} {} {}", qos::to_string(qos.reliability.kind), qos::to_string(qos.history.kind),
                     qos::to_string(qos.durability.kind));
}

template <typename Qos>
EndpointSketch sketch_of(const Qos& qos) {
  EndpointSketch sketch;
  sketch.reliability = static_cast<std::uint8_t>(qos.reliability.kind);
  sketch.durability = static_cast<std::uint8_t>(qos.durability.kind);
  return sketch;
}

}  // namespace

ParticipantState::ParticipantState(Transport& transport, const Clock& clock, ParticipantOptions options,
                                   DiscoveryEvents* discovery)
    : transport(transport),
      clock(clock),
      options(std::move(options)),
      discovery(discovery),
      directory(transport.arena()) {}

ParticipantState::~ParticipantState() {
  LLAMADA_CHECK(writers.empty() && readers.empty());
  for (auto& stream : retired_streams) stream->evacuate(Stream::Out::all);
  drop_retired_streams();
  if (has_entry) directory.remove(entry);
  transport.wake_all();
}

ParticipantInfo ParticipantState::own_info() const {
  ParticipantInfo info;
  info.domain = options.domain;
  info.name = options.name;
  info.user_data = options.user_data;
  info.guid = guid_;
  info.keeps_topics = options.keeps_topics;
  return info;
}

Status ParticipantState::describe() {
  auto described = directory.describe(entry, encode_participant(own_info()));
  transport.wake_all();
  return described;
}

Status ParticipantState::ensure_announced() {
  if (has_entry) return {};
  guid_ = make_guid();
  EndpointSketch sketch;
  sketch.kind = log::EndpointKind::participant;
  sketch.topic = options.name;
  auto added = directory.add(sketch, encode_participant(own_info()));
  if (!added) return propagate(added);
  entry = *added;
  has_entry = true;
  own_entry().asserted_ns.store(now_ns(), std::memory_order_release);
  own_entry().asserted_manually_ns.store(now_ns(), std::memory_order_release);
  transport.wake_all();
  unsettle();
  return {};
}

/// A number that no other participant has ever had: the time, the process and the arena make it.
std::uint64_t ParticipantState::make_guid() const {
  std::uint64_t guid = Random(static_cast<std::uint64_t>(clock.realtime().count())).next();
  guid = Random(guid ^ transport.arena().header().pid.load(std::memory_order_relaxed)).next();
  return Random(guid ^ own_arena_id()).next() | 1;
}

Result<std::uint32_t> ParticipantState::announce(const EndpointSpec& spec, const StorePlace& place) {
  if (auto announced = ensure_announced(); !announced) return propagate(announced);
  EndpointSketch sketch = spec.qos.writer ? sketch_of(spec.qos.datawriter) : sketch_of(spec.qos.datareader);
  const std::string text =
      spec.qos.writer ? short_text(spec.qos.datawriter) : short_text(spec.qos.datareader);
  sketch.kind = spec.qos.writer ? log::EndpointKind::writer : log::EndpointKind::reader;
  sketch.log = place.log;
  sketch.slots = place.slots;
  sketch.topic = spec.topic;
  sketch.type = spec.type;
  sketch.qos = text;
  // What is for one reader only is of no use to late readers after a death.
  if (spec.only_with) sketch.durability = static_cast<std::uint8_t>(qos::DurabilityKind::volatile_);
  auto added = directory.add(sketch, encode_endpoint(spec));
  if (added) transport.wake_all();
  unsettle();
  return added;
}

Status ParticipantState::announce_change(std::uint32_t entry, EndpointSpec changed, EndpointSpec& spec) {
  if (auto changeable = qos::check_changeable(spec.qos, changed.qos); !changeable) return changeable;
  if (auto described = directory.describe(entry, encode_endpoint(changed)); !described) return described;
  spec = std::move(changed);
  unsettle();
  transport.wake_all();
  return {};
}

void ParticipantState::assert_manually() {
  own_entry().asserted_manually_ns.store(now_ns(), std::memory_order_release);
  unsettle();
}

void ParticipantState::due_by(std::int64_t time_ns) {
  std::int64_t due = next_due_ns.load(std::memory_order_relaxed);
  while (time_ns < due && !next_due_ns.compare_exchange_weak(due, time_ns, std::memory_order_relaxed)) {
  }
}

const PeerView* ParticipantState::view_of(std::uint32_t slot, std::uint32_t arena_id) const {
  return slot < peers_.size() && peers_[slot].id == arena_id ? &peers_[slot] : nullptr;
}

void ParticipantState::note(Status status) {
  if (!status && failed_) failed_ = std::move(status);
}

Status ParticipantState::poll() {
  if (!failed_) return failed_;
  if (is_settled() && drain_settled()) return {};
  return look_at_all();
}

/// Whether nothing has changed since the last look at everything, and nothing is due. A few loads.
bool ParticipantState::is_settled() const {
  if (!settled_ || !has_seen_all()) return false;
  const std::int64_t due_ns = next_due_ns.load(std::memory_order_relaxed);
  return due_ns == never_ns || now_ns() < due_ns;
}

/// False: a stream is damaged.
bool ParticipantState::drain_settled() {
  drain();
  for (WriterImplementation* writer : writers) {
    writer->keep_acknowledged();
    writer->give_back();
  }
  return std::none_of(order_.begin(), order_.end(),
                      [](const Stream* stream) { return stream->is_damaged(); });
}

/// Whether, unless something changes, the next poll() has only to look at what arrives.
bool ParticipantState::can_settle() const {
  if (!retired_writers.empty() || !retired_streams.empty()) return false;
  for (const PeerView& view : peers_)
    if (view.id != 0 && (!view.arena.ready() || view.changes_seen == UINT64_MAX)) return false;
  return std::none_of(writers.begin(), writers.end(),
                      [](const auto* writer) { return writer->wants_look(); }) &&
         std::none_of(readers.begin(), readers.end(),
                      [](const auto* reader) { return reader->wants_look(); });
}

Status ParticipantState::look_at_all() {
  settled_ = false;
  if (auto announced = ensure_announced(); !announced) return announced;
  roster_seen_ = transport.roster_changes();
  if (auto changed = transport.poll(); !changed) return propagate(changed);
  own_entry().asserted_ns.store(now_ns(), std::memory_order_release);
  look_at_peers();
  if (!readers.empty()) {
    const Services found = services();
    for (ReaderImplementation* reader : readers) reader->look_at_services(found.serving, found.has_standby);
  }
  judge_new();
  bury_retired();
  drain();
  for (ReaderImplementation* reader : readers) reader->drop_finished();
  drop_retired_streams();
  keep_time();
  if (!needs_old_arenas()) transport.release_replaced();
  settled_ = can_settle();
  watched_.clear();
  for (const PeerView& view : peers_)
    if (view.id != 0) watched_.push_back({&view.arena.header().changes, view.changes_seen});
  for (WriterImplementation* writer : writers) writer->give_back();
  return failed_;
}

// Who is there.

void ParticipantState::look_at_peers() {
  const std::uint32_t count = transport.slot_count();  // it grows meanwhile: the rest with the next poll
  peers_.resize(std::max<std::size_t>(peers_.size(), count));
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    PeerView& view = peers_[slot];
    const Transport::Peer peer = transport.peer(slot);
    if (peer.id != view.id) {
      if (view.id != 0) leave(view, slot);
      view = PeerView{};
      view.id = peer.id;
      view.arena = peer.arena;
    }
    if (view.id == 0 || !view.arena.ready()) continue;
    if (view.alive && !peer.alive) {
      leave(view, slot);
      view.alive = false;
      view.changes_seen = UINT64_MAX;
    }
    look_at(view, slot);
  }
}

bool ParticipantState::is_service(const PeerView& view) const {
  return view.id != 0 && view.id != own_arena_id() && view.alive && view.has_participant &&
         view.participant.keeps_topics;
}

/// The participants that keep topics, but for the own one.
ParticipantState::Services ParticipantState::services() const {
  Services found;
  for (const PeerView& view : peers_) {
    if (!is_service(view)) continue;
    if (service_role(view.participant) == ServiceRole::serves)
      found.serving.push_back(view.id);
    else
      found.has_standby = true;
  }
  return found;
}

bool ParticipantState::has_service() const {
  return options.keeps_topics ||
         std::any_of(peers_.begin(), peers_.end(), [this](const PeerView& view) { return is_service(view); });
}

/// Its application is no longer there, whatever is left of its arena.
void ParticipantState::leave(PeerView& view, std::uint32_t slot) {
  drop_matches(slot, view, true);
  const auto mark = [&](Stream& stream) {
    if (stream.origin().slot == slot && stream.origin().arena_id == view.id) stream.gone = true;
  };
  for (ReaderImplementation* reader : readers)
    for (const auto& stream : reader->streams()) mark(*stream);
  for (const auto& stream : retired_streams) mark(*stream);
  announce_gone(view);
}

void ParticipantState::announce_gone(PeerView& view) {
  if (!std::exchange(view.announced, false) || discovery == nullptr) return;
  for (const auto& [number, remote] : view.endpoints) discovery->on_endpoint_gone(remote.info.id);
  discovery->on_participant_gone(view.id);
}

void ParticipantState::look_at(PeerView& view, std::uint32_t slot) {
  // Pairs with the release in EndpointDirectory::announce(): what it counts can be seen.
  const std::uint64_t changes = view.arena.header().changes.load(std::memory_order_acquire);
  if (changes == view.changes_seen) return;
  view.changes_seen = changes;
  if (!look_at_participant(view, slot)) return;
  look_at_endpoints(view, slot);
  if (!view.alive) return;
  drop_matches(slot, view, false);
  look_at_matches(view, slot);
  look_at_grants(view, slot);
}

/// False when there is none of this domain (yet).
bool ParticipantState::look_at_participant(PeerView& view, std::uint32_t slot) {
  for (std::uint32_t index = 0; index < view.arena.endpoint_count(); ++index) {
    const auto entry = view_endpoint(view.arena, index);
    if (!entry || !entry->alive || entry->kind != log::EndpointKind::participant) continue;
    if (view.has_participant && view.participant_word == entry->description) return true;
    std::uint64_t word = 0;
    const auto bytes = read_description(view.arena, index, word);
    auto info = bytes ? decode_participant(*bytes) : failure(Errc::would_block, "it is being changed");
    if (!bytes) view.changes_seen = UINT64_MAX;  // until the next change that is announced
    if (!info || info->domain != options.domain) return false;
    info->id = view.id;
    info->slot = slot;
    info->pid = view.arena.header().pid.load(std::memory_order_relaxed);
    view.has_participant = true;
    view.participant_index = index;
    view.participant_word = word;
    view.participant = std::move(*info);
    if (!view.alive) return true;
    view.announced = true;
    if (discovery != nullptr) discovery->on_participant(view.participant);
    return true;
  }
  if (view.has_participant && view.alive) {
    drop_matches(slot, view, true);
    announce_gone(view);
    view.has_participant = false;
    view.endpoints.clear();
  }
  return false;
}

void ParticipantState::look_at_endpoints(PeerView& view, std::uint32_t slot) {
  std::map<std::uint64_t, RemoteEndpoint> seen;
  for (std::uint32_t index = 0; index < view.arena.endpoint_count(); ++index)
    look_at_endpoint(view, slot, index, seen);
  // What is left has not been seen again.
  if (discovery != nullptr && view.announced)
    for (const auto& [number, remote] : view.endpoints) discovery->on_endpoint_gone(remote.info.id);
  view.endpoints = std::move(seen);
}

void ParticipantState::look_at_endpoint(PeerView& view, std::uint32_t slot, std::uint32_t index,
                                        std::map<std::uint64_t, RemoteEndpoint>& seen) {
  const auto entry = view_endpoint(view.arena, index);
  if (!entry || !entry->alive || entry->kind == log::EndpointKind::participant) return;
  auto known = view.endpoints.extract(entry->number);
  if (known && known.mapped().view.description == entry->description) {
    seen.insert(std::move(known));
    return;
  }
  RemoteEndpoint remote{{}, index, *entry};
  const auto bytes = read_description(view.arena, index, remote.view.description);
  if (!bytes) {  // it is being changed: with the next change that is announced
    if (known) seen.insert(std::move(known));
    view.changes_seen = UINT64_MAX;
    return;
  }
  auto info = decode_endpoint(*bytes);
  if (!info) return;  // of another version, or damaged: nobody's match
  info->id = {view.id, static_cast<std::uint32_t>(entry->number)};
  info->slot = slot;
  info->pid = view.arena.header().pid.load(std::memory_order_relaxed);
  info->guid = {view.participant.guid, entry->number};
  remote.info = std::move(*info);
  if (discovery != nullptr && view.announced)
    known ? discovery->on_endpoint_changed(remote.info) : discovery->on_endpoint(remote.info);
  if (discovery != nullptr && !view.alive && remote.info.writer) discovery->on_left_behind(remote.info);
  judge(view, slot, remote);
  seen.emplace(entry->number, std::move(remote));
}

// Who fits whom.

void ParticipantState::judge(PeerView& view, std::uint32_t slot, const RemoteEndpoint& remote) {
  if (!remote.info.writer) {
    if (view.alive)
      for (WriterImplementation* writer : writers)
        if (!writer->judge_all) writer->consider(remote.info);
    return;
  }
  const StreamOrigin origin{slot, view.id, view.arena, remote.index, remote.view};
  for (ReaderImplementation* reader : readers)
    if (!reader->judge_all) note(reader->consider(origin, remote.info, view.alive));
}

/// Shows those that are new here, or have changed, all that was there before.
void ParticipantState::judge_new() {
  for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) {
    const PeerView& view = peers_[slot];
    for (const auto& [number, remote] : view.endpoints) {
      const StreamOrigin origin{slot, view.id, view.arena, remote.index, remote.view};
      if (remote.info.writer) {
        for (ReaderImplementation* reader : readers)
          if (reader->judge_all) note(reader->consider(origin, remote.info, view.alive));
      } else if (view.alive) {
        for (WriterImplementation* writer : writers)
          if (writer->judge_all) writer->consider(remote.info);
      }
    }
  }
  for (ReaderImplementation* reader : readers) reader->judge_all = false;
  for (WriterImplementation* writer : writers) writer->judge_all = false;
}

void ParticipantState::drop_matches(std::uint32_t slot, const PeerView& view, bool all) {
  const auto is_over = [&](const WriterMatch& match) {
    if (match.slot != slot || match.arena_id != view.id) return false;
    // Pairs with the release store in EndpointDirectory::remove_match(): the reader has let go.
    return all || match.entry->number.load(std::memory_order_acquire) != match.match_number;
  };
  // A reader whose application said that it deleted it before it went has not died.
  for (WriterImplementation* writer : writers)
    writer->unmatch(
        [&](const WriterMatch& match) {
          return is_over(match) && match.entry->number.load(std::memory_order_acquire) != match.match_number;
        },
        false);
  if (all)
    for (WriterImplementation* writer : writers) writer->unmatch(is_over, true);
  for (RetiredWriter& retired : retired_writers)
    std::erase_if(retired.matches, [&](const WriterMatch& match) {
      if (!is_over(match)) return false;
      retired.store->remove_reader(*match.entry);
      directory.remove_grant(match.grant);
      return true;
    });
}

void ParticipantState::look_at_matches(PeerView& view, std::uint32_t slot) {
  for (std::uint32_t index = 0; index < view.arena.match_count(); ++index) {
    const auto entry = view_match(view.arena, index);
    if (!entry || entry->target.writer_arena != own_arena_id()) continue;
    const auto number = entry->target.writer_number;
    const auto found = std::find_if(writers.begin(), writers.end(),
                                    [&](auto* writer) { return writer->id().endpoint == number; });
    if (found == writers.end() || (*found)->is_matched(view.id, entry->number)) continue;
    const auto reader = view.endpoints.find(entry->target.reader_number);
    if (reader == view.endpoints.end()) {  // deleted meanwhile, or being changed
      continue;
    }
    WriterMatch match;
    match.slot = slot;
    match.arena_id = view.id;
    match.match_index = index;
    match.match_number = entry->number;
    match.entry = &view.arena.match(index);
    match.reliable = (entry->target.flags & log::match_is_reliable) != 0;
    match.reader = reader->second.info.id;
    note((*found)->match(match, reader->second.info, (entry->target.flags & log::match_wants_history) != 0));
  }
}

void ParticipantState::look_at_grants(PeerView& view, std::uint32_t slot) {
  for (std::uint32_t index = 0; index < view.arena.grant_count(); ++index) {
    const auto grant = view_grant(view.arena, index);
    if (!grant || grant->reader_arena != own_arena_id()) continue;
    for (ReaderImplementation* reader : readers)
      for (const auto& stream : reader->streams()) {
        if (stream->started() || stream->origin().slot != slot || stream->origin().arena_id != view.id)
          continue;
        const log::MatchEntry& match = directory.match(stream->match_index());
        if (stream->match_index() == grant->match_index &&
            match.number.load(std::memory_order_relaxed) == grant->match_number)
          reader->start(*stream, &*grant);
      }
  }
}

// What arrives.

void ParticipantState::sort_streams() {
  order_.clear();
  for (ReaderImplementation* reader : readers)
    for (const auto& stream : reader->streams()) order_.push_back(stream.get());
  // TRANSPORT_PRIORITY (DDS 1.4, 2.2.3.15).
  std::stable_sort(order_.begin(), order_.end(), [](const Stream* left, const Stream* right) {
    return left->writer.qos.datawriter.transport_priority.value >
           right->writer.qos.datawriter.transport_priority.value;
  });
  order_changed = false;
}

void ParticipantState::drain() {
  if (order_changed) sort_streams();
  for (Stream* stream : order_) {
    if (stream->misfit) continue;
    stream->absorb();
    if (stream->due_ns() != never_ns) due_by(stream->due_ns());
  }
}

// What ends.

void ParticipantState::bury_retired() {
  std::erase_if(retired_writers, [&](RetiredWriter& retired) {
    if (!retired.matches.empty()) return false;
    retired.store->discard();
    directory.remove(retired.entry);
    return true;
  });
}

void ParticipantState::drop_retired_streams() {
  std::erase_if(retired_streams, [&](const std::unique_ptr<Stream>& stream) {
    if (stream->has_samples_out()) return false;
    directory.remove_match(stream->match_index());
    if (!stream->gone) transport.wake(stream->origin().slot);
    return true;
  });
}

bool ParticipantState::needs_old_arenas() const {
  const auto is_gone = [](const auto& stream) { return stream->gone; };
  if (std::any_of(retired_streams.begin(), retired_streams.end(), is_gone)) return true;
  return std::any_of(readers.begin(), readers.end(), [&](const ReaderImplementation* reader) {
    return std::any_of(reader->streams().begin(), reader->streams().end(), is_gone);
  });
}

void ParticipantState::keep_time() {
  next_due_ns.store(never_ns, std::memory_order_relaxed);
  const std::int64_t now = now_ns();
  for (WriterImplementation* writer : writers) due_by(writer->keep_time(now));
  for (ReaderImplementation* reader : readers) due_by(reader->keep_time(now));
  due_by(keeper_watch.keep_time(now, has_service(), options.domain));
}

}  // namespace llamada::topics::detail
