#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "llamada/base/agreement_table.hpp"
#include "llamada/base/result.hpp"

// The messages between the driver and its applications, as pure functions over bytes. The format, and which
// descriptors travel with which message, is in docs/internals/driver-protocol.md.

namespace llamada::llamanet {

inline constexpr std::uint32_t message_magic = 0x444E4C4C;  // "LLND"
inline constexpr std::uint16_t protocol_version = 1;
inline constexpr std::size_t header_size_bytes = 16;
inline constexpr std::size_t message_size_bytes_max = 64 * 1024;
/// Slots of one `peers` message: two descriptors each, and the kernel passes at most 253.
inline constexpr std::uint32_t peers_count_max = 100;
inline constexpr std::uint32_t any_slot = 0xffffffff;
/// The driver itself, where a slot names an application: in `peers`, and as the writer in a cursor. It is in
/// no slot of its roster.
inline constexpr std::uint32_t driver_slot = 0x80000000;
/// Lines of the roster in one `rejoin` message: as many as one datagram holds beside the rest.
inline constexpr std::uint32_t roster_lines_max = 1600;

enum class MessageType : std::uint16_t {
  attach = 1,
  attached = 2,
  peers = 3,
  peers_are = 4,
  say = 5,
  inspect = 6,
  inspected = 7,
  error = 8,
  bye = 9,
  share = 10,
  shared = 11,
  release = 12,
  released = 13,
  spawn = 14,
  spawned = 15,
  name = 16,
  named = 17,
  lengthen = 18,
  lengthened = 19,
  reach = 20,
  reached = 21,
  rejoin = 22,
  part = 23,
  inject = 24,
  injected = 25,
  survey = 26,
  surveyed = 27,
  move = 28,
  moved = 29,
  book = 30,
  book_is = 31,
  agree = 32,
  agreed = 33,
  park = 34,
  woken = 35,
};

/// An application asks for a slot.
struct Attach {
  std::uint32_t pid = 0;  ///< as the application sees itself; the driver goes by SO_PEERCRED
  std::uint32_t slot = any_slot;
  std::uint64_t token = 0;
  std::string name;
  bool operator==(const Attach&) const = default;
};

/// Attached::flags: a job on several nodes, and three more descriptors.
inline constexpr std::uint32_t attached_has_book = 1;

/// The slot is yours. Descriptors: driver page (read-only), own arena (read-write), own eventfd; with
/// attached_has_book also the book (read-only) and the sockets for small frames and for bulk.
struct Attached {
  std::uint32_t slot = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t slot_count = 0;
  std::uint32_t flags = 0;
  std::string qos;
  std::string identity;
  bool operator==(const Attached&) const = default;
};

/// Asks for the arenas and eventfds of slots [first, first + count). `driver_slot`, with a count of 1: for
/// those of the driver itself.
struct Peers {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const Peers&) const = default;
};

/// What is known of one slot. When present, two descriptors travel along: arena (read-only), eventfd.
struct Peer {
  std::uint32_t incarnation = 0;
  std::uint32_t arena =
      0;  ///< the serial number of the slot's arena (PageSlot::arena); 0: none, no descriptors
  bool operator==(const Peer&) const = default;
};

struct PeersAre {
  std::uint32_t first = 0;
  std::vector<Peer> peers;
  bool operator==(const PeersAre&) const = default;
};

/// What the owner of the driver must know.
enum class SayKind : std::uint32_t {
  note = 1,
  abort = 2,
  diverged = 3,
  unprotected = 4,
  warning = 5,
  live = 6,
  damaged = 7,   ///< `code` is the slot whose arena is damaged, `text` how
  finalized = 8  ///< of a job on several nodes: the application waits at the end of MPI_Finalize
};

struct Say {
  SayKind kind = SayKind::note;
  std::int32_t code = 0;
  std::string text;
  bool operator==(const Say&) const = default;
};

struct Inspect {
  bool operator==(const Inspect&) const = default;
};

/// Descriptors: driver page (read-only).
struct Inspected {
  std::uint32_t slot_count = 0;
  std::string name;
  std::string profile;
  bool operator==(const Inspected&) const = default;
};

/// Why not. The connection ends.
struct ErrorMessage {
  Errc code = Errc::invalid_argument;
  std::string text;
  bool operator==(const ErrorMessage&) const = default;
};

struct Bye {
  bool operator==(const Bye&) const = default;
};

/// Asks for memory that all applications which name it share for writing: made, zeroed, for the first who
/// asks.
struct Share {
  std::uint64_t name = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const Share&) const = default;
};

/// The memory is yours too. Descriptor, when granted: the memory (read-write). Else why not; the connection
/// stays.
struct Shared {
  bool granted = true;
  Errc code = Errc::invalid_argument;  ///< when not granted
  std::string text;
  bool operator==(const Shared&) const = default;
};

/// The application has let go of the memory: with the last one it is gone.
struct Release {
  std::uint64_t name = 0;
  bool operator==(const Release&) const = default;
};

struct Released {
  bool operator==(const Released&) const = default;
};

/// One program to start, and how often.
struct SpawnCommand {
  std::uint32_t process_count = 0;
  std::string program;
  std::string working_directory;
  std::string search_path;  ///< directories with ':' between them, looked at before PATH; may be empty
  std::string host;         ///< where it is to run; empty: anywhere
  std::vector<std::string> arguments;  ///< without the program's name
  bool operator==(const SpawnCommand&) const = default;
};

/// Asks the driver's host for more applications: a world of their own, in slots that follow each other.
struct Spawn {
  std::vector<SpawnCommand> commands;
  bool operator==(const Spawn&) const = default;
};

/// They are started, in slots [first, first + count); or none is, and `error` says why.
struct Spawned {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::string error;
  bool operator==(const Spawned&) const = default;
};

/// Names that applications give to each other's knowledge. Each space has names of its own.
enum class NameSpace : std::uint32_t { services = 0, ports = 1 };
enum class NameAction : std::uint32_t { publish = 0, withdraw = 1, look_up = 2 };

struct Name {
  NameSpace space = NameSpace::services;
  NameAction action = NameAction::publish;
  std::string name;
  std::string value;  ///< of publish
  bool operator==(const Name&) const = default;
};

struct Named {
  Errc code = Errc::not_found;
  bool done = false;  ///< false: `code` is why not
  std::string value;  ///< of look_up
  bool operator==(const Named&) const = default;
};

/// What becomes of a number that applications of a job on several nodes share.
enum class MoveKind : std::uint32_t { read = 0, add = 1, set = 2, release = 3 };

/// Reads a shared number, moves it, or lets go of it. A number is 0 for the first who names it, and is gone
/// when all who have named it have let go of it, or have ended.
struct Move {
  std::uint64_t number = 0;     ///< which one
  std::uint64_t operation = 0;  ///< of this slot; the same once more changes nothing, and has the same answer
  MoveKind kind = MoveKind::read;
  std::uint64_t operand = 0;
  bool operator==(const Move&) const = default;
};

struct Moved {
  bool done = false;         ///< false: there are too many numbers
  std::uint64_t before = 0;  ///< what the number was
  bool operator==(const Moved&) const = default;
};

/// Members of a group in one agreement.
inline constexpr std::uint32_t agreement_members_max = 4096;

/// An application votes in an agreement of a group of slots, or asks again with the same vote. Other
/// applications vote the same way; those that die meanwhile are left out.
struct Agree {
  AgreementVote vote;
  bool operator==(const Agree&) const = default;
};

/// What was decided. Not yet: the application is to ask again when DriverPage::generation has changed.
struct Agreed {
  bool is_decided = false;
  AgreementDecision decision;
  bool operator==(const Agreed&) const = default;
};

/// Asks for the book of a job on several nodes as it is now: slots may have been added.
struct Book {
  bool operator==(const Book&) const = default;
};

/// Descriptor: the book (read-only).
struct BookIs {
  bool operator==(const BookIs&) const = default;
};

/// Asks the driver to make the file of the application's arena as long as the arena, where the application
/// itself may not.
struct Lengthen {
  bool operator==(const Lengthen&) const = default;
};

struct Lengthened {
  bool operator==(const Lengthened&) const = default;
};

/// The application has let go of the arena with this serial number, which was that of `slot`: it will have
/// nothing to do with it any more. No answer.
struct Part {
  std::uint32_t slot = 0;
  std::uint32_t arena = 0;
  bool operator==(const Part&) const = default;
};

/// A tool asks what the applications wait for: DriverPage::survey is raised, and all are awake.
struct Survey {
  bool operator==(const Survey&) const = default;
};
struct Surveyed {
  std::uint32_t number = 0;  ///< DriverPage::survey since
  bool operator==(const Surveyed&) const = default;
};

/// Where the replay of an application stands.
enum class ReplayPlace : std::uint32_t {
  last_call_begins = 1,  ///< the last MPI call that a predecessor began is about to begin
  last_call_ended = 2,   ///< it is over
  over = 3,              ///< the application does what no predecessor has done
  effect = 4,            ///< what it does next cannot be taken back: all that it has recorded must be kept
  output = 5,            ///< it asks how much it has written so far
  checkpoint = 6,        ///< all have written this checkpoint, which must be kept as the one to go on from
  restored = 7,          ///< it goes on from a checkpoint, before which it had written so much
  unusable = 8,  ///< it cannot go on from a checkpoint, whose file is damaged or gone; or from a standby
};

/// An application has come to this place, and waits there for the answer.
struct Reach {
  ReplayPlace place = ReplayPlace::over;
  bool is_single = false;                ///< the process has never had a second thread
  std::uint32_t number = 0;              ///< see docs/internals/driver-protocol.md
  std::uint64_t output = 0, errors = 0;  ///< of restored: bytes of standard output and standard error
  bool operator==(const Reach&) const = default;
};
/// It may go on.
struct Reached {
  std::uint64_t output = 0, errors = 0;  ///< the answer to output
  bool operator==(const Reached&) const = default;
};

/// A copy of the application of a slot, made by fork(), waits to be its successor: the answer comes when that
/// is wanted, and an attach may follow it on the same connection.
struct Park {
  std::uint32_t slot = 0;
  std::uint64_t token = 0;
  std::uint64_t call = 0;  ///< the MPI call at whose end it was made
  bool operator==(const Park&) const = default;
};
/// Descriptors: standard input, standard output and standard error of the successor.
struct Woken {
  bool operator==(const Woken&) const = default;
};

/// A tool asks the driver of a job for a failure, by a rule of mpirun's --inject; or to move ranks, by
/// a text of launcher/src/job_moves.hpp.
struct Inject {
  std::string rule;
  bool operator==(const Inject&) const = default;
};
/// It will happen, and `text` is the rule with the seed that was drawn, or what will happen; or `text` is why
/// not.
struct Injected {
  bool accepted = false;
  std::string text;
  bool operator==(const Injected&) const = default;
};

/// One line of the roster of a driver that has ended: an application that was attached.
struct RosterLine {
  std::uint32_t slot = 0;
  std::uint32_t arena = 0;  ///< its serial number
  std::uint32_t pid = 0;
  std::uint64_t process_start = 0;  ///< PageSlot::process_start
  bool operator==(const RosterLine&) const = default;
};

/// An application whose driver has ended joins the driver that replaces it, and keeps its arena. Descriptors:
/// own arena (read-write), own eventfd. The answer is Attached.
struct Rejoin {
  std::uint32_t slot = 0;   ///< the slot that it had
  std::uint32_t arena = 0;  ///< the serial number of its arena, which it keeps
  std::uint64_t arena_size_bytes = 0;
  std::uint64_t driver_start_ns = 0;  ///< DriverPage::start_ns of the driver that has ended
  std::uint32_t arena_last = 0;       ///< the last serial number that driver gave out
  std::string name;
  std::vector<RosterLine> roster;  ///< of that driver, this application included
  bool operator==(const Rejoin&) const = default;
};

using Message = std::variant<Attach, Attached, Peers, PeersAre, Say, Inspect, Inspected, ErrorMessage, Bye,
                             Share, Shared, Release, Released, Spawn, Spawned, Name, Named, Lengthen,
                             Lengthened, Reach, Reached, Rejoin, Part, Inject, Injected, Survey, Surveyed,
                             Move, Moved, Book, BookIs, Agree, Agreed, Park, Woken>;

struct Envelope {
  std::uint32_t request = 0;  ///< chosen by the asker, repeated in the answer
  Message message;
  bool operator==(const Envelope&) const = default;
};

/// The bytes of one datagram. Texts are cut to what fits into message_size_bytes_max, but those of a Spawn,
/// whose datagram may then be too long to be sent.
std::vector<std::byte> encode(const Envelope& envelope);

/// Fails with parse_error when the datagram is not exactly one well-formed message.
Result<Envelope> decode(std::span<const std::byte> datagram);

}  // namespace llamada::llamanet
