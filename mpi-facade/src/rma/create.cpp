#include "rma/create.hpp"

#include <algorithm>
#include <optional>

#include "coll/agreement.hpp"
#include "coll/collectives.hpp"
#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"
#include "rma/reach.hpp"
#include "runtime/one_node.hpp"
#include "runtime/protection.hpp"
#include "runtime/runtime.hpp"
#include "world/peer_memory.hpp"

// All that the members have to know of each other goes by two exchanges over the communicator: what each
// brings, and whether each has got what it needs. The second is left out where all have kept the same segment
// of an earlier window: then nothing can fail any more. The window's own number is a context id, agreed as
// those of new communicators are, so that it names the window's shared memory and nothing else does.

namespace llamada::mpi::rma {
namespace {

constexpr std::size_t line_bytes = 64;

/// What a member tells the others; plain bytes.
struct Offer {
  std::uint64_t base = 0;
  std::uint64_t size_bytes = 0;
  ProcessCard process;
  std::uint64_t kept_name = 0;  ///< of the segment that it has kept and would take; 0: none
  coll::ContextProposal context;
  std::int32_t displacement_unit = 1;
  std::int16_t flavor = 0;
  std::int16_t contiguous = 0;
};

/// A window of two disjoint groups may have one number: with its first member the name is unique.
std::uint64_t segment_name(const Communicator& communicator, std::uint32_t number) {
  constexpr std::uint64_t windows = 'W';
  return windows << 56 | static_cast<std::uint64_t>(communicator.world_rank(0)) << 32 | number;
}

bool shares_memory(int flavor) {
  return flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
}

WindowSegment::Kind kind_of(int flavor) {
  if (shares_memory(flavor)) return WindowSegment::Kind::memory;
  return flavor == MPI_WIN_FLAVOR_DYNAMIC ? WindowSegment::Kind::dynamic : WindowSegment::Kind::plain;
}

std::optional<WindowSegment> take_kept(const Communicator& communicator, int flavor) {
  KeptSegments* kept = runtime().one_sided.kept_segments.get();
  return kept ? kept->take(*communicator.group(), kind_of(flavor)) : std::nullopt;
}

/// Whether this one has been kept, and cleared, by all.
bool is_kept_by_all(const std::optional<WindowSegment>& kept, const std::vector<Offer>& offers) {
  return kept && std::all_of(offers.begin(), offers.end(),
                             [&](const Offer& offer) { return offer.kept_name == kept->name; });
}

/// Where each member's memory begins in the segment, and behind the last where the segment ends.
std::vector<std::size_t> places(const std::vector<Offer>& offers, std::size_t from, bool contiguous) {
  std::vector<std::size_t> begins;
  for (const Offer& offer : offers) {
    const std::size_t align = contiguous ? 1 : offer.size_bytes >= page_bytes ? page_bytes : line_bytes;
    from = rounded_up(from, align);
    begins.push_back(from);
    from += offer.size_bytes;
  }
  begins.push_back(from);
  return begins;
}

Status check(const std::vector<Offer>& offers) {
  for (const Offer& offer : offers)
    if (offer.flavor != offers[0].flavor || offer.contiguous != offers[0].contiguous)
      return failure(Errc::invalid_argument,
                     "the ranks do not make the same kind of window, or not with the same "
                     "alloc_shared_noncontig");
  return {};
}

std::vector<WindowMember> members_of(const Communicator& communicator, const std::vector<Offer>& offers) {
  std::vector<WindowMember> members;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    const Offer& offer = offers[static_cast<std::size_t>(rank)];
    WindowMember member;
    member.base = offer.base;
    member.size_bytes = offer.size_bytes;
    member.displacement_unit = offer.displacement_unit;
    member.pid = static_cast<pid_t>(offer.process.process);
    member.slot = communicator.world_rank(rank);
    members.push_back(member);
  }
  auto& self = members[static_cast<std::size_t>(communicator.rank())];
  self.here = reinterpret_cast<std::byte*>(self.base);
  return members;
}

/// Whether this rank can read what the others have, where the window needs that.
Status probe(const Communicator& communicator, const std::vector<Offer>& offers) {
  if (shares_memory(offers[0].flavor)) return {};
  for (int rank = 0; rank < communicator.size(); ++rank) {
    const Offer& offer = offers[static_cast<std::size_t>(rank)];
    if (rank == communicator.rank()) continue;
    if (auto reached = probe_process(offer.process); !reached) return reached;
  }
  return {};
}

/// What this rank does by itself between the two exchanges.
Result<WindowSegment> join(const Communicator& communicator, const std::vector<Offer>& offers,
                           std::uint32_t number, std::size_t bytes) {
  if (auto reached = probe(communicator, offers); !reached) return propagate(reached);
  const auto name = segment_name(communicator, number);
  auto memory = runtime().world->shared_segment(name, bytes);
  if (!memory) return propagate(memory);
  return WindowSegment{name, kind_of(offers[0].flavor), std::move(*memory)};
}

/// The second exchange: all go on, or all fail with the reason of one of them.
Result<WindowSegment> agree(Communicator& communicator, Result<WindowSegment> joined) {
  auto codes = gather_from_all(communicator, joined ? -1 : static_cast<std::int32_t>(joined.error().code()));
  if (!codes) return propagate(codes);
  if (!joined) return joined;
  for (std::size_t rank = 0; rank < codes->size(); ++rank)
    if ((*codes)[rank] >= 0)
      return failure(static_cast<Errc>((*codes)[rank]), "rank {} of the window could not take part ({})",
                     rank, to_string(static_cast<Errc>((*codes)[rank])));
  return joined;
}

Offer offer_of(const WindowRequest& request, const coll::ContextClaim& claim,
               const std::optional<WindowSegment>& kept) {
  Offer offer;
  if (kept) offer.kept_name = kept->name;
  offer.base = reinterpret_cast<std::uint64_t>(request.base);
  offer.size_bytes = request.size_bytes;
  if (shares_memory(request.flavor))
    offer.process.process = static_cast<std::uint64_t>(own_process());
  else
    offer.process = own_card();
  offer.context = claim.proposal();
  offer.displacement_unit = request.displacement_unit;
  offer.flavor = static_cast<std::int16_t>(request.flavor);
  offer.contiguous = request.contiguous ? 1 : 0;
  return offer;
}

}  // namespace

Result<Window*> make_window(Communicator& communicator, const WindowRequest& request) {
  if (auto near = need_one_node(*runtime().world, communicator, "windows"); !near) return propagate(near);
  if (auto may = need_no_survivors(*runtime().world, "windows"); !may) return propagate(may);
  give_up_protection("one-sided communication");
  coll::ContextClaim claim(runtime().collectives->context_ids());
  auto segment = take_kept(communicator, request.flavor);
  auto offers = gather_from_all(communicator, offer_of(request, claim, segment));
  if (!offers) return propagate(offers);
  auto number = claim.settle(coll::proposed_together(*offers));
  if (!number) return propagate(number);
  if (auto fits = check(*offers); !fits) return propagate(fits);
  const auto control_bytes = Control::size_bytes(offers->size(), request.flavor == MPI_WIN_FLAVOR_DYNAMIC);
  const auto begins =
      shares_memory(request.flavor)
          ? places(*offers, control_bytes, request.flavor == MPI_WIN_FLAVOR_SHARED && request.contiguous)
          : std::vector<std::size_t>{control_bytes};
  if (!is_kept_by_all(segment, *offers) || segment->memory.size() < begins.back()) {
    segment.reset();
    auto made = agree(communicator, join(communicator, *offers, *number, begins.back()));
    if (!made) return propagate(made);
    segment = std::move(*made);
  }
  auto members = members_of(communicator, *offers);
  if (shares_memory(request.flavor))
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      members[rank].here = segment->memory.data() + begins[rank];
      members[rank].base = reinterpret_cast<std::uint64_t>(members[rank].here);
    }
  Runtime& state = runtime();
  auto window =
      make_counted<Window>(request.flavor, communicator.group(), std::move(members), std::move(*segment),
                           Reference<ErrorHandler>(state.error_handlers.find(MPI_ERRORS_ARE_FATAL)));
  Window* made = window.get();
  if (!state.one_sided.windows) state.one_sided.windows = std::make_shared<Windows>();
  made->set_handle(state.one_sided.windows->insert(std::move(window)));
  return made;
}

void keep_segment(Window& window) {
  auto& kept = runtime().one_sided.kept_segments;
  if (!kept) kept = std::make_shared<KeptSegments>();
  const bool shares = shares_memory(window.flavor());
  const std::span own =
      shares ? std::span(window.self().here, window.self().size_bytes) : std::span<std::byte>();
  kept->keep(window.group(), window.take_segment(), own);
}

}  // namespace llamada::mpi::rma
