#include "job_past.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <utility>

#include "llamada/base/bytes.hpp"

namespace llamada::launcher {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error no_job(const std::string& why) {
  return Error(Errc::parse_error, fmt::format("the record of the job is damaged: {}", why));
}

/// Reads the streams one after another. The first error ends it.
class PastReader {
 public:
  PastReader(const store::Store& store, const OutputSizes& given) : store_(store), given_(given) {}

  Result<JobPast> read_plan() {
    for (const store::StreamInfo& stream : store_.streams()) ids_[stream.name] = stream.id;
    if (!ids_.contains(job_stream::plan)) return failure(Errc::not_found, "it contains no job");
    each(job_stream::plan, [this](const store::Item& item) { take_plan(item); });
    each(job_stream::end, [this](const store::Item& item) { past_.end = text_of(item.body); });
    each(job_stream::cuts, [this](const store::Item& item) { take_cut(item); });
    each(job_stream::code, [this](const store::Item& item) { past_.code.push_back(text_of(item.body)); });
    if (status_ && past_.plan.rank_count == 0) return failure(Errc::not_found, "it contains no job");
    return result();
  }

  Result<JobPast> read() {
    if (auto plan = read_plan(); !plan) return plan;
    past_.ranks.resize(past_.plan.rank_count);
    // Of any cut: it follows from one before.
    each(job_stream::gap, [this](const store::Item& item) { take_gap(item); });
    each(job_stream::output_gap, [this](const store::Item& item) { take_output_gap(item); });
    for (const RankJournal journal : {RankJournal::outcomes, RankJournal::ledger})
      each_of_cut(stream_of(journal), [this, journal](const store::Item& item) {
        if (auto* rank = rank_of(item.group - 1)) take_entries(journal_of(*rank, journal), item, journal);
      });
    each_of_cut(job_stream::output, [this](const store::Item& item) {
      const std::uint64_t stream = (item.group - 1) % 2;
      if (auto* rank = rank_of((item.group - 1) / 2))
        take_output(rank->shown[stream], rank->shown_gap[stream], item);
    });
    each_of_cut(job_stream::input, [this](const store::Item& item) {
      past_.input += text_of(item.body);
      past_.input_has_ended |= item.body.empty();
    });
    each_of_cut(job_stream::checkpoint, [this](const store::Item& item) {
      past_.checkpoint = std::max(past_.checkpoint, static_cast<std::uint32_t>(item.group));
    });
    each_of_cut(job_stream::numbers, [this](const store::Item& item) { take_numbers(item); });
    each_of_cut(job_stream::process, [this](const store::Item& item) { take_process(item); });
    if (status_) cut_output();
    return result();
  }

 private:
  using OnItem = std::function<void(const store::Item&)>;

  Result<JobPast> result() {
    if (!status_) return propagate(status_);
    return past_;
  }

  void fail(const std::string& why) {
    if (status_) status_ = tl::unexpected<Error>(no_job(why));
  }

  void each(const char* name, const OnItem& take) {
    const auto id = ids_.find(name);
    if (!status_ || id == ids_.end()) return;
    const auto read = store_.read(id->second, 0, [&](const store::Item& item) {
      take(item);
      return status_.has_value();
    });
    if (status_ && !read) status_ = tl::unexpected<Error>(read.error().within("the record of the job"));
  }

  /// Items of a cut that is not whole do not count.
  void each_of_cut(const char* name, const OnItem& take) {
    each(name, [&](const store::Item& item) {
      if (static_cast<std::uint64_t>(item.time_ns) <= past_.last_cut) take(item);
    });
  }

  JobPast::Rank* rank_of(std::uint64_t rank) {
    if (rank < past_.ranks.size()) return &past_.ranks[rank];
    fail(fmt::format("it has data of rank {}, and the job has no such rank", rank));
    return nullptr;
  }

  void take_plan(const store::Item& item) {
    control::Decoder decoder;
    decoder.append(item.body);
    auto message = decoder.next();
    auto* start = message && *message ? std::get_if<control::Start>(&**message) : nullptr;
    if (start == nullptr) return fail("its plan cannot be read");
    past_.plan = std::move(*start);
  }

  void take_cut(const store::Item& item) {
    past_.last_cut = item.number;
    auto sizes = sizes_in(item);
    if (!sizes) return fail("a cut cannot be read");
    past_.confirmed = std::move(*sizes);
  }

  static JobPast::Journal& journal_of(JobPast::Rank& rank, RankJournal journal) {
    return journal == RankJournal::outcomes ? rank.outcomes : rank.ledger;
  }

  void take_gap(const store::Item& item) {
    JobPast::Rank* const rank = rank_of((item.group - 1) / 2);
    ByteReader body(item.body);
    body.number<std::uint64_t>();
    body.number<std::uint64_t>();
    const auto checkpoint = static_cast<std::uint32_t>(body.number<std::uint64_t>());
    const auto gap = gap_in(item);
    if (!gap || !body.ok()) return fail("it cannot be read what of a journal is kept");
    past_.checkpoint_min = std::max(past_.checkpoint_min, checkpoint);
    if (rank) journal_of(*rank, static_cast<RankJournal>((item.group - 1) % 2)).gap = *gap;
  }

  void take_entries(JobPast::Journal& journal, const store::Item& item, RankJournal which) {
    auto piece = piece_in(item, which);
    if (!piece) return fail(piece.error().text());
    std::uint64_t index = piece->first;
    bool is_first = true;
    for (const log::JournalEntry& entry : piece->entries) {
      // A death may have left a part of the gap.
      if (journal.gap.has(index++)) continue;
      const std::uint64_t place = journal.gap.place_of(index - 1);
      // What was told before may have changed since.
      if (place > journal.entries.size()) return fail("a part of a journal is missing");
      if (std::exchange(is_first, false)) journal.entries.resize(place);
      journal.entries.push_back(entry);
    }
  }

  void take_output_gap(const store::Item& item) {
    JobPast::Rank* const rank = rank_of((item.group - 1) / 2);
    const auto gap = gap_in(item);
    if (!gap) return fail("it cannot be read what of the output is kept");
    if (rank) rank->shown_gap[(item.group - 1) % 2] = *gap;
  }

  void take_output(std::string& written, const Gap& gap, const store::Item& item) {
    ByteReader head(item.head);
    const auto first = head.number<std::uint64_t>();
    if (!head.ok()) return fail("a part of the output has no place");
    const std::string bytes = text_of(item.body);
    const std::uint64_t end = first + bytes.size();
    // An item may reach into the gap, from both sides.
    if (gap.size() == 0 || first < gap.begin)
      put_output(written, first, bytes.substr(0, gap.size() == 0 ? bytes.npos : gap.begin - first));
    if (gap.size() > 0 && (end > gap.end || first >= gap.end)) {
      const std::uint64_t behind = std::max(first, gap.end);
      put_output(written, gap.place_of(behind), bytes.substr(behind - first));
    }
  }

  /// What is there already is written once more, with the same bytes.
  void put_output(std::string& written, std::uint64_t place, const std::string& bytes) {
    if (place > written.size()) return fail("a part of the output is missing");
    written.resize(std::max<std::size_t>(written.size(), place + bytes.size()));
    written.replace(place, bytes.size(), bytes);
  }

  void take_numbers(const store::Item& item) {
    auto numbers = numbers_in(item);
    if (!numbers) return fail(numbers.error().text());
    past_.numbers = std::move(*numbers);
  }

  void take_process(const store::Item& item) {
    JobPast::Rank* const rank = rank_of(item.group - 1);
    const std::string text = text_of(item.body);
    const std::size_t blank = text.find(' ');
    if (rank == nullptr) return;
    if (blank == text.npos ||
        std::from_chars(text.data(), text.data() + blank, rank->first_pid).ptr != text.data() + blank)
      return fail("the process of a rank cannot be read");
    rank->host = text.substr(blank + 1);
  }

  /// Of what ranks wrote only what was shown counts: the rest is shown when they write it again.
  void cut_output() {
    for (std::uint64_t rank = 0; rank < past_.ranks.size(); ++rank)
      for (const std::uint64_t stream : {1, 2}) {
        const std::uint64_t group = 2 * rank + stream;
        std::string& written = past_.ranks[rank].shown[stream - 1];
        const auto found = past_.confirmed.find(group);
        const std::uint64_t shown = found == past_.confirmed.end() ? 0 : found->second;
        const Gap& gap = past_.ranks[rank].shown_gap[stream - 1];
        const std::uint64_t all = written.size() + gap.size();
        if (shown > all) return fail("it says that mpirun showed more output than the ranks wrote");
        const auto given = given_.find(group);
        const std::uint64_t end = given == given_.end() ? shown : std::min<std::uint64_t>(given->second, all);
        if (end < gap.end) return fail("output that was not shown is missing");
        const std::uint64_t kept = gap.place_of(end);
        past_.ranks[rank].written_behind[stream - 1] = written.substr(kept);
        written.resize(kept);
      }
  }

  const store::Store& store_;
  const OutputSizes& given_;
  std::map<std::string, store::StreamId, std::less<>> ids_;
  JobPast past_;
  Status status_;
};

}  // namespace

Result<OutputSizes> sizes_in(const store::Item& item) {
  OutputSizes sizes;
  ByteReader body(item.body);
  while (body.ok() && body.left_bytes() > 0) {
    const auto group = body.number<std::uint64_t>();
    sizes[group] = body.number<std::uint64_t>();
  }
  if (!body.ok()) return failure(Errc::parse_error, "sizes of output are cut off");
  return sizes;
}

std::vector<std::byte> bytes_of(const OutputSizes& sizes) {
  ByteWriter body;
  for (const auto& [group, size_bytes] : sizes) {
    body.number(group);
    body.number(size_bytes);
  }
  return body.take();
}

Result<SharedNumbers> numbers_in(const store::Item& item) {
  SharedNumbers numbers;
  ByteReader body(item.body);
  while (body.ok() && body.left_bytes() > 0) {
    SharedNumber& number = numbers[body.number<std::uint64_t>()];
    number.value = body.number<std::uint64_t>();
    for (auto left = body.number<std::uint64_t>(); left > 0 && body.ok(); --left) {
      SharedNumber::Last& last = number.members[static_cast<std::uint32_t>(body.number<std::uint64_t>())];
      last.operation = body.number<std::uint64_t>();
      last.before = body.number<std::uint64_t>();
    }
  }
  if (!body.ok()) return failure(Errc::parse_error, "the numbers that ranks share are cut off");
  return numbers;
}

std::vector<std::byte> bytes_of(const SharedNumbers& numbers) {
  ByteWriter body;
  for (const auto& [name, number] : numbers) {
    body.number(name);
    body.number(number.value);
    body.number(std::uint64_t{number.members.size()});
    for (const auto& [slot, last] : number.members) {
      body.number(std::uint64_t{slot});
      body.number(last.operation);
      body.number(last.before);
    }
  }
  return body.take();
}

Result<Gap> gap_in(const store::Item& item) {
  ByteReader body(item.body);
  const Gap gap{body.number<std::uint64_t>(), body.number<std::uint64_t>()};
  if (!body.ok() || gap.end < gap.begin) return failure(Errc::parse_error, "a gap cannot be read");
  return gap;
}

Result<JournalPiece> piece_in(const store::Item& item, RankJournal journal) {
  JournalPiece piece{static_cast<std::uint32_t>(item.group - 1), journal, 0, {}};
  ByteReader head(item.head), body(item.body);
  piece.first = head.number<std::uint64_t>();
  if (!head.ok()) return failure(Errc::parse_error, "a part of a journal has no place");
  while (body.ok() && body.left_bytes() > 0) {
    log::JournalEntry& entry = piece.entries.emplace_back();
    entry.head = body.number<std::uint32_t>();
    entry.count = body.number<std::uint32_t>();
    entry.value = body.number<std::uint64_t>();
  }
  if (!body.ok()) return failure(Errc::parse_error, "an entry of a journal is cut off");
  return piece;
}

std::uint64_t JobPast::outcome_count() const {
  return std::accumulate(
      ranks.begin(), ranks.end(), std::uint64_t{0},
      [](std::uint64_t sum, const Rank& rank) { return sum + rank.outcomes.entries.size(); });
}

Result<JobPast> read_past(const store::Store& store, const OutputSizes& given) {
  return PastReader(store, given).read();
}

Result<JobPast> read_plan(const store::Store& store) { return PastReader(store, {}).read_plan(); }

}  // namespace llamada::launcher
