#include "p2p/describe_rank.hpp"

#include <fmt/format.h>

#include "runtime/runtime.hpp"

namespace llamada::mpi {

std::string describe_rank(const World& world) {
  std::string rank = fmt::format("rank {} (incarnation {})", world.rank(), world.incarnation());
  const Runtime* runtime = runtime_if_any();
  if (!runtime || runtime->calls.current() == CallId::none) return rank;
  return fmt::format("{}, {} call {}", rank, call_name(runtime->calls.current()), runtime->calls.begun());
}

}  // namespace llamada::mpi
