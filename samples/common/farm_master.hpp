// The master of farm.hpp.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <map>
#include <set>
#include <utility>

#include "farm_field.hpp"

extern char** environ;

namespace farm {

constexpr int late_joiners_max = 10;
/// A worker that is to be killed is killed (by SIGKILL, which it sends itself) when it has given that many
/// results.
constexpr int results_before_death = 2;

/// Publishes the work, starts the workers, collects the results, and replaces who dies. Where a master was
/// killed, the next one of the same partition goes on with the results and the workers that it finds.
template <typename Setup, typename Work, typename Result>
class Master {
 public:
  explicit Master(const Options& options) : options_(options), field_(options) {}

  /// All results, by the item. Throws dds::core::Error when too many workers have died.
  std::map<int, Result> run(const Setup& setup, const std::vector<Work>& work) {
    take_over(work.size());
    orders_.write(Order{0, false, task_of(options_)});
    setup_.write(setup);
    for (Work piece : work) {
      piece.worker = piece.item % options_.workers;
      if (found_.count(piece.item) == 0) pieces_.write(piece);
    }
    for (int worker = 0; worker < options_.workers; worker++)
      if (alive_.count(worker) == 0) start(worker);
    is_working_ = true;
    while (found_.size() < work.size()) collect();
    return found_;
  }

  /// Ends the workers, and removes from the topics what is no longer wanted.
  void finish() {
    orders_.write(Order{0, true, task_of(options_)});
    is_working_ = false;
    for (const auto& [worker, process] : processes_) ::waitpid(process, nullptr, 0);
    while (!alive_.empty()) collect();
    for (const auto& [item, result] : found_) {
      forget_piece(item);
      Result key;
      key.item = item;
      forget(results_of_all_, key);
    }
    forget(setup_, Setup{});
    forget(orders_, Order{});
    const bool is_forgotten =
        wait_until_kept(pieces_) && wait_until_kept(results_of_all_) && wait_until_kept(orders_);
    if (!is_forgotten)
      std::fprintf(stderr, "%s: results of '%s' may still be kept\n", options_.name.c_str(),
                   options_.partition.c_str());
  }

 private:
  using InstanceState = dds::sub::status::InstanceState;

  /// Takes what a master before this one has left, if there was one.
  void take_over(std::size_t work_count) {
    const auto begin = now();
    before_.wait_for_historical_data(dds::core::Duration(history_s));
    for (const auto& order : before_.select().state(InstanceState::any()).read())
      if (order.info().valid() && order.data().task != task_of(options_))
        throw dds::core::Error("'" + options_.partition +
                               "' was begun with other options: " + order.data().task);
    results_.wait_for_historical_data(dds::core::Duration(history_s));
    workers_.wait_for_historical_data(dds::core::Duration(history_s));
    while (look()) {
    }
    if (found_.empty()) return;
    std::printf("%s: a master goes on with %zu of %zu results and %zu workers, which it found in %.3f s\n",
                options_.name.c_str(), found_.size(), work_count, alive_.size(), seconds_since(begin));
    std::fflush(stdout);
  }

  void start(int worker) {
    if (++starts_[worker] > 1 + late_joiners_max)
      throw dds::core::Error("worker " + std::to_string(worker) + " has died too often");
    std::vector<std::string> words{options_.name, "--worker", std::to_string(worker), "--partition",
                                   options_.partition};
    if (!options_.qos_file.empty()) words.insert(words.end(), {"--qos", options_.qos_file});
    if (worker == options_.kill && starts_[worker] == 1)
      words.insert(words.end(), {"--die-after", std::to_string(results_before_death)});
    words.insert(words.end(), options_.rest.begin(), options_.rest.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = 0;
    if (::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) != 0)
      throw dds::core::Error("a worker cannot be started");
    processes_[worker] = process;
  }

  void collect() {
    if (!wait_a_little(waits_)) look_for_early_deaths();
    look();
  }

  /// False: there was nothing new.
  bool look() {
    const auto presences = workers_.take();
    for (const auto& sample : presences) {
      const auto instance = sample.info().instance_handle();
      if (sample.info().valid()) numbers_[instance] = sample.data().worker;
      if (numbers_.count(instance) != 0) note_worker(numbers_[instance], sample.info());
    }
    const auto results = results_.take();
    for (const auto& sample : results) {
      if (!sample.info().valid()) continue;
      engage(sample.data().worker, sample.info().publication_handle());
      if (found_.try_emplace(sample.data().item, sample.data()).second) forget_piece(sample.data().item);
    }
    return !presences.empty() || !results.empty();
  }

  void forget_piece(int item) {
    Work key;
    key.worker = item % options_.workers;
    key.item = item;
    forget(pieces_, key);
  }

  /// Late joiners and persistence services keep nothing of the instance from now on.
  template <typename T>
  static void forget(dds::pub::DataWriter<T>& writer, const T& key) {
    writer.dispose_instance(key);
    writer.unregister_instance(key);
  }

  /// A worker whose instance has no writer any more has died: a late joiner with its number takes over.
  void note_worker(int worker, const dds::sub::SampleInfo& info) {
    if (info.state().instance_state() == InstanceState::alive()) {
      alive_.insert(worker);
    } else if (alive_.erase(worker) > 0 && is_working_) {
      replace(worker);
    }
  }

  void replace(int worker) {
    const auto process = processes_.find(worker);
    if (process != processes_.end()) {
      ::kill(process->second, SIGKILL);
      ::waitpid(process->second, nullptr, 0);
    }
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

  /// Workers that die before they are present are seen by their process alone.
  void look_for_early_deaths() {
    for (auto& [worker, process] : processes_)
      if (alive_.count(worker) == 0 && is_working_ && ::waitpid(process, nullptr, WNOHANG) == process)
        replace(worker);
  }

  const Options options_;
  Field<Setup, Work, Result> field_;
  dds::pub::DataWriter<Setup> setup_ = field_.writer(field_.setup);
  dds::pub::DataWriter<Work> pieces_ = field_.writer(field_.work);
  dds::pub::DataWriter<Order> orders_ = field_.writer(field_.orders);
  dds::pub::DataWriter<Result> results_of_all_ = field_.writer(field_.results);  // to dispose of them
  dds::sub::DataReader<Order> before_ = field_.template reader<Order>(field_.orders);
  dds::sub::DataReader<Result> results_ = field_.template reader<Result>(field_.results);
  dds::sub::DataReader<Presence> workers_ = field_.template reader<Presence>(field_.workers);
  dds::sub::cond::ReadCondition any_result_{results_, dds::sub::status::DataState::any()};
  dds::sub::cond::ReadCondition any_worker_{workers_, dds::sub::status::DataState::any()};
  dds::core::cond::WaitSet waits_ = wait_set(any_result_, any_worker_);
  std::map<int, pid_t> processes_;
  std::map<dds::core::InstanceHandle, int> numbers_;  // of workers, by the instance of their presence
  std::set<int> alive_;
  std::map<int, int> starts_;
  std::map<int, dds::core::InstanceHandle> writers_;  // of each worker, the last that gave a result
  std::map<int, Moment> replaced_;
  std::map<int, Result> found_;
  bool is_working_ = false;
};

}  // namespace farm
