#include "llamada/base/clock.hpp"
#include "p2p/api_common.hpp"

// MPI_Wtime and MPI_Wtick (MPI 3.1, 8.6). Where outcomes are recorded the tick is a microsecond, so that a
// program that asks again and again records one entry for each.

using namespace llamada;
using namespace llamada::mpi;

namespace {

constexpr std::uint64_t recorded_tick_ns = 1000;
constexpr double seconds_per_ns = 1e-9;

}  // namespace

LLAMADA_MPI_FUNCTION(Wtime)
double PMPI_Wtime(void) {
  LLAMADA_MPI_ENTER(Wtime);
  const auto now = static_cast<std::uint64_t>(SystemClock().monotonic().count());
  auto& determinants = engine().determinants();
  if (!determinants.recording()) return static_cast<double>(now) * seconds_per_ns;
  const auto value =
      determinants.read_clock(replay::ValueId::wtime, now / recorded_tick_ns * recorded_tick_ns);
  return static_cast<double>(value) * seconds_per_ns;
}

LLAMADA_MPI_FUNCTION(Wtick)
double PMPI_Wtick(void) {
  LLAMADA_MPI_ENTER(Wtick);
  return (engine().determinants().recording() ? static_cast<double>(recorded_tick_ns) : 1.0) * seconds_per_ns;
}
