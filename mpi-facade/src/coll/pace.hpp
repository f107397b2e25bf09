#pragma once

#include <cstdint>
#include <utility>

#include "llamada/base/first_look.hpp"
#include "llamada/log/log_reader.hpp"

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

  void published() { taken_in_a_row_ = 0; }
  void took() { ++taken_in_a_row_; }
  /// To be called by one of two members before it takes a small record. If it has only taken for a while, so
  /// that the other does not wait for it, it lets the other get some records ahead, if they come within some
  /// microseconds; if they do not, it tries again later and later.
  void let_run_ahead(const log::LogReader& other) {
    if (known_to_be_there_ > 0)
      --known_to_be_there_;
    else if (taken_in_a_row_ >= taken_in_a_row_min)
      try_to_let_run_ahead(other);
  }

 private:
  static constexpr int looks_of_own_core = 128;
  static constexpr std::uint32_t taken_in_a_row_min = 16;
  static constexpr std::uint32_t records_ahead = 8;
  static constexpr std::uint32_t takes_between_trials_min = 64;
  static constexpr std::uint32_t takes_between_trials_max = 8192;
  static constexpr int looks_of_trial = 100;

  void try_to_let_run_ahead(const log::LogReader& other);

  int looks_before_waiting_;
  FirstLook first_look_;
  bool is_answer_awaited_ = false;
  std::uint32_t taken_in_a_row_ = 0;
  std::uint32_t known_to_be_there_ = 0;
  std::uint32_t takes_before_trial_ = 0;
  std::uint32_t takes_between_trials_ = takes_between_trials_min;  // twice as many after each in vain
};

}  // namespace llamada::mpi::coll
