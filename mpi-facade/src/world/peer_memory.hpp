#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace llamada::mpi {

/// What became of a copy from or to another process's memory.
enum class Reached {
  done,
  gone,    ///< there is no such process any more
  refused  ///< not allowed here, or there is no such memory: errno says why
};

/// One copy between this process and another of the same user on this machine (process_vm_readv(2)). Other
/// copies of the same bytes at the same time are the caller's to prevent.
///
/// Any thread.
Reached read_memory(int process, std::uint64_t address, std::span<std::byte> to);
Reached write_memory(int process, std::uint64_t address, std::span<const std::byte> from);

/// What lies in one piece at both ends.
struct PeerPiece {
  std::byte* own;
  std::uint64_t others;  ///< address
  std::size_t bytes;
};
/// The same for several pieces, as far as possible in one system call.
Reached read_memory(int process, std::span<const PeerPiece> pieces);
Reached write_memory(int process, std::span<const PeerPiece> pieces);

/// The process's id, as the kernel knows it.
int own_process();

/// What another process needs to find out whether it reaches this one's memory: a process that has the same
/// number in another namespace has another word there.
struct ProcessCard {
  std::uint64_t process = 0;        ///< own_process()
  std::uint64_t probe_address = 0;  ///< there lies, in that process,
  std::uint64_t probe_value = 0;    ///< this
  bool operator==(const ProcessCard&) const = default;
};
/// This process's. From then on the processes of this user may reach its memory, where the system leaves that
/// to each process (Yama's ptrace_scope 1).
const ProcessCard& own_card();
/// In a child of fork() that goes on as the rank, before it has a second thread: another card from now on.
void renew_own_card();
/// Whether the process that gave this card is within reach: reads its word.
bool is_reached(const ProcessCard& card);

/// is_reached(), found out once for each card that a peer gives: a replacement gives another one.
class KnownReach {
 public:
  bool of(const ProcessCard& card) {
    if (!(card == card_)) set(card, is_reached(card));
    return reached_;
  }
  void set(const ProcessCard& card, bool reached) {
    card_ = card;
    reached_ = reached;
  }
  /// What was found, if anything was.
  bool yes() const { return reached_; }
  bool no() const { return card_.process != 0 && !reached_; }

 private:
  ProcessCard card_;
  bool reached_ = false;
};

}  // namespace llamada::mpi
