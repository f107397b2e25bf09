#pragma once

#include <cstdint>
#include <string>

#include "object/communicator.hpp"

/// How processes that share no communicator yet come to one (MPI 3.1, 10.3 and 10.4): the leaders of two
/// groups, who know each other's slot, have a bridge, a communicator of the two without a handle; over it
/// MPI_Intercomm_create does the rest.
namespace llamada::mpi {

/// Contexts of bridges lie at the end of those that members agree on. Each slot may begin bridges to all
/// others, told apart by tags.
inline constexpr std::uint32_t bridge_contexts = 0x3ff00000u;
/// The context in which ports are called.
inline constexpr std::uint32_t port_context = 0x3fe00000u;

/// Rank 0 is who began it, rank 1 the other. Slots; one of them the caller's.
Reference<Communicator> make_bridge(int initiator, int other);
/// Forgets the processes of other worlds that have ended, and that no communicator or group of this process
/// names: their slots may become those of other processes. Called before this process meets new ones.
void part_from_ended();
/// The bridge's tag for the next connection that this process begins: above 0.
int next_bridge_tag();

/// Root's decision in a collective call, for all: an error class with its sentence, or values.
struct Verdict {
  int error_class = 0;  ///< MPI_SUCCESS: good
  std::string text;
  int first = 0;
  int count = 0;

  static Verdict refused(int error_class, std::string text) { return {error_class, std::move(text), 0, 0}; }
  bool good() const { return error_class == 0; }
};
/// Collective over `local`: all have the root's verdict then, or one that says why it cannot be told.
void share(Communicator& local, Verdict& verdict, int root);

}  // namespace llamada::mpi
