#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "job_past.hpp"
#include "job_shortening.hpp"
#include "job_streams.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/launcher/job_control.hpp"
#include "llamada/store/store.hpp"
#include "store_sync.hpp"

namespace llamada::launcher {

/// Keeps in a store what a job goes on from when its processes are gone: in closed cuts, of which each has
/// all that the ones before depend on. What the job does outside itself waits here until what led to it is
/// kept: output that mpirun is to show, and changes of files that ranks ask for. docs/internals/job-store.md.
///
/// One thread, that of the event loop.
class JobRecorder {
 public:
  struct Actions {
    std::function<void()> make_cut;  ///< numbers() must be called at once, and take() must follow, once
    std::function<void(control::Output)> show;
    std::function<void(std::uint64_t question)> go_on;
    /// Nothing can be kept any more; what was held is given. A sentence without a full stop.
    std::function<void(const std::string& why)> fail;
  };

  /// Begins the record of a job, or goes on with that of its past. No action is called before this has
  /// returned. Errors: those of the store and of the system.
  static Result<std::unique_ptr<JobRecorder>> begin(EventLoop& loop, std::unique_ptr<store::Store> store,
                                                    const control::Start& job, const JobPast* past,
                                                    Actions actions);
  ~JobRecorder();

  /// The ranks run: what they record is kept from time to time, also when nothing waits for it.
  void ranks_run() { tick(); }

  /// What waits until all that has been recorded so far is kept. The order of what is given is that of the
  /// calls.
  void hold(control::Output output);
  void hold(std::uint64_t question);
  /// What ranks share when the cut is asked for. Whatever a rank is told of a later move, it learns behind
  /// the cut.
  void numbers(const SharedNumbers& numbers);
  /// What ranks have recorded: the answer to Actions::make_cut.
  void take(const std::vector<JournalPiece>& pieces);
  /// The same: there is no answer. Nothing can be kept any more.
  void cannot_take(const std::string& why) { failed(why); }

  // What is kept with the next cut.
  void input(std::string_view bytes);  ///< of rank 0; empty: its end
  void process(std::uint32_t rank, std::int32_t pid, std::string_view host);
  void code(std::string_view line);
  /// A rank has written so much before the next checkpoint.
  void written(std::uint32_t rank, const WrittenOutput& written);
  void checkpoint(std::uint32_t number);
  void shown(const control::OutputShown& message);

  /// Nothing waits here.
  bool is_idle() const;
  std::size_t held_bytes() const { return held_bytes_; }
  /// All output that was given to mpirun is shown.
  bool is_all_shown() const { return given_ == shown_; }
  /// The first checkpoint that the job can go on from; 0: it can go on from the beginning.
  std::uint32_t checkpoint_min() const { return shortening_.checkpoint_min(); }
  /// Nothing is kept any more.
  bool has_ended() const { return has_ended_; }

  /// What it leaves: all that is in the store is durable and whole. What was held and is not in it is gone.
  struct Left {
    std::unique_ptr<store::Store> store;
    OutputSizes given;  ///< what was shown by Actions::show
  };
  /// The ranks are gone. Shows what the store has by now. Nothing may be called afterwards. Errors: those of
  /// the store.
  Result<Left> leave();

  /// The job cannot be resumed from now on: what is kept says why. What is held is given.
  void end(const std::string& why);

 private:
  using Held = std::variant<control::Output, std::uint64_t>;
  struct Written {
    store::BatchNumber batch = 0;
    std::deque<Held> held;
  };

  JobRecorder(EventLoop& loop, std::unique_ptr<JobStreams> streams, Actions actions);
  Status open(const control::Start& job, const JobPast* past);
  Status append_output(const control::Output& output);
  Status append_numbers();
  Status append_pieces(const std::vector<JournalPiece>& pieces);
  Status end_cut();
  void keep(Status status);
  void ask_if_needed();
  void ask();
  void tick();
  void synced(store::BatchNumber batch, const Status& status);
  void give(std::deque<Held> held);
  void give_all();
  void failed(const std::string& why);

  EventLoop& loop_;
  std::unique_ptr<JobStreams> streams_;
  JobShortening shortening_;
  Actions actions_;
  std::uint64_t timer_ = 0;
  std::deque<Held> held_;        ///< nobody has been asked for what led to it
  std::deque<Held> asked_;       ///< waits for the cut that is being made
  std::deque<Written> written_;  ///< waits for the disk
  std::size_t held_bytes_ = 0;   ///< of output in all three
  OutputSizes in_store_, given_, shown_, written_at_checkpoint_;
  struct {
    SharedNumbers asked;       ///< of the cut that is being made
    SharedNumbers in_store;    ///< of the last one
    std::uint64_t newest = 0;  ///< the item that has them, while older ones are there; 0: none are
  } numbers_;
  bool is_asking_ = false;
  bool has_news_ = false;  ///< beside what ranks record
  bool has_ended_ = false;
  std::unique_ptr<StoreSync> sync_;  ///< the last: its thread uses the store
};

}  // namespace llamada::launcher
