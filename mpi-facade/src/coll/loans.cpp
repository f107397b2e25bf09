#include <cstring>

#include "coll/channel.hpp"
#include "llamada/base/plain_bytes.hpp"

namespace llamada::mpi::coll {

// ---- the lender

bool Channel::lend(int member, std::span<const std::byte> part, std::uint32_t piece) {
  const Loan loan{part.size(), reinterpret_cast<std::uint64_t>(part.data()), own_card()};
  if (!publish_whole(piece, member, plain_bytes(loan))) return false;
  Account& other = account(member);
  other.lent_in = ordinal_;
  other.part = part;
  other.loan = LoanState::open;
  ++loans_open_;
  return true;
}

void Channel::end_loan(int member, LoanState state) {
  Account& other = account(member);
  if (other.loan != LoanState::open || other.lent_in != ordinal_) return;
  other.loan = state;
  --loans_open_;
  // What is refused is published, and counted there.
  if (state == LoanState::over) arena_.count(log::Counter::bytes_sent, other.part.size());
}

void Channel::take_back(int member, const log::Record& record) {
  const bool was_reached = !record.payload.empty() && record.payload[0] != std::byte{0};
  account(member).refuses_loans = !was_reached;
  end_loan(member, was_reached ? LoanState::over : LoanState::refused);
  next(member);
}

Channel::LoanState Channel::loan_to(int member) {
  Account& other = account(member);
  if (other.lent_in != ordinal_) return LoanState::none;
  if (other.loan != LoanState::open || !find_log(member)) return other.loan;
  const auto record = peek_current(member);
  if (!record) return LoanState::open;
  if (age(ordinal_of(*record), ordinal_) > 0)
    end_loan(member, LoanState::over);
  else if (is_answer(*record))
    take_back(member, *record);
  else if (is_place(*record))
    write_into_place(member, *record);
  else
    (void)peek(member);  // It may be of another collective than this one's kind.
  return other.loan;
}

/// The member has asked for it: what this process lends it is then over.
void Channel::write_into_place(int member, const log::Record& record) {
  const std::span<const std::byte> part = account(member).part;
  Loan place;
  std::memcpy(&place, record.payload.data(), sizeof(place));
  next(member);
  const bool is_written =
      place.bytes == part.size() && reaches(member, place.lender) &&
      write_memory(static_cast<int>(place.lender.process), place.address, part) == Reached::done;
  if (is_written) end_loan(member, LoanState::over);
  give_back(member, is_written);
}

bool Channel::wind_up() {
  (void)settle();
  for (int member = 0; loans_open_ > 0 && member < size(); ++member) {
    if (member == self_ || !find_log(member)) continue;
    while (const auto record = peek_current(member)) {
      if (age(ordinal_of(*record), ordinal_) > 0) {
        end_loan(member, LoanState::over);
        break;
      }
      is_answer(*record) ? take_back(member, *record) : pass(member, *record);
    }
    if (incoming_[static_cast<std::size_t>(member)].reader.failed()) end_loan(member, LoanState::over);
  }
  return loans_open_ == 0;
}

// ---- who takes

void Channel::borrow(int member, const log::Record& record) {
  std::memcpy(&account(member).borrowed, record.payload.data(), sizeof(Loan));
  next(member);
}

void Channel::give_back(int member, bool was_reached) {
  owe(member, {kind_, ordinal_, was_reached});
  (void)settle();
}

void Channel::owe(int member, const Debt& debt) {
  auto& owed = account(member).debt;
  if (!owed) ++debts_;
  owed = debt;
}

bool Channel::settle_all() {
  const Kind kind = kind_;
  const std::uint32_t ordinal = ordinal_;
  for (int member = 0; debts_ > 0 && member < size(); ++member) {
    auto& debt = account(member).debt;
    if (!debt) continue;
    kind_ = debt->kind;
    ordinal_ = debt->ordinal;
    const std::byte answer{debt->was_reached};
    if (publish_whole(loan_is_over, member, std::span(&answer, 1))) {
      debt.reset();
      --debts_;
    }
  }
  kind_ = kind;
  ordinal_ = ordinal;
  return debts_ == 0;
}

}  // namespace llamada::mpi::coll
