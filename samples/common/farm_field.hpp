// What the master and the workers of farm.hpp share: options, topics and their QoS.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "dds/dds.hpp"

namespace farm {

using Moment = std::chrono::steady_clock::time_point;
inline Moment now() { return std::chrono::steady_clock::now(); }
inline double seconds_since(Moment begin) { return std::chrono::duration<double>(now() - begin).count(); }

constexpr auto look_around = std::chrono::milliseconds(200);
/// A worker whose master has gone waits so long for the next one.
constexpr int patience_s = 10;
constexpr int history_s = 60;

struct Options {
  std::string name;  ///< Of the sample, in what it prints.
  int workers = 3;
  int kill = -1;          ///< The worker to kill.
  int worker = -1;        ///< This process is that worker; -1: the master.
  int die_after = -1;     ///< This worker is killed after so many results.
  std::string partition;  ///< Keeps runs apart.
  std::string qos_file;   ///< Empty: TRANSIENT_LOCAL.
  std::vector<std::string> rest;
};

/// "-w 3", "-k 1", "--partition p", "--qos file", "--worker 2"; all else is the sample's own and stays in
/// `rest`.
inline Options parse(const std::string& name, int argc, char** argv) {
  Options options{name, 3, -1, -1, -1, name + "-" + std::to_string(::getpid()), {}, {}};
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
    } else if (option == "--qos" && has_value) {
      options.qos_file = argv[++i];
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

/// The sample's own options in one text.
inline std::string task_of(const Options& options) {
  std::string task;
  for (const std::string& each : options.rest) task += (task.empty() ? "" : " ") + each;
  return task;
}

/// What the master says to all workers. There is one instance, the newest sample counts.
struct Order {
  std::int32_t master = 0;
  bool finished = false;  ///< Nothing is left to do.
  std::string task;       ///< The sample's own options.
};
LLAMADA_TYPE(Order, LLAMADA_KEY(master), finished, task);

/// A worker writes this once. While it lives, the instance has a writer.
struct Presence {
  std::int32_t worker = 0;
};
LLAMADA_TYPE(Presence, LLAMADA_KEY(worker));

template <typename... Conditions>
dds::core::cond::WaitSet wait_set(const Conditions&... conditions) {
  dds::core::cond::WaitSet waits;
  (waits.attach_condition(conditions), ...);
  return waits;
}

/// Sleeps until a condition is true, or it is time to look around. False: it is time.
inline bool wait_a_little(dds::core::cond::WaitSet& waits) {
  try {
    waits.wait(dds::core::Duration(look_around));
    return true;
  } catch (const dds::core::TimeoutError&) {
    return false;
  }
}

/// Until all readers, and the persistence service if the topic needs one, have what was written. False: they
/// have not in time.
template <typename T>
bool wait_until_kept(dds::pub::DataWriter<T>& writer) {
  try {
    writer.wait_for_acknowledgments(dds::core::Duration(patience_s));
    return true;
  } catch (const dds::core::TimeoutError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return false;
  }
}

/// A participant with the topics of the farm. Setup has a key member `master`, Work the key members `worker`
/// and `item`, Result the key member `item` and a `worker`.
template <typename Setup, typename Work, typename Result>
struct Field {
  explicit Field(const Options& options)
      : qos_file(options.qos_file),
        publisher(participant, dds::pub::qos::PublisherQos()
                                   << dds::core::policy::Partition(options.partition)),
        subscriber(participant, dds::sub::qos::SubscriberQos()
                                    << dds::core::policy::Partition(options.partition)),
        setup(participant, options.name + ".setup"),
        work(participant, options.name + ".work"),
        results(participant, options.name + ".results"),
        orders(participant, options.name + ".orders"),
        workers(participant, options.name + ".workers") {}

  template <typename T>
  dds::pub::DataWriter<T> writer(const dds::topic::Topic<T>& topic) {
    auto qos = publisher.default_datawriter_qos() << dds::core::policy::Durability::TransientLocal();
    if (!qos_file.empty()) qos = dds::core::QosProvider(qos_file).datawriter_qos_for_topic(topic.name());
    qos << dds::core::policy::History::KeepAll();
    return {publisher, topic, in_order(qos)};
  }
  /// Of each instance it has the newest sample.
  template <typename T, typename Topic>
  dds::sub::DataReader<T> reader(const Topic& topic) {
    auto qos = subscriber.default_datareader_qos() << dds::core::policy::Durability::TransientLocal();
    if (!qos_file.empty()) qos = dds::core::QosProvider(qos_file).datareader_qos_for_topic(topic.name());
    return dds::sub::DataReader<T>(subscriber, topic, in_order(qos));
  }

  /// By the time of writing, so that what comes late does not replace what is newer.
  template <typename Qos>
  static Qos in_order(Qos qos) {
    using namespace dds::core::policy;
    qos << Reliability::Reliable(dds::core::Duration::infinite()) << DestinationOrder::SourceTimestamp();
    return qos;
  }

  const std::string qos_file;
  dds::domain::DomainParticipant participant{0};
  dds::pub::Publisher publisher;
  dds::sub::Subscriber subscriber;
  dds::topic::Topic<Setup> setup;
  dds::topic::Topic<Work> work;
  dds::topic::Topic<Result> results;
  dds::topic::Topic<Order> orders;
  dds::topic::Topic<Presence> workers;
};

}  // namespace farm
