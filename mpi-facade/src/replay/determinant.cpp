#include "replay/determinant.hpp"

#include <cstring>

namespace llamada::mpi::replay {

using topics::JournalEntry;

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

std::vector<JournalEntry> bytes_entries(std::span<const std::byte> bytes) {
  std::vector<JournalEntry> entries;
  std::size_t done = 0;
  do {
    std::uint64_t eight = 0;
    const std::size_t size = std::min<std::size_t>(8, bytes.size() - done);
    if (size > 0) std::memcpy(&eight, bytes.data() + done, size);
    const auto count = static_cast<std::uint32_t>(bytes.size());
    entries.push_back(done == 0 ? JournalEntry{8, count, eight} : JournalEntry{9, 0, eight});
    done += 8;
  } while (done < bytes.size());
  return entries;
}

bool is_value(const JournalEntry& entry, ValueId id, std::uint64_t value) {
  return entry.head == (7U | static_cast<std::uint32_t>(id) << 8) && entry.value == value &&
         entry.count != 0xffffffff;
}

}  // namespace llamada::mpi::replay
