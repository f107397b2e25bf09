#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "object/handle.hpp"
#include "object/reference.hpp"

namespace llamada::mpi {

/// The value of an attribute, which knows the language and the width of the integer that it was set with: C
/// has pointers, and of what Fortran has set it gets the address; Fortran has integers (MPI 3.1, 17.2.7).
class AttributeValue {
 public:
  static AttributeValue of_pointer(void* value) {
    AttributeValue made(Kind::pointer);
    made.pointer_ = value;
    return made;
  }
  static AttributeValue of_integer(int value) {
    AttributeValue made(Kind::integer);
    made.integer_ = value;
    return made;
  }
  static AttributeValue of_address(MPI_Aint value) {
    AttributeValue made(Kind::address);
    made.address_ = value;
    return made;
  }

  /// As C gets it. The address of an integer holds for as long as this is there.
  void* in_c();
  /// As Fortran gets it, of which an INTEGER takes the low part.
  MPI_Aint in_fortran() const;
  /// The same kind of value with another number, as a copy callback of Fortran gives it.
  AttributeValue with(MPI_Aint number) const;

 private:
  enum class Kind { pointer, integer, address };
  explicit AttributeValue(Kind kind) : kind_(kind), address_(0) {}

  Kind kind_;
  union {
    void* pointer_;
    int integer_;
    MPI_Aint address_;
  };
};

/// How a library of C++ bindings built for MPICH has its callbacks called, whose arguments are objects of C++
/// (MPII_Keyval_set_proxy): `function` is the program's, `value_type` 0 for a pointer.
using CxxCopyProxy = int(MPI_Comm_copy_attr_function* function, int handle, int keyval, void* extra_state,
                         int value_type, void* value, void** copy, int* flag);
using CxxDeleteProxy = int(MPI_Comm_delete_attr_function* function, int handle, int keyval, int value_type,
                           void* value, void* extra_state);

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
  /// Fortran's callbacks take a value as the integer that it is, C's as C gets it.
  void set_fortran() { is_fortran_ = true; }
  bool is_fortran() const { return is_fortran_; }
  /// Null unless set: the callbacks are called as they are.
  void set_cxx(CxxCopyProxy* copy, CxxDeleteProxy* destroy) {
    copy_proxy_ = copy;
    delete_proxy_ = destroy;
  }
  CxxCopyProxy* copy_proxy() const { return copy_proxy_; }
  CxxDeleteProxy* delete_proxy() const { return delete_proxy_; }

 private:
  Owner owner_;
  bool freed_ = false;
  bool is_fortran_ = false;
  int use_count_ = 0;
  MPI_Comm_copy_attr_function* copy_;
  MPI_Comm_delete_attr_function* destroy_;
  CxxCopyProxy* copy_proxy_ = nullptr;
  CxxDeleteProxy* delete_proxy_ = nullptr;
  void* extra_state_;
};

/// The keys of the process, also of one that has left MPI. Threads: within MPI, as all objects.
HandleTable<Keyval, ObjectKind::keyval>& keyval_table();

/// The end of a use of a key. One that was freed goes with its last use, and its number is given to another.
void let_go_of_key(int keyval, Keyval& key);

/// The attributes of one communicator, datatype or window, in the order in which they were set. The callbacks
/// are the program's; what they return other than MPI_SUCCESS is handed back and ends the operation.
class Attributes {
 public:
  /// The value of a key, which stays where it is until it is deleted; null if it is not set.
  AttributeValue* find(int keyval) const;
  /// Sets it; an old value goes through its delete callback first.
  int set(int handle, int keyval, const Reference<Keyval>& key, AttributeValue value);
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
    std::shared_ptr<AttributeValue> value;
  };
  std::vector<Entry> entries_;
};

}  // namespace llamada::mpi
