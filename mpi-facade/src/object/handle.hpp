#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "object/reference.hpp"

/// MPICH's encoding of handles: bits 31 and 30 say how the object is found, 29 to 26 what it is, the rest
/// which.
namespace llamada::mpi {

enum class HandleKind : std::uint32_t { invalid = 0, builtin = 1, direct = 2, indirect = 3 };

enum class ObjectKind : std::uint32_t {
  communicator = 1,
  group = 2,
  datatype = 3,
  error_handler = 5,
  operation = 6,
  info = 7,
  window = 8,
  keyval = 9,
  request = 11,
  session = 14,
};

inline constexpr std::uint32_t handle_index_mask = 0x03ffffff;

constexpr int make_handle(HandleKind how, ObjectKind what, std::uint32_t index) {
  return static_cast<int>(static_cast<std::uint32_t>(how) << 30 | static_cast<std::uint32_t>(what) << 26 |
                          (index & handle_index_mask));
}
constexpr HandleKind handle_kind(int handle) {
  return static_cast<HandleKind>(static_cast<std::uint32_t>(handle) >> 30);
}
constexpr ObjectKind object_kind(int handle) {
  return static_cast<ObjectKind>(static_cast<std::uint32_t>(handle) >> 26 & 15);
}
constexpr std::uint32_t handle_index(int handle) {
  return static_cast<std::uint32_t>(handle) & handle_index_mask;
}

/// The objects of one kind by handle: predefined ones by their low 8 bits, the program's own by index. A
/// handle given out is never 0 and its value depends only on the order of calls, so that a replay gives the
/// same handles.
template <typename T, ObjectKind kind>
class HandleTable {
 public:
  /// The object of a handle; null when there is none, whatever the integer is.
  T* find(int handle) const {
    const std::uint32_t index = handle_index(handle);
    if (static_cast<std::uint32_t>(handle) >> 26 == builtin_prefix) {
      const Builtin& entry = builtin_[index & 0xff];
      return entry.handle == handle ? entry.object.get() : nullptr;
    }
    if (static_cast<std::uint32_t>(handle) >> 26 != direct_prefix || index >= direct_.size()) return nullptr;
    return direct_[index].get();
  }

  /// Makes `object` the one of a predefined handle.
  void set_builtin(int handle, Reference<T> object) {
    builtin_[handle_index(handle) & 0xff] = {handle, std::move(object)};
    ++changes_;
  }

  /// A handle for `object`. One object may have several.
  int insert(Reference<T> object) {
    if (free_.empty()) {
      direct_.push_back(std::move(object));
      return make_handle(HandleKind::direct, kind, static_cast<std::uint32_t>(direct_.size() - 1));
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    direct_[index] = std::move(object);
    return make_handle(HandleKind::direct, kind, index);
  }

  /// Takes back a handle that insert() gave; the object goes with its last reference.
  void erase(int handle) {
    const std::uint32_t index = handle_index(handle);
    const Reference<T> last = std::move(direct_[index]);
    free_.push_back(index);
    ++changes_;
  }

  /// The same for a handle that must never name another object.
  void retire(int handle) {
    direct_[handle_index(handle)] = Reference<T>();
    ++changes_;
  }

  /// How often a handle has been taken back or given another meaning: while it stays the same, a handle that
  /// was found names the object that it named.
  std::uint64_t changes() const { return changes_; }

  /// Calls `visit(handle, object)` for each handle of insert() in use.
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (std::uint32_t index = 0; index < direct_.size(); ++index) {
      if (direct_[index]) visit(make_handle(HandleKind::direct, kind, index), *direct_[index]);
    }
  }

 private:
  struct Builtin {
    int handle = 0;
    Reference<T> object;
  };
  static constexpr std::uint32_t builtin_prefix =
      static_cast<std::uint32_t>(HandleKind::builtin) << 4 | static_cast<std::uint32_t>(kind);
  static constexpr std::uint32_t direct_prefix =
      static_cast<std::uint32_t>(HandleKind::direct) << 4 | static_cast<std::uint32_t>(kind);

  std::vector<Builtin> builtin_ = std::vector<Builtin>(256);
  std::vector<Reference<T>> direct_;
  std::vector<std::uint32_t> free_;
  std::uint64_t changes_ = 0;
};

}  // namespace llamada::mpi
