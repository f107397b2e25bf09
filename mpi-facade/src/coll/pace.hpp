#pragma once

#include <utility>

#include "llamada/base/first_look.hpp"

namespace llamada::mpi::coll {

/// When a member looks for small records that others are about to publish: not while they write them, for a
/// reader that follows closely takes the lines away that a writer is about to write, and both are slow.
///
/// Threads: the rank's MPI thread.
class Pace {
 public:
  /// `has_own_core`: the members need not share cores.
  explicit Pace(bool has_own_core) : looks_before_waiting_(has_own_core ? looks_of_own_core : 0) {}

  /// How often to look before waiting for another member in the usual way: it is about to write, if it has a
  /// core of its own.
  int looks_before_waiting() const { return looks_before_waiting_; }

  /// Another collective begins: its answers are others.
  void begin() { is_answer_awaited_ = false; }
  /// This member publishes something small, and then takes others' parts: the first of them comes about as
  /// long after as it did before.
  void await_answer() { is_answer_awaited_ = looks_before_waiting_ > 0; }
  /// When to look for it, once; else null.
  FirstLook* take_awaited_answer() {
    return std::exchange(is_answer_awaited_, false) ? &first_look_ : nullptr;
  }

 private:
  static constexpr int looks_of_own_core = 128;

  int looks_before_waiting_;
  FirstLook first_look_;
  bool is_answer_awaited_ = false;
};

}  // namespace llamada::mpi::coll
