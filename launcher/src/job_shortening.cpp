#include "job_shortening.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "llamada/base/bytes.hpp"

namespace llamada::launcher {

Status JobShortening::go_on(const JobPast& past) {
  checkpoint_min_ = past.checkpoint_min;
  shown_ = past.confirmed;
  const auto is_whole = [&past](const store::Item& item) {
    return static_cast<std::uint64_t>(item.time_ns) <= past.last_cut;
  };
  Status status;
  for (const RankJournal journal : {RankJournal::outcomes, RankJournal::ledger}) {
    const auto read = streams_.read(stream_of(journal), [&](const store::Item& item) {
      if (!is_whole(item)) return;
      auto piece = piece_in(item, journal);
      if (piece)
        journals_.add(*piece, item.number);
      else if (status)
        status = propagate(piece);
    });
    if (status) status = read;
  }
  const auto read_all = [&](const char* name, const std::function<void(const store::Item&)>& take) {
    if (status) status = streams_.read(name, take);
  };
  read_all(job_stream::checkpoint, [&](const store::Item& item) {
    if (auto written = sizes_in(item); written && is_whole(item))
      has_checkpoint(
          {static_cast<std::uint32_t>(item.group), item.number, past.last_cut, std::move(*written)});
  });
  read_all(job_stream::output, [&](const store::Item& item) {
    ByteReader head(item.head);
    const auto first = head.number<std::uint64_t>();
    if (is_whole(item)) note_output(item.group, {item.number, {first, first + item.body.size()}});
  });
  for (const char* name : {job_stream::gap, job_stream::output_gap})
    read_all(name, [&](const store::Item& item) { gaps_[{name, item.group}] = item.number; });
  return status;
}

void JobShortening::has(const JournalPiece& piece) {
  journals_.add(piece, streams_.last(stream_of(piece.journal)));
}

void JobShortening::has_output(std::uint64_t group, const Gap& bytes) {
  note_output(group, {streams_.last(job_stream::output), bytes});
}

/// What was written before the first checkpoint is never dropped.
void JobShortening::note_output(std::uint64_t group, const OutputItem& item) {
  if (first_written_) output_[group].push_back(item);
}

void JobShortening::has_checkpoint(std::uint32_t number, const OutputSizes& written) {
  has_checkpoint({number, streams_.last(job_stream::checkpoint), streams_.next_cut(), written});
}

void JobShortening::has_checkpoint(Checkpoint checkpoint) {
  // One that was written once more, since a rank had not passed it, is no later one.
  if (!checkpoints_.empty() && checkpoints_.back().number >= checkpoint.number) return;
  if (!first_written_) first_written_ = checkpoint.written;
  checkpoints_.push_back(std::move(checkpoint));
}

Status JobShortening::shorten() {
  const auto is_kept = [this](const Checkpoint& each) { return each.cut < streams_.next_cut(); };
  Status status;
  // The job may have to go back to the second last one. The first one says where the beginning ends.
  while (status && checkpoints_.size() > 3 && is_kept(checkpoints_[3])) {
    status = streams_.drop(job_stream::checkpoint, checkpoints_[1].item);
    checkpoints_.erase(checkpoints_.begin() + 1);
  }
  if (!status || checkpoints_.size() < 3 || !is_kept(checkpoints_[2])) return status;
  const Checkpoint& from = checkpoints_[1];
  if (std::exchange(shortened_to_, from.number) == from.number) return status;
  for (const KeptJournals::Drop& each : journals_.drop_before(from.number))
    if (status) status = drop(each, from.number);
  return status ? drop_output(from.written) : status;
}

/// The gap is told before it comes, so that a start in between passes over what is still there.
Status JobShortening::tell_gap(const char* stream, std::uint64_t group, std::span<const std::byte> body) {
  if (auto status = streams_.append(stream, group, {}, body); !status) return status;
  const std::uint64_t before = std::exchange(gaps_[{stream, group}], streams_.last(stream));
  return before == 0 ? Status() : streams_.drop(stream, before);
}

Status JobShortening::drop(const KeptJournals::Drop& what, std::uint32_t checkpoint) {
  ByteWriter body;
  body.number(what.gap.begin);
  body.number(what.gap.end);
  body.number(std::uint64_t{checkpoint});
  checkpoint_min_ = checkpoint;
  const std::uint64_t group = 2 * std::uint64_t{what.rank} + static_cast<std::uint64_t>(what.journal) + 1;
  Status status = tell_gap(job_stream::gap, group, body.written());
  for (const std::uint64_t item : what.items)
    if (status) status = streams_.drop(stream_of(what.journal), item);
  return status;
}

/// What a rank wrote before its first checkpoint it writes again, and so what it wrote behind this one.
Status JobShortening::drop_output(const OutputSizes& written) {
  const auto size_in = [](const OutputSizes& sizes, std::uint64_t group) {
    const auto found = sizes.find(group);
    return found == sizes.end() ? std::uint64_t{0} : found->second;
  };
  Status status;
  for (auto& [group, items] : output_) {
    const auto begin = first_written_->find(group);
    if (begin == first_written_->end()) continue;
    const Gap gap{begin->second, std::min(size_in(written, group), size_in(shown_, group))};
    const auto is_needed = [&gap](const OutputItem& item) {
      return item.bytes.begin < gap.begin || item.bytes.end > gap.end;
    };
    const auto over = std::stable_partition(items.begin(), items.end(), is_needed);
    if (over == items.end()) continue;
    ByteWriter body;
    body.number(gap.begin);
    body.number(gap.end);
    if (status) status = tell_gap(job_stream::output_gap, group, body.written());
    for (auto item = over; item != items.end(); ++item)
      if (status) status = streams_.drop(job_stream::output, item->number);
    items.erase(over, items.end());
  }
  return status;
}

}  // namespace llamada::launcher
