#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "object/reference.hpp"

namespace llamada::mpi {

/// A key of attributes with the program's callbacks (MPI 3.1, 6.7).
class Keyval : public Counted {
 public:
  /// What it is a key for. Handles being integers, the callbacks are of one type.
  enum class Owner { communicator, datatype, window };

  Keyval(Owner owner, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* destroy,
         void* extra_state)
      : owner_(owner), copy_(copy), destroy_(destroy), extra_state_(extra_state) {}

  Owner owner() const { return owner_; }
  /// A key that was freed is good until the last attribute that was set with it is gone (6.7.2).
  void free() { freed_ = true; }
  void use() { ++use_count_; }
  void unuse() { --use_count_; }
  bool is_alive() const { return !freed_ || use_count_ > 0; }

  MPI_Comm_copy_attr_function* copy() const { return copy_; }
  MPI_Comm_delete_attr_function* destroy() const { return destroy_; }
  void* extra_state() const { return extra_state_; }

 private:
  Owner owner_;
  bool freed_ = false;
  int use_count_ = 0;
  MPI_Comm_copy_attr_function* copy_;
  MPI_Comm_delete_attr_function* destroy_;
  void* extra_state_;
};

/// The attributes of one communicator or datatype, in the order in which they were set. The callbacks are the
/// program's; what they return other than MPI_SUCCESS is handed back and ends the operation.
class Attributes {
 public:
  /// The value of a key; nothing if it is not set.
  std::optional<void*> get(int keyval) const;
  /// Sets it; an old value goes through its delete callback first.
  int set(int handle, int keyval, const Reference<Keyval>& key, void* value);
  /// Deletes one, which must be there.
  int remove(int handle, int keyval);
  /// Deletes all, the last set first. Stops at a callback that fails.
  int remove_all(int handle);
  /// Copies to `copy` what the copy callbacks say, for MPI_Comm_dup and MPI_Type_dup.
  int copy_to(int handle, Attributes& copy) const;

 private:
  struct Entry {
    int keyval;
    Reference<Keyval> key;
    void* value;
  };
  std::vector<Entry> entries_;
};

}  // namespace llamada::mpi
