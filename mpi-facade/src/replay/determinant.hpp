#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "llamada/log/journal.hpp"

/// The outcomes that a program could not have foretold, and how they lie in the journal:
/// docs/internals/determinants.md.
namespace llamada::mpi::replay {

/// What kind of call had an outcome.
enum class CallKind : std::uint8_t {
  waitany = 1,
  waitsome,
  test,
  testany,
  testsome,
  testall,
  get_status,
  cancel,
  probe,
  mprobe,
  iprobe,
  improbe,
};
std::string_view to_string(CallKind kind);

/// Whether such a call may find nothing and return.
constexpr bool may_be_fruitless(CallKind kind) {
  return (kind >= CallKind::test && kind <= CallKind::get_status) || kind >= CallKind::iprobe;
}

/// What a value is of.
enum class ValueId : std::uint32_t {
  wtime = 1,
  time = 2,
  gettimeofday = 3,
  pid = 4,
  cpu = 5,
  file_opened = 7,     ///< what came of opening a file
  append_digest = 8,   ///< of what is appended: its CRC-32C << 32 | its length
  append_begin = 9,    ///< the file's size before
  append_end = 10,     ///< the descriptor's offset behind it, or why it is not there
  file_end = 11,       ///< what a question for the end of a file that is open for writing was answered
  stream_buffer = 12,  ///< the size of the buffer that a stream was given
  clock_base = 16,     ///< and the clock's id modulo 2^16 behind it
  user_time = 0x20000,
  system_time,
  children_user_time,
  children_system_time,
  thread_user_time,
  thread_system_time,
  times,
  times_user,
  times_system,
  times_children_user,
  times_children_system,
  file_call = 0x30000,   ///< a call on the file system is about to change something: its kind << 32 | digest
  file_before,           ///< what the call found there
  file_outcome,          ///< what came of the call
  files_since,           ///< files that were changed after this time may change again (nanoseconds)
  input_read = 0x40000,  ///< what came of a read from standard input
  wait_outcome,          ///< what came of a call that waits (poll, nanosleep, ...), if it told nothing more
  signal,                ///< a signal's handler was called: its number | place << 8 | ordinal << 16
  checkpoint_written =
      0x50000,        ///< 1: this rank has written the checkpoint that it was asked for; 0: it has not
  checkpoint_passed,  ///< its number; what follows in the journal is what the rank did behind it
};

/// Which message a wildcard receive took.
struct Match {
  int source = 0;
  std::uint64_t ordinal = 0;
  bool operator==(const Match&) const = default;
};

/// One outcome, or a run of equal ones.
struct Outcome {
  enum class Type : std::uint8_t { fruitless, completion, message, cancelled, value, bytes };

  Type type = Type::fruitless;
  CallKind kind = CallKind::test;      ///< completion, message
  std::uint64_t count = 1;             ///< fruitless, value: how many times in a row
  std::vector<std::uint32_t> indices;  ///< completion
  Match message;                       ///< message
  std::uint64_t post_index = 0;        ///< cancelled
  ValueId id = ValueId::wtime;         ///< value
  std::uint64_t value = 0;             ///< value
  std::vector<std::byte> bytes;        ///< bytes
  bool operator==(const Outcome&) const = default;
};

inline log::JournalEntry match_entry(std::uint64_t post_index, const Match& match) {
  return {1U | static_cast<std::uint32_t>(match.source) << 8, static_cast<std::uint32_t>(post_index),
          match.ordinal << 16 | (post_index >> 32 & 0xffff)};
}
constexpr log::JournalEntry fruitless_entry() { return {3, 1, 0}; }
log::JournalEntry message_entry(CallKind kind, const Match& message);
log::JournalEntry cancelled_entry(std::uint64_t post_index);
log::JournalEntry value_entry(ValueId id, std::uint64_t value);
/// One entry, and as many more as the indices or bytes need.
std::vector<log::JournalEntry> completion_entries(CallKind kind, std::span<const std::uint32_t> indices);
std::vector<log::JournalEntry> bytes_entries(std::span<const std::byte> bytes);

/// Whether the entry is a run that one more of the same kind only lengthens.
inline bool is_fruitless(const log::JournalEntry& entry) {
  return (entry.head & 0xff) == fruitless_entry().head && entry.count != 0xffffffff;
}
bool is_value(const log::JournalEntry& entry, ValueId id, std::uint64_t value);
/// Of whatever value: a run, too.
bool is_value(const log::JournalEntry& entry);

}  // namespace llamada::mpi::replay
