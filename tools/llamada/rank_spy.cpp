#include "rank_spy.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cstdio>
#include <utility>

#include "fail.hpp"
#include "interrupt.hpp"
#include "job_choice.hpp"
#include "rank_printer.hpp"
#include "rank_publisher.hpp"

namespace llamada::tools {
namespace {

using namespace std::chrono_literals;

/// Where ranks and this thread want the same core, the ranks have it. Without that the command still waits
/// for nobody, and nobody for it. Call it once the participant is there: the node's driver, which that may
/// have started, is for other programs, too, and must not inherit this.
void give_way_to_ranks() {
  const sched_param none{};
  (void)::sched_setscheduler(0, SCHED_IDLE, &none);
}

/// Who is told, and when enough was told.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual RankWatchEvents& events() = 0;
  virtual void on_job(const std::string& name) = 0;
  /// After each look; whether it goes on.
  virtual bool goes_on() = 0;
  /// The job has ended, or the command is to end; its exit code.
  virtual int finish(bool has_ended) = 0;
};

class Printing final : public Listener {
 public:
  explicit Printing(const RankSpyOptions& options) : printer_(options.as_json, options.count) {}

  RankWatchEvents& events() override { return printer_; }
  void on_job(const std::string&) override {}
  bool goes_on() override {
    std::fflush(stdout);
    return !printer_.is_done();
  }
  int finish(bool) override {
    if (printer_.missed() > 0)
      fmt::print(stderr, "llamada: {} records in all came too fast to be shown\n", printer_.missed());
    return 0;
  }

 private:
  RankPrinter printer_;
};

class Publishing final : public Listener {
 public:
  Publishing(std::unique_ptr<RankPublisher> publisher, std::uint32_t domain)
      : publisher_(std::move(publisher)), domain_(domain) {}

  RankWatchEvents& events() override { return *publisher_; }
  void on_job(const std::string& name) override {
    publisher_->set_job(name);
    fmt::print(stderr, "llamada: publishing {} and {} of {} in domain {}\n", types::rank_messages_topic,
               types::rank_events_topic, name, domain_);
  }
  bool goes_on() override { return publisher_->failure().empty(); }
  int finish(bool has_ended) override {
    if (has_ended) publisher_->finish();
    if (publisher_->failure().empty()) return 0;
    fmt::print(stderr, "llamada: nothing more can be published: {}\n", publisher_->failure());
    return 1;
  }

 private:
  std::unique_ptr<RankPublisher> publisher_;
  std::uint32_t domain_;
};

/// Nothing: it was interrupted before a job came.
Result<std::optional<RankWatch>> meet_job(const RankSpyOptions& options, RankWatchEvents& events,
                                          const Interrupt& interrupt) {
  RankWatchOptions watch = options.watch;
  for (bool has_said = false;;) {
    auto job = choose_job(options.job);
    if (job) {
      auto met = RankWatch::open(job->socket_name, watch, events);
      if (met) return std::optional<RankWatch>(std::move(*met));
      if (met.error().code() != Errc::closed) return propagate(met);  // closed: it has just ended
    } else if (job.error().code() != Errc::not_found || !options.job.empty()) {
      return propagate(job);
    } else if (!std::exchange(has_said, true)) {
      fmt::print(stderr, "llamada: {}; waiting for one\n", job.error().text());
      watch.with_history = true;  // all that it sends comes after this command
    }
    if (interrupt.wait(20ms)) return std::optional<RankWatch>();
  }
}

/// Looks until the job ends, the listener has enough, or the command is interrupted; whether the job has
/// ended.
bool look_on(RankWatch& watch, Listener& listener, const Interrupt& interrupt) {
  LookPace pace;
  for (;;) {
    // What the ranks did before the driver ended is there at the look after it.
    const bool has_ended = watch.has_ended();
    const bool has_come = watch.look();
    if (!listener.goes_on()) return false;
    if (has_ended && !has_come) return true;
    if (interrupt.wait(pace.next(has_come))) return false;
  }
}

int watch_for(Listener& listener, const RankSpyOptions& options, const Interrupt& interrupt) {
  auto watch = meet_job(options, listener.events(), interrupt);
  if (!watch) return fail(watch.error());
  if (!*watch) return listener.finish(false);
  listener.on_job((*watch)->job());
  return listener.finish(look_on(**watch, listener, interrupt));
}

}  // namespace

std::string unfitting_option(const SpyOptions& asked, const RankSpyOptions& options) {
  if (!is_for_ranks(asked, options)) {
    const bool asks_for_ranks = !options.job.empty() || options.watch.from || options.watch.to ||
                                options.watch.tag || options.watch.with_collectives || options.publishes;
    return asks_for_ranks
               ? "JOB, --from, --to, --tag, --collectives and --publish belong to `llamada spy ranks`"
               : "";
  }
  if (!asked.where.empty())
    return "--where does not go with `spy ranks`; --from, --to and --tag choose messages";
  if (asked.as_csv) return "--csv does not go with `spy ranks`; --json prints a line for each message";
  if (options.watch.with_collectives && (options.watch.to || options.watch.tag))
    return "--collectives does not go with --to and --tag: a collective's records have neither";
  if (options.publishes && (asked.as_json || asked.count != 0 || options.watch.with_collectives))
    return "--publish prints no messages: --json, --count and --collectives do not go with it";
  if (asked.as_bytes && options.publishes && asked.shown_bytes_max > types::rank_payload_bytes_max)
    return fmt::format("--bytes: at most {} bytes of a message can be published",
                       types::rank_payload_bytes_max);
  return "";
}

int spy_on_ranks(const SpyOptions& asked, RankSpyOptions options) {
  options.count = asked.count;
  options.as_json = asked.as_json;
  options.watch.with_history = asked.with_history;
  if (asked.as_bytes) options.watch.bytes_max = asked.shown_bytes_max;
  const Interrupt interrupt;
  if (!options.publishes) {
    give_way_to_ranks();
    Printing printing(options);
    return watch_for(printing, options, interrupt);
  }
  options.watch.with_history = true;
  if (!asked.as_bytes) options.watch.bytes_max = types::rank_payload_bytes_max;
  options.publisher.domain = asked.domain.value_or(0);
  auto publisher = RankPublisher::open(options.publisher);
  if (!publisher) return fail(publisher.error());
  give_way_to_ranks();
  Publishing publishing(std::move(*publisher), options.publisher.domain);
  return watch_for(publishing, options, interrupt);
}

}  // namespace llamada::tools
