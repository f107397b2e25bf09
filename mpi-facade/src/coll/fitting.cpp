#include "coll/fitting.hpp"

#include <fmt/core.h>

namespace llamada::mpi::coll {

void Fitting::fail(std::uint32_t ordinal, std::string text) {
  failed_ordinal_ = ordinal;
  ever_failed_ = true;
  if (failed()) return;
  failure_ = std::move(text);
  code_ = Errc::invalid_argument;
}

void Fitting::fail_for(std::uint32_t ordinal, Errc code, std::string text) {
  if (failed() && code_ == code) return;
  failed_ordinal_ = ordinal;
  ever_failed_ = true;
  failure_ = std::move(text);
  code_ = code;
  is_misfit_ = is_outlived_ = false;
}

void Fitting::fail_misfit(std::uint32_t ordinal, std::string text, bool is_too_long) {
  const bool is_first = !failed();
  fail(ordinal, std::move(text));
  if (!is_first) return;
  is_misfit_ = true;
  if (is_too_long) code_ = Errc::incompatible;
}

void Fitting::complain(std::string text, bool is_too_long) {
  if (!complaint_.empty()) return;
  complaint_ = std::move(text);
  complaint_is_too_long_ = is_too_long;
}

void Fitting::fail_late(std::uint32_t ordinal) {
  if (!failed()) {
    fail_misfit(ordinal, std::exchange(complaint_, {}), complaint_is_too_long_);
    outlive_misfit();
  }
  complaint_.clear();
}

std::string misfit_text(int self, int member, Kind kind, std::uint32_t ordinal, std::uint64_t bytes,
                        std::uint64_t bytes_expected) {
  if (bytes == bytes_expected)
    return fmt::format(
        "rank {} of the communicator deals out {} bytes otherwise than rank {} in MPI_{} "
        "number {}: their counts do not fit",
        member, bytes, self, to_string(kind), ordinal);
  return fmt::format(
      "rank {} of the communicator gives {} bytes to MPI_{} number {}, where rank {} expects {}: their "
      "counts or datatypes do not fit",
      member, bytes, to_string(kind), ordinal, self, bytes_expected);
}

std::string other_call_text(int self, int member, Kind kind, Kind members_kind) {
  return fmt::format("rank {} of the communicator calls MPI_{} where rank {} calls MPI_{}", member,
                     to_string(members_kind), self, to_string(kind));
}

std::string no_contribution_text(int self, int member, Kind kind, std::uint32_t ordinal) {
  return fmt::format(
      "rank {} of the communicator has no contribution for rank {} in MPI_{} number {}: their arguments do "
      "not fit",
      member, self, to_string(kind), ordinal);
}

}  // namespace llamada::mpi::coll
