#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "coll/call.hpp"
#include "coll/comm_create.hpp"
#include "coll/context_ids.hpp"
#include "coll/intercommunicator.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "p2p/api_common.hpp"

// MPI_Comm_idup (MPI 3.1, 6.4.2). Several may be in progress at once, on communicators whose members differ:
// see ContextIds.

namespace llamada::mpi {
namespace {

struct DuplicationProposal {
  coll::ContextProposal context;
  std::uint32_t persistents = 0;  ///< collectives that it has made
  std::uint32_t unused = 0;
  coll::ChannelOffer::Names channels{};
};

/// What all members propose: the context together, the channels each for itself.
struct DuplicationProposals {
  coll::ContextProposal context;
  std::uint32_t persistents = 0;
  std::vector<coll::ChannelOffer::Names> channels;
};

class ExchangeProposals final : public coll::Machine {
 public:
  ExchangeProposals(coll::Channel& channel, const DuplicationProposal& own, DuplicationProposals& all)
      : channel_(channel), own_(own), all_(all) {}
  void begin() override { channel_.begin(coll::Kind::context); }
  bool step() override {
    if (!published_ && !(published_ = channel_.publish_whole({}, coll::everybody, plain_bytes(own_))))
      return false;
    for (; member_ < channel_.size(); ++member_) {
      if (member_ == channel_.self()) continue;
      const auto record = channel_.expect(member_, {}, sizeof(own_));
      if (!record) return false;
      DuplicationProposal theirs;
      std::memcpy(&theirs, record->payload.data(), sizeof(theirs));
      all_.context = all_.context.with(theirs.context);
      all_.persistents = std::max(all_.persistents, theirs.persistents);
      all_.channels.push_back(theirs.channels);
      channel_.next(member_);
    }
    return true;
  }

 private:
  coll::Channel& channel_;
  const DuplicationProposal own_;
  DuplicationProposals& all_;
  bool published_ = false;
  int member_ = 0;
};

class Duplication final : public coll::CollectiveTask {
 public:
  Duplication(coll::Channel& channel, Communicator& parent, Communicator& copy)
      : CollectiveTask(channel, parent, {}),
        copy_(&copy),
        claim_(runtime().collectives->context_ids()),
        // Others may be in progress meanwhile, and need some, too.
        offer_(runtime().collectives->spare_channels(), parent.group()->members(), offered_max),
        all_{claim_.proposal(), runtime().collectives->persistent_count(), {offer_.names()}} {}

  /// The program is told.
  int complete(MPI_Status* status) override {
    claim_.end();
    return no_context_ ? MPI_ERR_OTHER : CollectiveTask::complete(status);
  }
  int report(int code) override {
    if (!no_context_) return CollectiveTask::report(code);
    return mpi::report(communicator(), *no_context_);
  }

 private:
  static constexpr std::size_t offered_max = 3;

  std::unique_ptr<coll::Machine> make_machine() override {
    return std::make_unique<ExchangeProposals>(
        channel(), DuplicationProposal{claim_.proposal(), all_.persistents, 0, offer_.names()}, all_);
  }
  void finish() override {
    const auto context = claim_.agree(all_.context);
    if (!context) {
      no_context_ = context.error();
      return;
    }
    copy_->set_context(*context);
    copy_->collectives = offer_.take(copy_->group()->members(), all_.channels, *context);
    copy_->persistents_before = all_.persistents;
    if (copy_->is_inter()) copy_->local().set_context(*context + 1);
  }

  Reference<Communicator> copy_;
  coll::ContextClaim claim_;
  coll::ChannelOffer offer_;  // what was not taken is spare again when the program is told
  DuplicationProposals all_;
  std::optional<Error> no_context_;
};

Communicator* add_copy(Communicator& parent) {
  if (parent.is_inter()) return add_intercommunicator(parent, 0, parent.group(), parent.remote_group());
  Communicator* copy = runtime().add_communicator(parent, 0, parent.group());
  copy->copy_topology(parent);
  return copy;
}

}  // namespace

int duplicate_later(Communicator& parent, MPI_Comm* copy, MPI_Request* request) {
  auto& collectives = *runtime().collectives;
  auto channel = collectives.channel(parent);
  if (!channel) return report(&parent, channel.error());
  Communicator* made = add_copy(parent);
  if (int code = parent.attributes().copy_to(parent.handle(), made->attributes())) {
    runtime().communicators.erase(made->handle());
    return call_error_handler(&parent, code);
  }
  *copy = made->handle();
  auto task = std::make_unique<Duplication>(**channel, parent, *made);
  task->start();
  return begin_task(std::move(task), request);
}

}  // namespace llamada::mpi
