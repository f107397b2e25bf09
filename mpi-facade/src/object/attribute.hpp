#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "object/reference.hpp"

namespace llamada::mpi {

/// A key of attributes with the program's callbacks (MPI 3.1, 6.7).
class Keyval : public Counted {
 public:
  Keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* destroy, void* extra_state)
      : copy_(copy), destroy_(destroy), extra_state_(extra_state) {}

  MPI_Comm_copy_attr_function* copy() const { return copy_; }
  MPI_Comm_delete_attr_function* destroy() const { return destroy_; }
  void* extra_state() const { return extra_state_; }

 private:
  MPI_Comm_copy_attr_function* copy_;
  MPI_Comm_delete_attr_function* destroy_;
  void* extra_state_;
};

/// The attributes of one communicator, in the order in which they were set. The callbacks are the program's;
/// what they return other than MPI_SUCCESS is handed back and ends the operation.
class Attributes {
 public:
  /// The value of a key; nothing if it is not set.
  std::optional<void*> get(int keyval) const;
  /// Sets it; an old value goes through its delete callback first.
  int set(MPI_Comm comm, int keyval, const Reference<Keyval>& key, void* value);
  /// Deletes one, which must be there.
  int remove(MPI_Comm comm, int keyval);
  /// Deletes all, the last set first. Stops at a callback that fails.
  int remove_all(MPI_Comm comm);
  /// Copies to `copy` what the copy callbacks say, for MPI_Comm_dup.
  int copy_to(MPI_Comm comm, Attributes& copy) const;

 private:
  struct Entry {
    int keyval;
    Reference<Keyval> key;
    void* value;
  };
  std::vector<Entry> entries_;
};

}  // namespace llamada::mpi
