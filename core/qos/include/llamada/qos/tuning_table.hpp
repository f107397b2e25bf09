#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The tuning of a job of ranks: settings that change how fast it is and how much memory it takes, and never
// what it computes. This table names them for everybody who sets or shows them: PROPERTY in a profile, mpirun
// --set, llamada qos check and the control variables of MPI_T.
namespace llamada::qos {

enum class TuningId : std::uint8_t {
  eager_bytes_max,
  direct_bytes_min,
  log_bytes_max,
  bulk_piece_bytes,
  collective_piece_bytes,
  collective_log_bytes_max,
  receive_before_send,
  collective_barrier,
  spin_rounds,
  yields_before_sleep,
};
inline constexpr std::size_t tuning_count = 10;

/// All names begin so; a PROPERTY with another name belongs to somebody else.
inline constexpr std::string_view tuning_prefix = "llamada_";

enum class TuningUnit : std::uint8_t { bytes, count, yes_or_no };

struct TuningVariable {
  TuningId id;
  const char* name;         ///< "llamada_eager_bytes_max"
  const char* description;  ///< Whole sentences.
  TuningUnit unit;
  std::uint64_t start;  ///< The value where nobody sets another.
  std::uint64_t least;
  std::uint64_t most;
};

namespace tuning_detail {

inline constexpr std::uint64_t kib = 1024, mib = kib * kib, gib = kib * mib;
inline constexpr std::uint64_t rounds_max = 1'000'000'000;

}  // namespace tuning_detail

/// In the order of TuningId.
inline constexpr std::array<TuningVariable, tuning_count> tuning_table{{
    {TuningId::eager_bytes_max, "llamada_eager_bytes_max",
     "The eager limit: up to so many bytes a message lies whole in the sender's log. A longer one follows "
     "after "
     "the match, unless histories are kept. At most an eighth of llamada_log_bytes_max.",
     TuningUnit::bytes, 64 * tuning_detail::kib, 0, 128 * tuning_detail::mib},
    {TuningId::direct_bytes_min, "llamada_direct_bytes_min",
     "The direct limit: from so many bytes on a message without gaps goes from memory to memory after the "
     "match, where histories are not kept and the system allows it.",
     TuningUnit::bytes, 64 * tuning_detail::kib, 0, tuning_detail::mib* tuning_detail::gib},
    {TuningId::log_bytes_max, "llamada_log_bytes_max",
     "Flow control: how many bytes for one receiver may wait to be taken, where histories are not kept. A "
     "message beyond them waits in its sender.",
     TuningUnit::bytes, 512 * tuning_detail::kib, 64 * tuning_detail::kib, tuning_detail::gib},
    {TuningId::bulk_piece_bytes, "llamada_bulk_piece_bytes",
     "The size of the pieces in which a long message follows after the match, where it cannot go from memory "
     "to memory. Four pieces of it are under way at most.",
     TuningUnit::bytes, 64 * tuning_detail::kib, 4 * tuning_detail::kib, 4 * tuning_detail::mib},
    {TuningId::collective_piece_bytes, "llamada_collective_piece_bytes",
     "The size of the pieces in which a collective passes long data on through the logs.", TuningUnit::bytes,
     64 * tuning_detail::kib, 16 * tuning_detail::kib, tuning_detail::mib},
    {TuningId::collective_log_bytes_max, "llamada_collective_log_bytes_max",
     "Flow control of collectives: how many bytes of one member may wait to be taken by the others, where "
     "histories are not kept.",
     TuningUnit::bytes, tuning_detail::mib, 64 * tuning_detail::kib, tuning_detail::gib},
    {TuningId::receive_before_send, "llamada_receive_before_send",
     "Whether a rank takes in what others have sent to it before each point-to-point message that it sends.",
     TuningUnit::yes_or_no, 0, 0, 1},
    {TuningId::collective_barrier, "llamada_collective_barrier",
     "Whether each blocking collective begins with a barrier, so that no member gets ahead of the others.",
     TuningUnit::yes_or_no, 0, 0, 1},
    {TuningId::spin_rounds, "llamada_spin_rounds",
     "How often a waiting rank looks for news before it yields the processor. Left out, it is 0 where ranks "
     "outnumber cores.",
     TuningUnit::count, 2000, 0, tuning_detail::rounds_max},
    {TuningId::yields_before_sleep, "llamada_yields_before_sleep",
     "How often a waiting rank yields the processor before it sleeps.", TuningUnit::count, 1000, 0,
     tuning_detail::rounds_max},
}};

constexpr const TuningVariable& tuning_variable(TuningId id) {
  return tuning_table[static_cast<std::size_t>(id)];
}

}  // namespace llamada::qos
