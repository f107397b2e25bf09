#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>

namespace llamada::mpi {

class Engine;

/// What the library tells tools of itself, and lets them set (MPI 3.1, 14.3): tables of variables. The
/// functions that read and write them may be called at any time, also before MPI_Init and after MPI_Finalize,
/// by one thread at a time, which may call MPI.
namespace tool_information {

/// Members of a category are listed in the order of the tables.
enum class Category { all, messages, waiting, memory, fault_tolerance };
struct CategoryDescription {
  const char* name;
  const char* description;
};
std::span<const CategoryDescription> categories();

struct EnumItem {
  int value;
  const char* name;
};
struct Enumeration {
  const char* name;
  std::span<const EnumItem> items;
};

struct ControlVariable {
  const char* name;
  const char* description;
  Category category;
  int verbosity;
  MPI_Datatype type;  ///< MPI_INT, MPI_UNSIGNED or MPI_UNSIGNED_LONG_LONG: one element
  int scope;          ///< MPI_T_SCOPE_LOCAL: may be written
  const Enumeration* enumeration;
  std::uint64_t (*read)();
  /// MPI_SUCCESS or an error class of MPI_T. Null: it is never written.
  int (*write)(std::uint64_t value);
};
std::span<const ControlVariable> control_variables();

/// All are MPI_UNSIGNED_LONG_LONG, one element, and belong to no object.
struct PerformanceVariable {
  const char* name;
  const char* description;
  Category category;
  int verbosity;
  int variable_class;
  std::uint64_t (*read)();  ///< since the process began; 0 before MPI_Init

  /// Counters are started, stopped and reset for each handle; what is a state now is always there.
  bool is_counter() const { return variable_class == MPI_T_PVAR_CLASS_COUNTER; }
};
std::span<const PerformanceVariable> performance_variables();

/// MPI_Init: what was written before it.
void apply_settings(Engine& engine);

}  // namespace tool_information
}  // namespace llamada::mpi
