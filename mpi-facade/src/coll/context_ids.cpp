#include "coll/context_ids.hpp"

#include <algorithm>

#include "llamada/base/crash_point.hpp"

namespace llamada::mpi::coll {
namespace {

constexpr std::uint32_t ids_each = 2;

}  // namespace

std::uint32_t ContextIds::take_own() {
  if (!unused_own_.empty()) {
    const std::uint32_t id = unused_own_.back();
    unused_own_.pop_back();
    return id;
  }
  if (slot_ >= slots_max || next_own_ + ids_each > 1u << own_bits) return 0;
  const std::uint32_t id = first_own_context | slot_ << own_bits | next_own_;
  next_own_ += ids_each;
  return id;
}

ContextClaim::ContextClaim(ContextIds& ids) : ids_(ids), holds_(!ids.claimed_) {
  proposal_ = {holds_ ? ids.next_common_ : 0, ids.take_own()};
  ids.claimed_ = true;
}

Result<std::uint32_t> ContextClaim::agree(const ContextProposal& all) {
  const std::uint32_t id = all.common != 0 ? all.common : all.own;
  if (id == 0 || (id < ContextIds::first_own_context && id + ids_each > ContextIds::first_own_context))
    return failure(Errc::out_of_resources, "no more communicators can be made: all context ids are used up");
  LLAMADA_CRASH_POINT("communicator:agreed");
  agreed_ = id;
  if (all.common != 0) ids_.next_common_ = std::max(ids_.next_common_, id + ids_each);
  return id;
}

Result<std::uint32_t> ContextClaim::settle(const ContextProposal& all) {
  auto id = agree(all);
  end();
  return id;
}

void ContextClaim::end() {
  if (holds_) ids_.claimed_ = false;
  holds_ = false;
  // What nobody took can be proposed again. Without an agreement others may have taken it.
  if (agreed_ != 0 && agreed_ != proposal_.own && proposal_.own != 0)
    ids_.unused_own_.push_back(proposal_.own);
  agreed_ = 0;
}

}  // namespace llamada::mpi::coll
