#pragma once

#include "llamada/mpi/calls.hpp"
#include "runtime/errors.hpp"
#include "runtime/runtime.hpp"

/// What each C function begins with.
namespace llamada::mpi {

/// Says that a function was called before MPI_Init or after MPI_Finalize, and ends the process.
[[noreturn]] void called_outside(CallId id);

/// What a call has to do before it begins, and when it is over, that one of a program with one thread has
/// not: ends the process when MPI is not there (8.7), and takes the lock when several threads may call MPI
/// (12.4).
void enter_otherwise(CallId id);
void leave_otherwise();

/// Counts and publishes a call for as long as it lives. Ends the process with one sentence when MPI is not
/// there.
class CallScope {
 public:
  explicit CallScope(CallId id) {
    Runtime* runtime = runtime_if_any();
    if (!runtime || !runtime->stage.plain) [[unlikely]]
      enter_otherwise(id);
    outer_ = runtime->calls.enter(id);
  }
  ~CallScope() {
    Runtime& self = runtime();
    self.calls.leave(outer_);
    if (!self.stage.plain) [[unlikely]]
      leave_otherwise();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  CallId outer_;
};

/// CallScope for a call that can do without a function being called: only where is_possible().
class BriefCall {
 public:
  static bool is_possible(const Runtime* runtime) {
    return runtime && runtime->stage.plain && !runtime->calls.is_watched_next();
  }
  BriefCall(Runtime& runtime, CallId id) : calls_(runtime.calls) { calls_.enter_briefly(id); }
  ~BriefCall() { calls_.leave_briefly(); }
  BriefCall(const BriefCall&) = delete;
  BriefCall& operator=(const BriefCall&) = delete;

 private:
  CallCounter& calls_;
};

}  // namespace llamada::mpi

/// Before the definition of PMPI_name: makes MPI_name the same function under a name that a program or tool
/// may replace (MPI 3.1, 14.2). `LLAMADA_MPI_FUNCTION(Barrier)` and then `int PMPI_Barrier(MPI_Comm comm) {`.
#define LLAMADA_MPI_FUNCTION(name) \
  extern "C" decltype(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));

#define LLAMADA_MPIX_FUNCTION(name) \
  extern "C" decltype(PMPIX_##name) MPIX_##name __attribute__((weak, alias("PMPIX_" #name)));

/// The first line of each function that needs MPI to be initialised.
#define LLAMADA_MPI_ENTER(name) const ::llamada::mpi::CallScope call_scope(::llamada::mpi::CallId::name)
