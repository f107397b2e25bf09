#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coll/context_ids.hpp"
#include "coll/pieces.hpp"
#include "coll/spare_channels.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/waits/report.hpp"
#include "object/communicator.hpp"
#include "p2p/losses.hpp"
#include "world/past_log.hpp"

namespace llamada::mpi::coll {

/// The collective channels of a rank's communicators, and the context ids that it has seen. One for each
/// rank, made by MPI_Init.
///
/// Threads: the rank's MPI thread.
class Collectives {
 public:
  static constexpr std::uint32_t world_context = ContextIds::world_context;
  static constexpr std::uint32_t self_context = ContextIds::self_context;

  struct Options {
    bool keep_all = false;  ///< rank_replacement REBUILD: see Channel
    // The same for all ranks of a job.
    std::size_t piece_bytes = piece_bytes_usual;
    std::size_t log_bytes_max = std::size_t{1} << 20;  ///< Channel::Options::bound_bytes
    bool begins_with_barrier = false;                  ///< each blocking collective does
    std::function<std::string()> describe_call;
    std::function<void()> after_publish;
    std::function<bool()> may_contribute;    ///< see Channel
    std::function<void()> look_for_culprit;  ///< the same
    const Losses* losses = nullptr;          ///< borrowed; null: nothing is ever lost
  };

  /// `world`, `waiter` and `clock` are borrowed.
  Collectives(World& world, Waiter& waiter, const Clock& clock, Options options)
      : world_(world),
        arena_(world.arena()),
        waiter_(waiter),
        clock_(clock),
        options_(std::move(options)),
        context_ids_(world.rank()) {}

  /// The channel of a communicator of at least two members, made at first use unless the communicator was
  /// given a spare one.
  Result<Channel*> channel(Communicator& communicator) {
    if (auto usable = check_usable(communicator); !usable) return propagate(usable);
    if (Channel* const made = channel_if_made(communicator)) return made;
    return make_channel(communicator);
  }
  /// Errors: revoked.
  Status check_usable(const Communicator& communicator) const {
    return is_anything_lost() ? check_revoked(communicator) : Status();
  }
  /// Null before.
  Channel* channel_if_made(const Communicator& communicator) {
    if (!communicator.collectives) return nullptr;
    arena_.count(log::Counter::collectives);
    return static_cast<Holder&>(*communicator.collectives).channel();
  }
  /// The same, for those who only look.
  static const Channel* look_at_channel(const Communicator& communicator) {
    if (!communicator.collectives) return nullptr;
    return static_cast<const Holder&>(*communicator.collectives).channel();
  }
  /// A channel for a persistent collective alone: all members make them in the same order, and may start
  /// them in any. It goes with what is given. The first `new_persistents` of a program need nothing of the
  /// other members; later ones ask them for a spare channel that all have, because those that a program frees
  /// would use up the arena's logs otherwise.
  struct OwnChannel {
    std::unique_ptr<CommunicatorExtension> holder;
    Channel* channel = nullptr;
  };
  Result<OwnChannel> persistent_channel(Communicator& communicator);
  static constexpr std::uint32_t new_persistents = 256;
  /// How many this process has made.
  std::uint32_t persistent_count() const { return persistent_count_; }
  /// The program has freed a persistent collective that it had been told the end of: its channel is spare.
  void spare_persistent(OwnChannel own);
  Waiter& waiter() { return waiter_; }
  /// The root that a call has named last, as its channel numbers members: for those who look at a waiting
  /// rank.
  void set_root(int member) { root_ = member; }
  int root() const { return root_; }
  /// How far this rank has come, communicator by communicator.
  void describe(waits::Report& report) const;
  /// Whether data may go from memory to memory, past the logs: nothing of it is kept then. The same on all
  /// ranks of a job, always.
  bool may_be_direct() const { return !options_.keep_all && !(options_.losses && options_.losses->is_on()); }
  /// Whether ranks are lost or communicators revoked.
  bool is_anything_lost() const { return options_.losses && options_.losses->any(); }
  /// Ends the collectives that wait in vain for ranks that are lost, or in revoked communicators.
  void end_those_in_vain();
  /// Whether each blocking collective begins with a barrier.
  bool begins_with_barrier() const { return options_.begins_with_barrier; }

  /// In a replacement: the first contribution of its predecessors that it has not repeated; empty if there is
  /// none. Looks at logs of communicators that it has not made, too.
  std::string left_over();

  /// Moves all readers behind what is of no use: to be called whenever the rank waits.
  void skip_stale();
  /// Ends the job when a log shows that the rank it comes from has damaged its arena; at the second look that
  /// shows it.
  void look_for_damage();

  /// The collectives that follow have other logs (World::checkpoint()): the channels of these communicators,
  /// which are all that there are, have come to their end, and new ones are made at the next collectives.
  /// `past` gets the logs. No collective may be under way.
  void pass_checkpoint(std::span<Communicator* const> communicators,
                       std::vector<std::unique_ptr<PastLog>>& past);

  /// Whether no collective of the program is under way.
  bool is_idle() const;
  /// In a copy of the process, in the arena that it has taken over: Channel::take_over() of all. Errors: the
  /// same.
  Status take_over(std::function<bool()> may_contribute);

  /// This process's part is over, but the rank's is not: communicators that go are not given up (tests).
  void leave() { is_leaving_ = true; }

  /// The program frees the communicator: its channel is spare.
  void spare_channel(Communicator& communicator);

  /// The process in this slot has ended, and no communicator has it as a member.
  void part(int world_rank);

  /// What new communicators are named by, and the channels that they may have.
  ContextIds& context_ids() { return context_ids_; }
  SpareChannels& spare_channels() { return spare_channels_; }

 private:
  /// What hangs on the communicator.
  class Holder final : public CommunicatorExtension {
   public:
    Holder(Collectives& owner, std::unique_ptr<Channel> channel);
    ~Holder() override;
    Channel* channel() const { return channel_.get(); }
    /// The channel, which is of no communicator any more.
    std::unique_ptr<Channel> leave();

    std::uint32_t persistent_count = 0;  ///< collectives of the communicator with channels of their own

   private:
    Collectives& owner_;
    std::unique_ptr<Channel> channel_;
  };

  void keep_retired(std::unique_ptr<Channel> channel);
  void give_back_retired();
  Status check_revoked(const Communicator& communicator) const;
  Result<Channel*> make_channel(Communicator& communicator);
  Result<std::unique_ptr<CommunicatorExtension>> common_spare(Communicator& communicator, Channel& channel);
  Result<std::unique_ptr<Holder>> open(const Communicator& communicator, std::uint32_t persistent);

  /// So many wait before it is looked again whether their logs are needed.
  static constexpr std::size_t retired_before_look = 8;

  World& world_;
  log::ArenaWriter& arena_;
  std::vector<std::unique_ptr<Channel>> retired_;  // whose logs others may still read
  std::size_t retired_look_at_ = retired_before_look;
  Waiter& waiter_;
  const Clock& clock_;
  Options options_;
  std::vector<Channel*> channels_;
  std::chrono::nanoseconds next_damage_look_{0};
  std::set<std::pair<std::uint32_t, std::uint32_t>>
      known_;         // while histories are kept: what it has had channels for
  std::string lost_;  // what a channel that is gone had not repeated
  bool is_leaving_ = false;
  int root_ = 0;
  std::uint32_t persistent_count_ = 0;
  ContextIds context_ids_;
  SpareChannels spare_channels_;
};

}  // namespace llamada::mpi::coll
