#include "llamada/waits/report.hpp"

#include <algorithm>
#include <utility>

#include "llamada/base/bytes.hpp"

namespace llamada::waits {
namespace {

constexpr std::uint8_t format_version = 1;

void put(ByteWriter& writer, const Ranks& ranks) {
  writer.number(static_cast<std::uint8_t>(ranks.is_everybody));
  writer.number(static_cast<std::uint8_t>(ranks.ranges.size()));
  for (const Ranks::Range& range : ranks.ranges) {
    writer.number(range.first);
    writer.number(range.count);
    writer.number(range.stride);
  }
}

Ranks get_ranks(ByteReader& reader) {
  Ranks ranks;
  ranks.is_everybody = reader.boolean();
  const auto count = reader.number<std::uint8_t>();
  reader.require(count <= Ranks::ranges_max);
  for (std::uint8_t i = 0; i < count && reader.ok(); ++i) {
    Ranks::Range range;
    range.first = reader.number<std::uint32_t>();
    range.count = reader.number<std::uint32_t>();
    range.stride = reader.number<std::uint32_t>();
    reader.require(range.stride > 0);
    ranks.ranges.push_back(range);
  }
  return ranks;
}

void put(ByteWriter& writer, const Awaited& awaited) {
  writer.number(static_cast<std::uint8_t>(awaited.kind));
  writer.number(awaited.peer);
  writer.number(awaited.tag);
  writer.number(awaited.bytes);
  put(writer, awaited.ranks);
  writer.number(awaited.communicator);
  writer.number(awaited.ordinal);
  writer.number(awaited.root);
  writer.text(awaited.operation);
  writer.text(awaited.name);
}

Awaited get_awaited(ByteReader& reader) {
  Awaited awaited;
  const auto kind = reader.number<std::uint8_t>();
  reader.require(kind <= static_cast<std::uint8_t>(last_kind));
  awaited.kind = static_cast<Kind>(kind);
  awaited.peer = reader.number<std::int32_t>();
  awaited.tag = reader.number<std::int32_t>();
  awaited.bytes = reader.number<std::uint64_t>();
  awaited.ranks = get_ranks(reader);
  awaited.communicator = reader.number<std::uint64_t>();
  awaited.ordinal = reader.number<std::uint32_t>();
  awaited.root = reader.number<std::int32_t>();
  awaited.operation = reader.text();
  awaited.name = reader.text();
  return awaited;
}

void put(ByteWriter& writer, const Unmatched& unmatched) {
  writer.number(unmatched.peer);
  writer.number(unmatched.tag);
  writer.number(unmatched.count);
  writer.text(unmatched.name);
}

Unmatched get_unmatched(ByteReader& reader) {
  Unmatched unmatched;
  unmatched.peer = reader.number<std::int32_t>();
  unmatched.tag = reader.number<std::int32_t>();
  unmatched.count = reader.number<std::uint32_t>();
  unmatched.name = reader.text();
  return unmatched;
}

void put(ByteWriter& writer, const Position& position) {
  writer.number(position.communicator);
  writer.number(position.ordinal);
  writer.number(static_cast<std::uint8_t>(position.has_more_called));
}

Position get_position(ByteReader& reader) {
  Position position;
  position.communicator = reader.number<std::uint64_t>();
  position.ordinal = reader.number<std::uint32_t>();
  position.has_more_called = reader.boolean();
  return position;
}

template <typename List>
void put_list(ByteWriter& writer, const List& list) {
  writer.number(static_cast<std::uint8_t>(list.size()));
  for (const auto& each : list) put(writer, each);
}

template <typename List, typename Get>
void get_list(ByteReader& reader, List& list, std::size_t most, Get get) {
  const auto count = reader.number<std::uint8_t>();
  reader.require(count <= most);
  for (std::uint8_t i = 0; i < count && reader.ok(); ++i) list.push_back(get(reader));
}

std::vector<std::byte> encode_whole(const Report& report) {
  ByteWriter writer;
  writer.number(format_version);
  writer.number(report.survey);
  writer.number(report.incarnation);
  writer.number(report.call);
  writer.number(report.call_index);
  writer.number(report.activity);
  writer.number(report.since_ns);
  for (const bool flag : {report.any_suffices, report.is_under_way, report.is_replaying,
                          report.has_other_threads, report.has_all_positions})
    writer.number(static_cast<std::uint8_t>(flag));
  for (const std::uint32_t count : {report.awaited_count, report.messages_count, report.receives_count})
    writer.number(count);
  put_list(writer, report.awaited);
  put_list(writer, report.messages);
  put_list(writer, report.receives);
  put_list(writer, report.positions);
  return writer.take();
}

/// Takes the last of the longest list away; false when all are empty.
bool shorten(Report& report) {
  const std::size_t longest = std::max(
      {report.awaited.size(), report.messages.size(), report.receives.size(), report.positions.size()});
  if (longest == 0) return false;
  if (report.positions.size() == longest) {
    report.positions.pop_back();
    report.has_all_positions = false;
  } else if (report.receives.size() == longest) {
    report.receives.pop_back();
  } else if (report.messages.size() == longest) {
    report.messages.pop_back();
  } else {
    report.awaited.pop_back();
  }
  return true;
}

}  // namespace

Ranks Ranks::of(std::span<const int> ranks) {
  Ranks all;
  for (std::size_t i = 0; i < ranks.size();) {
    if (all.ranges.size() == ranges_max) return everybody();
    Range range{static_cast<std::uint32_t>(ranks[i]), 1, 1};
    if (i + 1 < ranks.size() && ranks[i + 1] > ranks[i]) {
      range.stride = static_cast<std::uint32_t>(ranks[i + 1] - ranks[i]);
      while (i + range.count < ranks.size() &&
             ranks[i + range.count] == ranks[i] + static_cast<int>(range.count * range.stride))
        ++range.count;
    }
    i += range.count;
    all.ranges.push_back(range);
  }
  return all;
}

bool Ranks::contains(std::uint32_t rank) const {
  return is_everybody || std::any_of(ranges.begin(), ranges.end(), [rank](const Range& range) {
           if (rank < range.first || (rank - range.first) % range.stride != 0) return false;
           return (rank - range.first) / range.stride < range.count;
         });
}

void Report::add_awaited(Awaited one) {
  ++awaited_count;
  if (awaited.size() == awaited_max) return;
  one.name.resize(std::min(one.name.size(), name_bytes_max));
  awaited.push_back(std::move(one));
}

void Report::add(std::vector<Unmatched>& list, std::uint32_t& count, std::int32_t peer, std::int32_t tag,
                 const std::string& name) {
  ++count;
  const std::string shown = name.substr(0, name_bytes_max);
  for (Unmatched& each : list) {
    if (each.peer != peer || each.tag != tag || each.name != shown) continue;
    ++each.count;
    return;
  }
  if (list.size() < unmatched_max) list.push_back({peer, tag, 1, shown});
}

std::vector<std::byte> encode(Report report, std::size_t bytes_max) {
  auto bytes = encode_whole(report);
  while (bytes.size() > bytes_max && shorten(report)) bytes = encode_whole(report);
  return bytes;
}

Result<Report> decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  reader.require(reader.number<std::uint8_t>() == format_version);
  Report report;
  report.survey = reader.number<std::uint32_t>();
  report.incarnation = reader.number<std::uint32_t>();
  report.call = reader.number<std::uint32_t>();
  report.call_index = reader.number<std::uint64_t>();
  report.activity = reader.number<std::uint64_t>();
  report.since_ns = reader.number<std::int64_t>();
  for (bool* flag : {&report.any_suffices, &report.is_under_way, &report.is_replaying,
                     &report.has_other_threads, &report.has_all_positions})
    *flag = reader.boolean();
  for (std::uint32_t* count : {&report.awaited_count, &report.messages_count, &report.receives_count})
    *count = reader.number<std::uint32_t>();
  get_list(reader, report.awaited, awaited_max, get_awaited);
  get_list(reader, report.messages, unmatched_max, get_unmatched);
  get_list(reader, report.receives, unmatched_max, get_unmatched);
  get_list(reader, report.positions, positions_max, get_position);
  if (!reader.is_complete()) return failure(Errc::parse_error, "a rank's report of its wait is malformed");
  return report;
}

}  // namespace llamada::waits
