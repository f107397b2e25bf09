#pragma once

#include <cstdint>
#include <string_view>

#include "llamada/base/result.hpp"
#include "llamada/mpi/calls.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi {

/// Where this incarnation is to die for a test (mpirun --inject), as lines of World::identity():
///   die_at_call=N                    when the rank begins its Nth MPI call
///   die_in=MPI_Allreduce[:N]         when it is in the Nth call of that function
///   die_in_middle=MPI_Allreduce[:N]  the same, after the call's first record has been published; at the next
///   call if it publishes none die_at_step=publish:committed:N  at the Nth pass of a crash point, in a
///   library that has them die_signal=N                     by which signal; SIGKILL without it
class Injection {
 public:
  /// Errors: parse_error; unsupported (crash points in a library without them).
  static Result<Injection> parse(std::string_view identity);

  /// Arms what was asked for. The Injection must stay in place as long as calls are made.
  void arm(CallCounter& calls);

  /// Whether after_publish() is to be called, after a record of a collective has been published.
  bool is_in_middle() const { return in_middle_; }
  void after_publish() {
    if (in_middle_now_) [[unlikely]]
      die();
  }

 private:
  Status read(std::string_view key, std::string_view value);
  Status read_function(std::string_view value);
  Status read_step(std::string_view value);
  void watch_next(CallCounter& calls);
  void begin_call(CallCounter& calls);
  [[noreturn]] void die() const;

  std::uint64_t at_call_ = 0;
  CallId in_ = CallId::none;
  std::uint64_t in_count_ = 0;
  bool in_middle_ = false;
  bool in_middle_now_ = false;
  int signal_ = 9;
};

}  // namespace llamada::mpi
