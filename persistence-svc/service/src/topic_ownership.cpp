// OWNERSHIP EXCLUSIVE (DDS 1.4, 2.2.3.9): of an instance's writers only the strongest is kept, as readers
// hear it. Who claims an instance lies in the store, so that a service that starts again knows it, also of
// SHARED writers that no longer have the samples that show it.
#include <algorithm>

#include "topic_keeper.hpp"

namespace llamada::service {

/// A RELIABLE KEEP_ALL writer gives back the memory of what is kept. All others show again what they write.
bool TopicKeeper::has_claims(const Writer& writer) {
  const qos::DataWriterQos& offer = writer.qos.datawriter;
  return is_exclusive(writer.qos) || (offer.reliability.kind == qos::ReliabilityKind::reliable &&
                                      offer.history.kind == qos::HistoryKind::keep_all);
}

bool TopicKeeper::is_heard(const topics::Guid& guid, std::uint64_t instance) const {
  const std::uint32_t index = indices_.at(guid);
  const Writer& writer = writers_[index];
  if (!is_exclusive(writer.qos)) return true;
  const auto& claims = claims_.of(instance);
  return std::none_of(claims.begin(), claims.end(), [&](const Claims::Claim& claim) {
    const Writer& other = writers_[claim.writer];
    return claim.writer != index && other.rank.outranks(writer.rank) &&
           has_all_readers_of(other.qos, writer.qos);
  });
}

/// False: its item does not fit into the batch, or onto the disk.
bool TopicKeeper::claim(std::uint32_t index, std::uint64_t instance, std::int64_t time_ns) {
  Writer& writer = writers_[index];
  if (!has_claims(writer) || claims_.has(instance, index)) return true;
  if (writer.record == 0)  // it has the policies
    if (auto recorded = record(writer); !recorded) return refuse(recorded.error());
  const auto head = encode_head(KeptClaim{writer.guid, writer.rank.participant});
  store::Item item;
  item.stream = stream_;
  item.number = next_number_;
  item.group = instance;
  item.kind = item_claim;
  item.time_ns = time_ns;
  item.head = head;
  if (auto appended = store_.append(item); !appended) return refuse(appended.error());
  claims_.add(instance, {index, next_number_++});
  return true;
}

/// BY_SOURCE_TIMESTAMP: the heir of an instance says, or had said before, what is known of the one before it.
bool TopicKeeper::is_said_again(std::uint64_t instance, const KeptHistory::Entry& entry) const {
  if (!entry.by_source || !is_exclusive(writers_[entry.writer].qos)) return false;
  const KeptHistory::Entry* newest = history_.newest(instance);
  return newest != nullptr && newest->writer != entry.writer &&
         entry.source_timestamp_ns <= newest->source_timestamp_ns;
}

void TopicKeeper::claims_end(Claims::Items items) {
  ended_claims_.insert(ended_claims_.end(), items.begin(), items.end());
}

Status TopicKeeper::load_claim(const store::Item& item) {
  auto kept = decode_claim(item);
  if (!kept) return propagate(kept);
  const std::uint32_t index = index_of(kept->writer);
  writers_[index].rank.participant = kept->participant;
  writers_[index].last_word_ns = std::max(writers_[index].last_word_ns, item.time_ns);
  if (const std::uint64_t before = claims_.add(item.group, {index, item.number}); before != 0)
    claims_end({before});
  return {};
}

void TopicKeeper::writer_lapsed(const topics::Guid& guid) {
  const std::uint32_t index = index_of(guid);
  history_.writer_gone(index, clock_.monotonic().count());
  claims_end(claims_.remove_all(index));
}

void TopicKeeper::settle_strengths() {
  for (Writer& writer : writers_)
    if (writer.is_here) writer.rank.set(writer.qos.datawriter.ownership_strength.value);
}

std::vector<topics::Guid> TopicKeeper::absent_claimants() const {
  std::vector<topics::Guid> absent;
  for (const auto& [guid, index] : indices_)
    if (!writers_[index].is_here && claims_.count(index) > 0) absent.push_back(guid);
  return absent;
}

bool TopicKeeper::lacks_owner() const {
  return std::any_of(indices_.begin(), indices_.end(), [this](const auto& each) {
    const Writer& writer = writers_[each.second];
    return !writer.is_here && is_exclusive(writer.qos) && claims_.count(each.second) > 0;
  });
}

std::int64_t TopicKeeper::last_word_ns(const topics::Guid& guid) const {
  const auto found = indices_.find(guid);
  return found == indices_.end() ? INT64_MIN : writers_[found->second].last_word_ns;
}

void TopicKeeper::forget_claims() {
  claims_.for_each([&](std::uint64_t, const Claims::Claim& claim) { claims_end({claim.item}); });
  claims_ = {};
}

std::vector<TopicKeeper::Judged> TopicKeeper::judged(const IsWanted& is_wanted) const {
  std::vector<Judged> all;
  std::map<std::uint32_t, std::size_t> places;
  for (const auto& [guid, index] : indices_) {
    const Writer& writer = writers_[index];
    if (!has_claims(writer) || writer.seen.last() == 0 || !is_wanted(guid, writer.qos)) continue;
    const bool is_over = writer.is_deleted && writer.kept_count == 0 && !is_exclusive(writer.qos);
    if (is_over) continue;
    places[index] = all.size();
    all.push_back({guid, writer.seen.last(), {}});
  }
  claims_.for_each([&](std::uint64_t instance, const Claims::Claim& claim) {
    if (const auto place = places.find(claim.writer); place != places.end())
      all[place->second].claimed.push_back(instance);
  });
  return all;
}

}  // namespace llamada::service
