// A worker of farm.hpp.
#pragma once

#include <signal.h>

#include "farm_field.hpp"

namespace farm {

/// Computes what is addressed to it until a master says that nothing is left, or no master comes.
template <typename Setup, typename Work, typename Result>
class Worker {
 public:
  using Compute = Result (*)(const Setup&, const Work&);

  Worker(const Options& options, Compute compute) : options_(options), compute_(compute), field_(options) {}

  int run() {
    presence_.write(Presence{options_.worker});
    const std::optional<Setup> setup = await_setup();
    if (!setup) return 1;
    waits_.detach_condition(any_setup_);  // the next master says the same
    orders_.wait_for_historical_data(dds::core::Duration(history_s));
    work_.wait_for_historical_data(dds::core::Duration(history_s));
    while (!finished())
      if (!compute_next(*setup) && !wait()) return 1;
    wait_until_kept(results_);
    return 0;
  }

 private:
  using State = dds::sub::status::DataState;
  using InstanceState = dds::sub::status::InstanceState;

  std::optional<Setup> await_setup() {
    for (;;) {
      for (const auto& sample : setup_.select().state(InstanceState::alive()).read())
        if (sample.info().valid()) return sample.data();
      if (!wait()) return std::nullopt;
    }
  }

  /// One piece that has no result yet. False: there is none.
  bool compute_next(const Setup& setup) {
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

  /// Until something comes. False: there has been no master for too long.
  bool wait() {
    wait_a_little(waits_);
    if (orders_.subscription_matched_status().current_count() > 0) master_was_here_ = now();
    if (seconds_since(master_was_here_) < patience_s) return true;
    std::fprintf(stderr, "%s: worker %d: the master is gone\n", options_.name.c_str(), options_.worker);
    return false;
  }

  const Options options_;
  const Compute compute_;
  Field<Setup, Work, Result> field_;
  dds::topic::ContentFilteredTopic<Work> mine_{
      field_.work, options_.name + ".mine",
      dds::topic::Filter("worker = %0", {std::to_string(options_.worker)})};
  dds::pub::DataWriter<Presence> presence_ = field_.writer(field_.workers);
  dds::sub::DataReader<Setup> setup_ = field_.template reader<Setup>(field_.setup);
  dds::sub::DataReader<Work> work_ = field_.template reader<Work>(mine_);
  dds::sub::DataReader<Order> orders_ = field_.template reader<Order>(field_.orders);
  dds::pub::DataWriter<Result> results_ = field_.writer(field_.results);
  dds::sub::cond::ReadCondition any_setup_{setup_, State::new_data()};
  dds::sub::cond::ReadCondition any_work_{work_, State::new_data()};
  dds::sub::cond::ReadCondition any_order_{orders_, State::new_data()};
  dds::core::cond::WaitSet waits_ = wait_set(any_setup_, any_work_, any_order_);
  Moment master_was_here_ = now();
  int count_ = 0;
};

}  // namespace farm
