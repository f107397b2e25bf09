#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "coll/record.hpp"
#include "llamada/base/result.hpp"

namespace llamada::mpi::coll {

/// Whether the members' calls fit each other, as far as this member sees it, and how they do not.
///
/// Calls that do not fit end the use of the channel: it has failed. There is one exception. When only counts
/// or datatypes do not fit (a misfit), and no member waits for more from this one, then no more is lost than
/// this collective: the misfit is outlived, and the next collective is carried out as if nothing had
/// happened.
///
/// Threads: the rank's MPI thread.
class Fitting {
 public:
  bool failed() const { return !failure_.empty(); }
  /// Whether nothing is to be said when the collective is over.
  bool is_well() const { return failure_.empty() && complaint_.empty(); }
  const std::string& failure() const { return failure_; }
  /// What kind of failure it is: incompatible where the given data are longer than expected.
  Errc code() const { return code_; }
  bool is_too_long() const { return code_ == Errc::incompatible; }
  /// Whether calls ever did not fit each other: members may then differ in what they have seen.
  bool ever_failed() const { return ever_failed_; }
  /// Whether this or a later collective has failed: then its records may well be left over.
  bool excuses(std::uint32_t ordinal) const { return age(ordinal, failed_ordinal_) <= 0; }

  /// The collective with this ordinal fails. The first failure stays.
  void fail(std::uint32_t ordinal, std::string text);
  /// The same for a reason other than the calls: a member is lost (peer_lost), or nobody may use the
  /// communicator any more (revoked). It stays.
  void fail_for(std::uint32_t ordinal, Errc code, std::string text);
  void fail_misfit(std::uint32_t ordinal, std::string text, bool is_too_long);
  /// A misfit with which the collective goes on; it fails when it is over. The first one stays.
  void complain(std::string text, bool is_too_long);
  /// The collective is over, and no member waits for more from this one.
  void end(std::uint32_t ordinal) {
    if (!complaint_.empty()) [[unlikely]]
      fail_late(ordinal);
  }

  /// What others gave was not what this member expected, but this member has given all that they want of this
  /// collective, and the next one's records have other names.
  void outlive_misfit() { is_outlived_ = is_misfit_; }
  /// The next collective is about to begin: an outlived misfit is forgotten.
  void forget_misfit() {
    if (is_outlived_) failure_.clear();
    is_misfit_ = is_outlived_ = false;
  }
  /// Another communicator goes on from here: its predecessor's left-over records do not concern it.
  void change_communicator(std::uint32_t ordinal) {
    failed_ordinal_ = ordinal;
    complaint_.clear();
  }

 private:
  void fail_late(std::uint32_t ordinal);

  std::string failure_;
  bool is_misfit_ = false;  // of counts or datatypes, not of calls
  bool is_outlived_ = false;
  Errc code_ = Errc::invalid_argument;
  std::string complaint_;  // becomes the failure when the collective is over
  bool complaint_is_too_long_ = false;
  bool ever_failed_ = false;
  std::uint32_t failed_ordinal_ = 0;
};

/// Says that `member` gives `bytes` to a collective for which `self` expects another number, or as many but
/// dealt out differently.
std::string misfit_text(int self, int member, Kind kind, std::uint32_t ordinal, std::uint64_t bytes,
                        std::uint64_t bytes_expected);
/// Says that `member` calls another collective than `self`.
std::string other_call_text(int self, int member, Kind kind, Kind members_kind);
/// Says that `member` is past the collective without having given anything to `self`.
std::string no_contribution_text(int self, int member, Kind kind, std::uint32_t ordinal);

}  // namespace llamada::mpi::coll
