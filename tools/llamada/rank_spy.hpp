#pragma once

#include <cstdint>
#include <string>

#include "rank_publisher.hpp"
#include "rank_topic.hpp"
#include "rank_watch.hpp"
#include "spy.hpp"

namespace llamada::tools {

struct RankSpyOptions {
  std::string job;          ///< as choose_job() takes it
  std::uint64_t count = 0;  ///< Ends after so many messages; 0: with the job, or when it is interrupted.
  bool as_json = false;
  bool publishes = false;  ///< Publishes on topics instead of printing.
  RankPublisherOptions publisher;
  RankWatchOptions watch;
};

/// Why these options do not go together, as one sentence; empty: they do.
std::string unfitting_option(const SpyOptions& asked, const RankSpyOptions& options);

/// Whether `spy` was asked for the messages of a job's ranks, not for a DDS topic of the name "ranks".
inline bool is_for_ranks(const SpyOptions& asked, const RankSpyOptions& options) {
  return asked.topic == rank_topic && (!asked.domain || options.publishes);
}

/// `llamada spy ranks`: prints or publishes the messages of a job's ranks as they are sent. No rank waits for
/// it. Without a job it waits for one. What `asked` has in common with a topic's spy goes before `options`.
/// Returns 0, or 1 if the job cannot be looked at, or nothing can be published.
int spy_on_ranks(const SpyOptions& asked, RankSpyOptions options);

}  // namespace llamada::tools
