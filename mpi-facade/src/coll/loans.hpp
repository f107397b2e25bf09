#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coll/record.hpp"

namespace llamada::mpi::coll {

class Channel;

/// Loans: a member's part for another one stays where it is until that one has copied it and said so. The
/// lender alone decides to lend; the borrower takes whatever comes, a loan or the data. The lender does not
/// leave the collective before its loans are over. A borrower that has left the collective counts as done.
///
/// A borrower that does not reach the lender's memory refuses the loan: the part then follows in the log, as
/// all later ones for this member do.
///
/// Threads: the rank's MPI thread.
class Loans {
 public:
  enum class State : std::uint8_t {
    none,
    open,
    over,    ///< it is copied, or will not be
    refused  ///< the borrower does not reach this process's memory, and waits for the part in the log
  };

  explicit Loans(Channel& channel) : channel_(channel) {}

  // The lender's side.

  /// Lends `member` its part in this collective. False when there is no room now.
  bool lend(int member, std::span<const std::byte> part);
  State state_of(int member);
  /// Whether the member may be lent something.
  bool may_lend_to(int member) { return !account(member).refuses; }
  bool is_any_open() const { return open_count_ > 0; }
  /// The member's next record says that its loan is over: goes on behind it.
  void take_back(int member, const log::Record& record);
  /// When this collective has failed here: passes all that others still give, until nothing is lent any more.
  bool wind_up();

  // The borrower's side.

  /// Takes on the loan in the member's next record, until give_back().
  void borrow(int member, const log::Record& record);
  const Loan& borrowed(int member) { return account(member).borrowed; }
  /// Whether this process reaches the memory of the member, whose process has this card.
  bool reaches(int member, const ProcessCard& card) { return account(member).reach.of(card); }
  /// As if it had been found out.
  void set_reached(int member, const ProcessCard& card, bool reached) {
    account(member).reach.set(card, reached);
  }
  /// Says that the member's loan of this collective is over; if there is no room now, settle() does later.
  void give_back(int member, bool was_reached);
  /// The member's record is passed over: if it lends something, its loan is over.
  void pass(int member, const log::Record& record);
  /// Whether this member has said all that it has to say of others' loans.
  bool settle() { return debt_count_ == 0 || settle_all(); }

 private:
  /// What is to be said of a loan that is over.
  struct Debt {
    Kind kind;
    std::uint32_t ordinal;
    bool was_reached;
  };
  /// What is lent to and borrowed from a member.
  struct Account {
    std::uint32_t lent_in = 0;  // the last collective in which it was lent something
    State state = State::none;
    bool refuses = false;
    std::span<const std::byte> part;  // that is lent to it
    Loan borrowed;
    std::optional<Debt> debt;
    KnownReach reach;
  };
  Account& account(int member);
  void end(int member, State state);
  void owe(int member, const Debt& debt);
  bool settle_all();

  Channel& channel_;
  std::vector<Account> accounts_;
  int open_count_ = 0;
  int debt_count_ = 0;
};

}  // namespace llamada::mpi::coll
