#include "coll/loans.hpp"

#include <cstring>

#include "coll/channel.hpp"
#include "llamada/base/plain_bytes.hpp"

namespace llamada::mpi::coll {

Loans::Account& Loans::account(int member) {
  if (accounts_.empty()) {
    accounts_.resize(static_cast<std::size_t>(channel_.size()));
    for (int other = 0; other < channel_.size(); ++other)
      accounts_[static_cast<std::size_t>(other)].refuses = !channel_.is_local(other);
  }
  return accounts_[static_cast<std::size_t>(member)];
}

// ---- the lender

bool Loans::lend(int member, std::span<const std::byte> part) {
  const Loan loan{part.size(), reinterpret_cast<std::uint64_t>(part.data()), own_card()};
  if (!channel_.publish_whole(Content::loan, member, plain_bytes(loan))) return false;
  Account& other = account(member);
  other.lent_in = channel_.ordinal();
  other.part = part;
  other.state = State::open;
  ++open_count_;
  return true;
}

void Loans::end(int member, State state) {
  Account& other = account(member);
  if (other.state != State::open || other.lent_in != channel_.ordinal()) return;
  other.state = state;
  --open_count_;
  // A refused part is published, and counted there.
  if (state == State::over) channel_.count_sent(other.part.size());
}

void Loans::take_back(int member, const log::Record& record) {
  const bool was_reached = !record.payload.empty() && record.payload[0] != std::byte{0};
  account(member).refuses = !was_reached;
  end(member, was_reached ? State::over : State::refused);
  channel_.next(member);
}

Loans::State Loans::state_of(int member) {
  Account& other = account(member);
  if (other.lent_in != channel_.ordinal()) return State::none;
  if (other.state != State::open) return other.state;
  const auto record = channel_.peek_wanted(member);
  if (!record) return other.state;
  if (age(ordinal_of(*record), channel_.ordinal()) > 0)
    end(member, State::over);
  else if (is_loan_over(*record))
    take_back(member, *record);
  else
    (void)channel_.peek(member);  // It may be of another collective than this one's kind.
  return other.state;
}

bool Loans::wind_up() {
  (void)settle();
  for (int member = 0; open_count_ > 0 && member < channel_.size(); ++member) {
    if (member == channel_.self()) continue;
    while (const auto record = channel_.peek_wanted(member)) {
      if (age(ordinal_of(*record), channel_.ordinal()) > 0) {
        end(member, State::over);
        break;
      }
      is_loan_over(*record) ? take_back(member, *record) : channel_.pass(member, *record);
    }
  }
  return open_count_ == 0;
}

// ---- the borrower

void Loans::borrow(int member, const log::Record& record) {
  std::memcpy(&account(member).borrowed, record.payload.data(), sizeof(Loan));
  channel_.next(member);
}

void Loans::give_back(int member, bool was_reached) {
  owe(member, {channel_.kind(), channel_.ordinal(), was_reached});
  (void)settle();
}

void Loans::pass(int member, const log::Record& record) {
  if (!is_loan(record)) return;
  owe(member, {static_cast<Kind>(record.kind), ordinal_of(record), true});
  (void)settle();
}

void Loans::owe(int member, const Debt& debt) {
  auto& owed = account(member).debt;
  if (!owed) ++debt_count_;
  owed = debt;
}

bool Loans::settle_all() {
  for (int member = 0; debt_count_ > 0 && member < channel_.size(); ++member) {
    auto& debt = account(member).debt;
    if (!debt) continue;
    const std::byte answer{debt->was_reached};
    const RecordHead head{debt->kind, debt->ordinal, Content::loan_over, member};
    if (!channel_.publish_whole(head, std::span(&answer, 1))) continue;
    debt.reset();
    --debt_count_;
  }
  return debt_count_ == 0;
}

}  // namespace llamada::mpi::coll
