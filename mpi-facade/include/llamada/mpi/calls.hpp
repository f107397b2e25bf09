#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

/// The functions of MPI by number: what a rank publishes in its arena while it is in one
/// (ArenaHeader::call_id), and what tools print. Nothing else of the facade is needed to use it.
namespace llamada::mpi {

/// Which function of MPI; `none` outside of all of them.
enum class CallId : std::uint32_t {
  none,
#define LLAMADA_MPI_CALL(name) name,
#define LLAMADA_MPIX_CALL(name) X_##name,
#define LLAMADA_OWN_CALL(name) L_##name,
#include "llamada/mpi/calls.def"
#undef LLAMADA_MPI_CALL
#undef LLAMADA_MPIX_CALL
#undef LLAMADA_OWN_CALL
};

/// "MPI_Send"; "" for none, "an unknown MPI function" for a number that this build does not know.
constexpr std::string_view call_name(CallId id) {
  constexpr std::string_view names[] = {
      "",
#define LLAMADA_MPI_CALL(name) "MPI_" #name,
#define LLAMADA_MPIX_CALL(name) "MPIX_" #name,
#define LLAMADA_OWN_CALL(name) "LLAMADA_" #name,
#include "llamada/mpi/calls.def"
#undef LLAMADA_MPI_CALL
#undef LLAMADA_MPIX_CALL
#undef LLAMADA_OWN_CALL
  };
  const auto index = static_cast<std::uint32_t>(id);
  return index < std::size(names) ? names[index] : std::string_view("an unknown MPI function");
}

/// The function of this name, "MPI_Send"; none if there is none.
constexpr CallId find_call(std::string_view name) {
#define LLAMADA_MPI_CALL(function) \
  if (name == "MPI_" #function) return CallId::function;
#define LLAMADA_MPIX_CALL(function) \
  if (name == "MPIX_" #function) return CallId::X_##function;
#define LLAMADA_OWN_CALL(function) \
  if (name == "LLAMADA_" #function) return CallId::L_##function;
#include "llamada/mpi/calls.def"
#undef LLAMADA_MPI_CALL
#undef LLAMADA_MPIX_CALL
#undef LLAMADA_OWN_CALL
  return CallId::none;
}

}  // namespace llamada::mpi
