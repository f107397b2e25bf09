#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "llamada/types/job_topics.hpp"
#include "rank_watch.hpp"

namespace llamada::tools {

struct RankPublisherOptions {
  std::uint32_t domain = 0;
  /// So many of the newest messages are kept for readers that come late.
  std::uint32_t depth = 100'000;
};

/// Publishes what a RankWatch tells on the topics of llamada/types/job_topics.hpp, as a participant of the
/// node's DDS domain. Its writers are RELIABLE, TRANSIENT_LOCAL and KEEP_LAST: a reader that sleeps holds up
/// nobody, and a late one gets what is kept.
class RankPublisher final : public RankWatchEvents {
 public:
  /// Errors: those of the driver, and of policies that do not fit.
  static Result<std::unique_ptr<RankPublisher>> open(const RankPublisherOptions& options);
  ~RankPublisher() override;

  /// The job that the following is about.
  void set_job(std::string name);
  /// The job has ended: says so, and waits for readers, but not for long.
  void finish();
  /// Why nothing more can be published (the node's driver is gone, memory is used up); empty: it can.
  const std::string& failure() const { return failure_; }

  void on_message(const SeenMessage& message) override;
  void on_collective(const SeenCollective& collective) override;
  void on_missed(int source, std::optional<int> destination, std::uint64_t count) override;
  void on_change(const RankChange& change) override;

 private:
  struct Entities;
  explicit RankPublisher(std::unique_ptr<Entities> entities);

  void write(const types::RankEvent& event);

  std::unique_ptr<Entities> entities_;
  std::string job_;
  std::string failure_;
};

}  // namespace llamada::tools
