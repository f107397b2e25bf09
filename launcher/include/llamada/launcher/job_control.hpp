#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "llamada/launcher/links.hpp"
#include "llamada/launcher/stream_decoder.hpp"

// The messages between mpirun and the llamanetd of its job, as pure functions over bytes. The format is in
// docs/internals/job-control.md.

namespace llamada::launcher::control {

/// Bytes of one output or stdin message.
inline constexpr std::size_t part_size_bytes_max = std::size_t{64} * 1024;

/// A node of a job on several.
struct Node {
  std::string name;  ///< as the user wrote it
  /// What llamanetd executes to have a llamanetd there, but for that one's arguments ("ssh", "n2",
  /// "/usr/bin/llamanetd"). Empty: this is llamanetd's own node. With adopted ranks: only not empty.
  std::vector<std::string> agent;
  std::uint32_t slots = 1;      ///< how many ranks it is for
  std::uint32_t max_slots = 0;  ///< more never run there; 0: no limit
  std::string place{};          ///< where the user wrote it, "hosts:3"; empty: not in a file
  bool operator==(const Node&) const = default;
};

/// Of a job with DURABILITY PERSISTENT: where what it goes on from is kept, and what mpirun --resume needs.
/// Of any job whose ranks are replaced: where they write checkpoints.
struct Storing {
  std::string checkpoints;               ///< a directory of this job alone; empty: nowhere
  std::string directory;                 ///< of this job alone; empty: nothing is kept on a disk
  std::uint8_t is_resumed = 0;           ///< it goes on from there
  std::uint64_t token = 0;               ///< that the ranks were told; 0: none yet
  std::vector<std::string> words;        ///< mpirun's arguments
  std::vector<std::string> environment;  ///< mpirun's own
  std::string working_directory;         ///< mpirun's own
  std::uint32_t file_mode_mask = 022;
  std::string processor;  ///< describe_processor()
  bool operator==(const Storing&) const = default;
};

/// mpirun → llamanetd, the first message: the job.
struct Start {
  std::uint32_t rank_count = 0;
  /// 64 random bits that name the job, see job_number_text(). The same for all incarnations of its ranks.
  std::uint64_t job_number = 0;
  std::string program;  ///< the file to execute
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  ///< "NAME=value", what all ranks have in common
  std::string working_directory;         ///< empty: where llamanetd stands
  std::string profile;                   ///< qos::serialize()
  std::string profile_label;             ///< as the user named it
  std::vector<std::string> inject_rules;
  std::string crash_point_library_directory;
  std::uint8_t binding = 0;          ///< what each rank is bound to: a CpuLevel, of its node's CPUs
  std::uint8_t mapping = 0;          ///< and a CpuLevel in which they are spread
  std::uint8_t report_bindings = 0;  ///< mpirun is told which CPUs each rank may run on
  std::uint8_t print_exit_codes = 0;
  std::uint8_t verbose = 0;
  std::uint8_t ends_at_deadlock = 0;        ///< a job whose ranks can never go on is ended
  std::vector<Node> nodes;                  ///< empty: all ranks run on this machine
  std::vector<std::string> programs;        ///< with nodes: all files that ranks execute
  std::vector<std::uint32_t> node_of_rank;  ///< by rank: index in `nodes`; empty without them
  LinkWish link = LinkWish::automatic;      ///< with nodes
  std::uint8_t deals_by_node = 0;           ///< spawned ranks go to the nodes in turn, and not slot by slot
  std::uint8_t is_adopted = 0;    ///< another launcher has started the ranks; llamanetds come by themselves
  std::uint8_t checks_nodes = 0;  ///< with nodes: only they are looked at, and no rank runs
  Storing storing;
  std::vector<Node> spares;  ///< hosts without ranks, which take the places of nodes that are lost
  bool operator==(const Start&) const = default;
};
/// The node that needs no agent, since it is mpirun's own host; one behind the last: there is none.
std::uint32_t own_node_of(const std::vector<Node>& nodes);
/// The node of a rank: 0 in a job on one.
std::uint32_t node_of(const Start& job, std::uint32_t rank);
/// How many ranks of the node come before this one, and how many it has.
std::uint32_t rank_on_node(const Start& job, std::uint32_t rank);
std::uint32_t ranks_on_node_of(const Start& job, std::uint32_t rank);
/// The name of each rank's node; empty in a job on one.
std::vector<std::string> hosts_of_ranks(const Start& job);

/// mpirun → llamanetd: bytes for the standard input of rank 0. An empty one is its end.
struct Input {
  std::string bytes;
  bool operator==(const Input&) const = default;
};
/// mpirun → llamanetd: a signal that the user sent, for all ranks.
struct Signal {
  std::int32_t number = 0;
  bool operator==(const Signal&) const = default;
};
/// mpirun → llamanetd: the job must end. `kill`: at once, by SIGKILL. `explain`: mpirun is to be told first
/// what the ranks wait for.
struct End {
  std::int32_t exit_code = 0;
  std::uint8_t kill = 0;
  std::uint8_t explain = 0;
  bool operator==(const End&) const = default;
};

/// llamanetd → mpirun: bytes of rank 0's standard input have been taken; as many more may come.
struct InputTaken {
  std::uint64_t size_bytes = 0;
  bool operator==(const InputTaken&) const = default;
};
/// llamanetd → mpirun: what a rank wrote. An empty one is the end of that stream.
struct Output {
  std::uint32_t rank = 0;
  std::uint8_t stream = 1;  ///< 1 standard output, 2 standard error
  std::string bytes;
  bool operator==(const Output&) const = default;
};
/// llamanetd → mpirun: text for the user, whole lines.
struct Notice {
  std::string text;
  bool operator==(const Notice&) const = default;
};
/// llamanetd → mpirun, the last message: all ranks are gone.
struct Finished {
  std::int32_t exit_code = 0;
  std::string report;  ///< JSON without the fields that mpirun knows better
  bool operator==(const Finished&) const = default;
};

/// llamanetd → mpirun: ranks [first, first + count) are those of spawned world `number`; before their output.
struct World {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t number = 0;
  std::vector<std::string> hosts;  ///< the name of each one's node; empty in a job on one
  bool operator==(const World&) const = default;
};

/// llamanetd → mpirun: mpirun kills itself (SIGKILL), for a test.
struct Die {
  bool operator==(const Die&) const = default;
};

/// mpirun → llamanetd, of a job that outlives its processes: so much of a rank's output is shown, or in its
/// file.
struct OutputShown {
  std::uint32_t rank = 0;
  std::uint8_t stream = 1;  ///< 1 standard output, 2 standard error
  std::uint64_t size_bytes = 0;
  bool operator==(const OutputShown&) const = default;
};

using Message =
    std::variant<Start, Input, Signal, End, InputTaken, Output, Notice, Finished, World, Die, OutputShown>;

std::vector<std::byte> encode(const Message& message);

using Decoder = StreamDecoder<Message>;

}  // namespace llamada::launcher::control
