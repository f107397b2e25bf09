#include "replay/determinant.hpp"

#include <cstring>

namespace llamada::mpi::replay {

using log::JournalEntry;

std::string_view to_string(CallKind kind) {
  switch (kind) {
    case CallKind::waitany:
      return "MPI_Waitany";
    case CallKind::waitsome:
      return "MPI_Waitsome";
    case CallKind::test:
      return "MPI_Test";
    case CallKind::testany:
      return "MPI_Testany";
    case CallKind::testsome:
      return "MPI_Testsome";
    case CallKind::testall:
      return "MPI_Testall";
    case CallKind::get_status:
      return "MPI_Request_get_status";
    case CallKind::cancel:
      return "MPI_Cancel";
    case CallKind::probe:
      return "MPI_Probe";
    case CallKind::mprobe:
      return "MPI_Mprobe";
    case CallKind::iprobe:
      return "MPI_Iprobe";
    case CallKind::improbe:
      return "MPI_Improbe";
  }
  return "a call";
}

JournalEntry message_entry(CallKind kind, const Match& message) {
  return {6U | static_cast<std::uint32_t>(kind) << 8, static_cast<std::uint32_t>(message.source),
          message.ordinal};
}

JournalEntry cancelled_entry(std::uint64_t post_index) {
  return {2, static_cast<std::uint32_t>(post_index), post_index >> 32};
}

JournalEntry value_entry(ValueId id, std::uint64_t value) {
  return {7U | static_cast<std::uint32_t>(id) << 8, 1, value};
}

std::vector<JournalEntry> completion_entries(CallKind kind, std::span<const std::uint32_t> indices) {
  auto at = [&](std::size_t i) { return i < indices.size() ? indices[i] : 0U; };
  auto two = [&](std::size_t i) { return std::uint64_t{at(i)} | std::uint64_t{at(i + 1)} << 32; };
  std::vector<JournalEntry> entries;
  entries.push_back(
      {4U | static_cast<std::uint32_t>(kind) << 8, static_cast<std::uint32_t>(indices.size()), two(0)});
  for (std::size_t i = 2; i < indices.size(); i += 3) entries.push_back({5, at(i), two(i + 1)});
  return entries;
}

// The first entry has 8 of the bytes, those behind it 12 each.
std::vector<JournalEntry> bytes_entries(std::span<const std::byte> bytes) {
  std::vector<JournalEntry> entries;
  JournalEntry first{8, static_cast<std::uint32_t>(bytes.size()), 0};
  const std::size_t begin = std::min<std::size_t>(sizeof first.value, bytes.size());
  if (begin > 0) std::memcpy(&first.value, bytes.data(), begin);
  entries.reserve(1 + (bytes.size() - begin + 11) / 12);
  entries.push_back(first);
  for (std::size_t done = begin; done < bytes.size(); done += 12) {
    std::byte twelve[12] = {};
    std::memcpy(twelve, bytes.data() + done, std::min<std::size_t>(sizeof twelve, bytes.size() - done));
    JournalEntry more{9, 0, 0};
    std::memcpy(&more.value, twelve, sizeof more.value);
    std::memcpy(&more.count, twelve + sizeof more.value, sizeof more.count);
    entries.push_back(more);
  }
  return entries;
}

bool is_value(const JournalEntry& entry, ValueId id, std::uint64_t value) {
  return entry.head == (7U | static_cast<std::uint32_t>(id) << 8) && entry.value == value &&
         entry.count != 0xffffffff;
}

bool is_value(const JournalEntry& entry) { return (entry.head & 0xff) == (value_entry({}, 0).head & 0xff); }

}  // namespace llamada::mpi::replay
