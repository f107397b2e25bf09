// A master and workers on topics, as the samples share them.
//
// The master publishes a setup and pieces of work, each addressed to a worker by its number; workers publish
// results. All of it is RELIABLE, KEEP_ALL and TRANSIENT_LOCAL, so that nothing depends on who comes first:
// when a worker dies, a late joiner with its number reads the setup and the dead one's work from the history,
// and goes on. The master disposes of a piece once it has the result, so that a late joiner finds only what
// is left to do.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dds/dds.hpp"

extern char** environ;

namespace farm {

using Moment = std::chrono::steady_clock::time_point;
inline Moment now() { return std::chrono::steady_clock::now(); }
inline double seconds_since(Moment begin) { return std::chrono::duration<double>(now() - begin).count(); }

constexpr auto look_around = std::chrono::milliseconds(200);
constexpr int late_joiners_max = 10;
/// A worker that is to be killed is killed (by SIGKILL, which it sends itself) when it has given that many
/// results.
constexpr int results_before_death = 2;

struct Options {
  std::string name;  ///< Of the sample, in what it prints.
  int workers = 3;
  int kill = -1;          ///< The worker to kill.
  int worker = -1;        ///< This process is that worker; -1: the master.
  int die_after = -1;     ///< This worker is killed after so many results.
  std::string partition;  ///< Keeps runs apart.
  std::vector<std::string> rest;
};

/// "-w 3", "-k 1", "--worker 2", "--partition p"; all else is the sample's own and stays in `rest`.
inline Options parse(const std::string& name, int argc, char** argv) {
  Options options{name, 3, -1, -1, -1, name + "-" + std::to_string(::getpid()), {}};
  for (int i = 1; i < argc; i++) {
    const std::string option = argv[i];
    const bool has_value = i + 1 < argc;
    if (option == "-w" && has_value) {
      options.workers = std::max(1, std::atoi(argv[++i]));
    } else if (option == "-k" && has_value) {
      options.kill = std::atoi(argv[++i]);
    } else if (option == "--worker" && has_value) {
      options.worker = std::atoi(argv[++i]);
    } else if (option == "--die-after" && has_value) {
      options.die_after = std::atoi(argv[++i]);
    } else if (option == "--partition" && has_value) {
      options.partition = argv[++i];
    } else {
      options.rest.push_back(option);
    }
  }
  return options;
}

/// The value of one of the sample's own options, at least `least`.
inline int option(const Options& options, const std::string& name, int standard, int least = 1) {
  for (std::size_t i = 0; i + 1 < options.rest.size(); i++)
    if (options.rest[i] == name) return std::max(least, std::atoi(options.rest[i + 1].c_str()));
  return standard;
}

/// What is said to all workers: that nothing is left to do.
struct Order {
  bool finished = false;
};
LLAMADA_TYPE(Order, finished);

template <typename Qos>
Qos durable(Qos qos) {
  using namespace dds::core::policy;
  qos << Reliability::Reliable(dds::core::Duration::infinite()) << History::KeepAll()
      << Durability::TransientLocal();
  return qos;
}

template <typename... Conditions>
dds::core::cond::WaitSet wait_set(const Conditions&... conditions) {
  dds::core::cond::WaitSet waits;
  (waits.attach_condition(conditions), ...);
  return waits;
}

/// A participant with the topics of the farm. Work has the key members `worker` and `item`, Result the key
/// member `worker` and an `item`.
template <typename Setup, typename Work, typename Result>
struct Field {
  explicit Field(const Options& options)
      : publisher(participant, dds::pub::qos::PublisherQos()
                                   << dds::core::policy::Partition(options.partition)),
        subscriber(participant, dds::sub::qos::SubscriberQos()
                                    << dds::core::policy::Partition(options.partition)),
        setup(participant, options.name + ".setup"),
        work(participant, options.name + ".work"),
        results(participant, options.name + ".results"),
        orders(participant, options.name + ".orders") {}

  template <typename T>
  dds::pub::DataWriter<T> writer(const dds::topic::Topic<T>& topic) {
    return {publisher, topic, durable(publisher.default_datawriter_qos())};
  }
  template <typename T, typename Topic>
  dds::sub::DataReader<T> reader(const Topic& topic) {
    return dds::sub::DataReader<T>(subscriber, topic, durable(subscriber.default_datareader_qos()));
  }

  dds::domain::DomainParticipant participant{0};
  dds::pub::Publisher publisher;
  dds::sub::Subscriber subscriber;
  dds::topic::Topic<Setup> setup;
  dds::topic::Topic<Work> work;
  dds::topic::Topic<Result> results;
  dds::topic::Topic<Order> orders;
};

// ---- the worker ----

/// Computes what is addressed to it until the master is done, or gone.
template <typename Setup, typename Work, typename Result>
class Worker {
 public:
  using Compute = Result (*)(const Setup&, const Work&);

  Worker(const Options& options, Compute compute) : options_(options), compute_(compute), field_(options) {}

  int run() {
    const std::optional<Setup> setup = await_setup();
    if (!setup) return 1;
    work_.wait_for_historical_data(dds::core::Duration(60));
    while (!finished()) {
      if (!compute_next(*setup) && !wait()) return 1;
    }
    results_.wait_for_acknowledgments(dds::core::Duration(60));
    return 0;
  }

 private:
  std::optional<Setup> await_setup() {
    for (;;) {
      const auto samples = setup_.read();
      if (!samples.empty()) return samples[0].data();
      if (!wait()) return std::nullopt;
    }
  }

  /// One piece that nobody has finished. False: there is none.
  bool compute_next(const Setup& setup) {
    using dds::sub::status::InstanceState;
    const auto pieces = work_.select().state(InstanceState::alive()).max_samples(1).take();
    for (const auto& piece : pieces) {
      if (!piece.info().valid()) continue;
      Result result = compute_(setup, piece.data());
      result.worker = options_.worker;
      result.item = piece.data().item;
      if (count_++ == options_.die_after) ::raise(SIGKILL);
      results_.write(result);
    }
    return !pieces.empty();
  }

  bool finished() {
    for (const auto& order : orders_.read())
      if (order.info().valid() && order.data().finished) return true;
    return false;
  }

  /// Until something comes. False: the master was here, and is gone.
  bool wait() {
    try {
      waits_.wait(dds::core::Duration(look_around));
    } catch (const dds::core::TimeoutError&) {
    }
    const bool is_there = orders_.subscription_matched_status().current_count() > 0;
    was_there_ = was_there_ || is_there;
    if (is_there || !was_there_) return true;
    std::fprintf(stderr, "%s: worker %d: the master is gone\n", options_.name.c_str(), options_.worker);
    return false;
  }

  using State = dds::sub::status::DataState;
  const Options options_;
  const Compute compute_;
  Field<Setup, Work, Result> field_;
  dds::topic::ContentFilteredTopic<Work> mine_{
      field_.work, options_.name + ".mine",
      dds::topic::Filter("worker = %0", {std::to_string(options_.worker)})};
  dds::sub::DataReader<Setup> setup_ = field_.template reader<Setup>(field_.setup);
  dds::sub::DataReader<Work> work_ = field_.template reader<Work>(mine_);
  dds::sub::DataReader<Order> orders_ = field_.template reader<Order>(field_.orders);
  dds::pub::DataWriter<Result> results_ = field_.writer(field_.results);
  dds::sub::cond::ReadCondition any_setup_{setup_, State::new_data()};
  dds::sub::cond::ReadCondition any_work_{work_, State::new_data()};
  dds::sub::cond::ReadCondition any_order_{orders_, State::new_data()};
  dds::core::cond::WaitSet waits_ = wait_set(any_setup_, any_work_, any_order_);
  bool was_there_ = false;
  int count_ = 0;
};

// ---- the master ----

/// Starts the workers, publishes, collects; replaces who dies.
template <typename Setup, typename Work, typename Result>
class Master {
 public:
  explicit Master(const Options& options) : options_(options), field_(options) {}

  /// All results, by the item. Throws dds::core::Error when too many workers have died.
  std::map<int, Result> run(const Setup& setup, const std::vector<Work>& work) {
    for (int worker = 0; worker < options_.workers; worker++) start(worker);
    setup_.write(setup);
    for (Work piece : work) {
      piece.worker = piece.item % options_.workers;
      pieces_.write(piece);
    }
    while (found_.size() < work.size()) collect(work);
    orders_.write(Order{true});
    for (const auto& [worker, process] : processes_) ::waitpid(process, nullptr, 0);
    return std::move(found_);
  }

 private:
  void start(int worker) {
    if (++starts_[worker] > 1 + late_joiners_max)
      throw dds::core::Error("worker " + std::to_string(worker) + " has died too often");
    const std::string number = std::to_string(worker);
    std::vector<const char*> arguments{options_.name.c_str(), "--worker", number.c_str(), "--partition",
                                       options_.partition.c_str()};
    const std::string last = std::to_string(results_before_death);
    if (worker == options_.kill && starts_[worker] == 1)
      arguments.insert(arguments.end(), {"--die-after", last.c_str()});
    for (const std::string& each : options_.rest) arguments.push_back(each.c_str());
    arguments.push_back(nullptr);
    pid_t process = 0;
    if (::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr,
                      const_cast<char* const*>(arguments.data()), environ) != 0)
      throw dds::core::Error("a worker cannot be started");
    processes_[worker] = process;
  }

  void collect(const std::vector<Work>& work) {
    try {
      waits_.wait(dds::core::Duration(look_around));
    } catch (const dds::core::TimeoutError&) {
      look_for_early_deaths();
    }
    for (const auto& sample : results_.take()) {
      if (sample.info().valid()) {
        workers_[sample.info().instance_handle()] = sample.data().worker;
        engage(sample.data().worker, sample.info().publication_handle());
        take_result(sample.data(), work);
      }
      note_state(sample.info());
    }
  }

  void take_result(const Result& result, const std::vector<Work>& work) {
    if (found_.try_emplace(result.item, result).second)
      pieces_.dispose_instance(pieces_.lookup_instance(piece_of(work, result.item)));
  }

  Work piece_of(const std::vector<Work>& work, int item) const {
    Work piece = work[static_cast<std::size_t>(item)];
    piece.worker = item % options_.workers;
    return piece;
  }

  /// A worker whose results have no writer any more has died: a late joiner with its number takes over.
  void note_state(const dds::sub::SampleInfo& info) {
    using dds::sub::status::InstanceState;
    if (!(info.state().instance_state() == InstanceState::not_alive_no_writers())) return;
    const auto worker = workers_.find(info.instance_handle());
    if (worker == workers_.end() || replaced_.count(worker->second) != 0) return;
    ::waitpid(processes_[worker->second], nullptr, 0);
    replace(worker->second);
  }

  void replace(int worker) {
    replaced_[worker] = now();
    start(worker);
  }

  /// The first result of a late joiner that is alive, which comes from another writer than those before.
  void engage(int worker, const dds::core::InstanceHandle& writer) {
    const bool is_new = std::exchange(writers_[worker], writer) != writer;
    const auto replaced = replaced_.find(worker);
    if (replaced == replaced_.end() || !is_new) return;
    std::printf("%s: worker %d died; a late joiner with its number was engaged after %.3f s\n",
                options_.name.c_str(), worker, seconds_since(replaced->second));
    std::fflush(stdout);
    replaced_.erase(replaced);
  }

  /// Workers that die before they have a result are seen by their process alone.
  void look_for_early_deaths() {
    for (auto& [worker, process] : processes_) {
      const bool is_silent = writers_.count(worker) == 0 || replaced_.count(worker) != 0;
      if (is_silent && ::waitpid(process, nullptr, WNOHANG) == process) replace(worker);
    }
  }

  const Options options_;
  Field<Setup, Work, Result> field_;
  dds::pub::DataWriter<Setup> setup_ = field_.writer(field_.setup);
  dds::pub::DataWriter<Work> pieces_ = field_.writer(field_.work);
  dds::pub::DataWriter<Order> orders_ = field_.writer(field_.orders);
  dds::sub::DataReader<Result> results_ = field_.template reader<Result>(field_.results);
  dds::sub::cond::ReadCondition any_result_{results_, dds::sub::status::DataState::any()};
  dds::core::cond::WaitSet waits_ = wait_set(any_result_);
  std::map<int, pid_t> processes_;
  std::map<dds::core::InstanceHandle, int> workers_;  // by the instance of their results
  std::map<int, int> starts_;
  std::map<int, dds::core::InstanceHandle> writers_;  // of each worker, the last that gave a result
  std::map<int, Moment> replaced_;
  std::map<int, Result> found_;
};

/// main() of a sample: `master` makes the setup and the work, and judges the results.
template <typename Setup, typename Work, typename Result>
int run(const Options& options, Result (*compute)(const Setup&, const Work&),
        const std::function<int(Master<Setup, Work, Result>&)>& master) {
  try {
    if (options.worker >= 0) return Worker<Setup, Work, Result>(options, compute).run();
    Master<Setup, Work, Result> farm(options);
    return master(farm);
  } catch (const dds::core::Exception& error) {
    std::fprintf(stderr, "%s: %s\n", options.name.c_str(), error.what());
    return 1;
  }
}

}  // namespace farm
