// A master and workers on topics, as the samples share them.
//
// The master publishes a setup and pieces of work, each addressed to a worker by its number; workers publish
// results. All state lies in topics, one instance for each fact, and the topics are durable. So nothing
// depends on who comes first, and whoever is killed can be replaced:
//
// - a worker: the master sees that the worker's presence has no writer, and starts a late joiner with its
// number.
//   That reads the setup and the rest of the dead one's work from the history, and goes on;
// - the master: start the program again with the same --partition. The new master reads the results and the
//   presence of workers from the history, publishes what is left to do, and goes on;
// - the persistence service, for topics with a QoS file of DURABILITY PERSISTENT: start it again.
//
// The master disposes of a piece once it has the result, and in the end of everything. So the next run finds
// nothing, and a persistence service keeps nothing.
#pragma once

#include <functional>

#include "farm_master.hpp"
#include "farm_worker.hpp"

namespace farm {

/// main() of a sample: `master` makes the setup and the work, and judges the results.
template <typename Setup, typename Work, typename Result>
int run(const Options& options, Result (*compute)(const Setup&, const Work&),
        const std::function<int(Master<Setup, Work, Result>&)>& master) {
  try {
    if (options.worker >= 0) return Worker<Setup, Work, Result>(options, compute).run();
    Master<Setup, Work, Result> farm(options);
    const int code = master(farm);
    farm.finish();
    return code;
  } catch (const dds::core::Exception& error) {
    std::fprintf(stderr, "%s: %s\n", options.name.c_str(), error.what());
    return 1;
  }
}

}  // namespace farm
