#pragma once

#include <utility>

#include "llamada/base/file_descriptor.hpp"

namespace llamada {

/// Numbers from here on are out of the way of a program.
inline constexpr int kept_descriptor_min = 200;

/// Owns a file descriptor that a library keeps in a program's process. Move-only. A program expects its first
/// file to be number 3. So this descriptor has a high number, unless the limit on numbers is too low. It is
/// closed at an exec.
///
/// The program may still want that number (dup2) or close all numbers that it does not know. Where its calls
/// are seen, make_room_at() and is_kept() help: so whoever uses the descriptor asks get() for it each time.
///
/// Threads: get() may be called while another thread calls make_room_at(); else as a plain value.
class KeptDescriptor {
 public:
  KeptDescriptor() = default;
  explicit KeptDescriptor(FileDescriptor descriptor);
  KeptDescriptor(KeptDescriptor&& other) noexcept : place_(std::exchange(other.place_, none)) {}
  KeptDescriptor& operator=(KeptDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      place_ = std::exchange(other.place_, none);
    }
    return *this;
  }
  ~KeptDescriptor() { reset(); }

  explicit operator bool() const { return place_ != none; }
  int get() const;  ///< -1 if there is none
  void reset();
  FileDescriptor release();

 private:
  static constexpr int none = -1;
  int place_ = none;  // in the table of all of them
};

/// True if a KeptDescriptor has this number.
bool is_kept(int number);
/// The first number from `number` on that a KeptDescriptor has; -1 if there is none.
int next_kept(int number);
/// Gives a KeptDescriptor with this number another one. The number is still open afterwards, for the caller
/// to put another file there (dup2). False and errno if there is no other number.
bool make_room_at(int number);

}  // namespace llamada
