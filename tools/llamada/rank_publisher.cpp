#include "rank_publisher.hpp"

#include <algorithm>
#include <dds/dds.hpp>
#include <utility>

namespace llamada::tools {
namespace {

using types::RankEvent;
using types::RankEventKind;
using types::RankMessage;

constexpr std::uint32_t events_depth = 10'000;
/// At the end of a job, for readers that are behind.
constexpr int last_words_s = 5;

::dds::pub::qos::DataWriterQos kept(const ::dds::pub::Publisher& publisher, std::uint32_t depth) {
  using namespace ::dds::core::policy;
  auto qos = publisher.default_datawriter_qos();
  qos << Reliability::Reliable() << Durability::TransientLocal()
      << History::KeepLast(static_cast<std::int32_t>(depth));
  return qos;
}

RankEventKind event_kind(RankChangeKind kind) {
  switch (kind) {
    case RankChangeKind::started:
      return RankEventKind::started;
    case RankChangeKind::died:
      return RankEventKind::died;
    case RankChangeKind::replaced:
      return RankEventKind::replaced;
    case RankChangeKind::live:
      return RankEventKind::live;
    case RankChangeKind::ended:
      return RankEventKind::ended;
    case RankChangeKind::deadline_missed:
      return RankEventKind::deadline_missed;
    case RankChangeKind::protection_ended:
      break;
  }
  return RankEventKind::protection_ended;
}

template <typename Sample>
void publish(::dds::pub::DataWriter<Sample>& writer, const Sample& sample, std::string& failure) {
  if (!failure.empty()) return;
  try {
    writer.write(sample);
  } catch (const ::dds::core::Exception& error) {
    failure = error.what();
  }
}

}  // namespace

struct RankPublisher::Entities {
  explicit Entities(const RankPublisherOptions& options)
      : participant(options.domain),
        publisher(participant),
        messages(publisher, ::dds::topic::Topic<RankMessage>(participant, types::rank_messages_topic),
                 kept(publisher, options.depth)),
        events(publisher, ::dds::topic::Topic<RankEvent>(participant, types::rank_events_topic),
               kept(publisher, events_depth)) {}

  ::dds::domain::DomainParticipant participant;
  ::dds::pub::Publisher publisher;
  ::dds::pub::DataWriter<RankMessage> messages;
  ::dds::pub::DataWriter<RankEvent> events;
};

Result<std::unique_ptr<RankPublisher>> RankPublisher::open(const RankPublisherOptions& options) {
  try {
    return std::unique_ptr<RankPublisher>(new RankPublisher(std::make_unique<Entities>(options)));
  } catch (const ::dds::core::Exception& error) {
    return ::llamada::failure(Errc::unsupported, "cannot publish in domain {}: {}", options.domain,
                              error.what());
  }
}

RankPublisher::RankPublisher(std::unique_ptr<Entities> entities) : entities_(std::move(entities)) {}
RankPublisher::~RankPublisher() = default;

void RankPublisher::set_job(std::string name) { job_ = std::move(name); }

void RankPublisher::finish() {
  write({.job = job_, .kind = RankEventKind::job_ended});
  if (!failure_.empty()) return;
  const ::dds::core::Duration limit(last_words_s);
  try {
    entities_->messages.wait_for_acknowledgments(limit);
    entities_->events.wait_for_acknowledgments(limit);
  } catch (const ::dds::core::Exception&) {
    // A reader that sleeps reads no more of this job.
  }
}

void RankPublisher::write(const RankEvent& event) { publish(entities_->events, event, failure_); }

void RankPublisher::on_message(const SeenMessage& seen) {
  RankMessage message{.job = job_,
                      .source = seen.source,
                      .destination = seen.destination,
                      .context = seen.context,
                      .tag = seen.tag,
                      .length = seen.payload.size_bytes,
                      .synchronous = seen.is_synchronous,
                      .number = seen.number,
                      .ordinal = seen.ordinal,
                      .incarnation = seen.incarnation,
                      .call_index = seen.call_index,
                      .has_payload = seen.payload.first_bytes.has_value()};
  if (seen.payload.first_bytes) message.payload = *seen.payload.first_bytes;
  publish(entities_->messages, message, failure_);
}

void RankPublisher::on_collective(const SeenCollective&) {}

void RankPublisher::on_missed(int source, std::optional<int>, std::uint64_t count) {
  write({.job = job_, .kind = RankEventKind::missed, .rank = source, .count = count});
}

void RankPublisher::on_change(const RankChange& change) {
  write({.job = job_,
         .kind = event_kind(change.kind),
         .rank = change.rank,
         .incarnation = change.incarnation,
         .pid = change.pid,
         .count = change.call_index,
         .call = std::string(change.call)});
}

}  // namespace llamada::tools
