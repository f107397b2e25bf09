#include "player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "llamada/topics/matching.hpp"

namespace llamada::tools {
namespace {

using Seconds = std::chrono::duration<double>;
using namespace std::chrono_literals;

constexpr Seconds for_ever{std::numeric_limits<double>::infinity()};
/// A wait that takes longer says what it waits for.
constexpr Seconds quiet_for = 2s;
/// Readers that fit have met their writers within this time, unless their process is stopped.
constexpr Seconds meeting_at_most = 10s;
/// An interrupt does not end a sleep.
constexpr std::chrono::nanoseconds sleep_at_most = 100ms;

std::string in_quotes(const std::vector<std::string>& names) {
  return fmt::format("'{}'", fmt::join(names, "', '"));
}

}  // namespace

class Player::ReplayedWriter final : public topics::WriterEvents {
 public:
  static Result<std::unique_ptr<ReplayedWriter>> make(topics::Participant& participant,
                                                      const recording::Writer& recorded) {
    auto writer = std::make_unique<ReplayedWriter>();
    writer->spec_ = {recorded.topic, recorded.type,      recorded.type_hash,       recorded.keyed,
                     recorded.qos,   recorded.publisher, recorded.type_description};
    auto endpoint = participant.create_writer(writer->spec_, *writer);
    if (!endpoint)
      return failure(endpoint.error().code(), "topic '{}': {}", recorded.topic, endpoint.error().text());
    writer->endpoint_ = std::move(*endpoint);
    return writer;
  }

  const std::string& topic() const { return spec_.topic; }
  topics::WriterEndpoint& endpoint() { return *endpoint_; }
  bool has_reader() const { return !readers_.empty(); }
  bool lacks(const topics::EndpointInfo& reader) const {
    return !readers_.contains(reader.id) && topics::is_meant_for(reader, endpoint_->id()) &&
           topics::judge(spec_, reader).fits();
  }
  Status set_qos(const qos::EndpointQos& qos) {
    spec_.qos = qos;
    return endpoint_->set_qos(qos);
  }

  void on_matched(const topics::EndpointInfo& reader) override { readers_.insert(reader.id); }
  void on_qos_changed(const topics::EndpointInfo&) override {}
  void on_unmatched(const topics::EndpointId& reader, bool) override { readers_.erase(reader); }
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_liveliness_lost() override {}

 private:
  topics::EndpointSpec spec_;
  std::set<topics::EndpointId> readers_;
  std::unique_ptr<topics::WriterEndpoint> endpoint_;
};

Player::Player(const ReplayOptions& options, const Survey& survey, topics::Transport& transport,
               const Clock& clock, std::uint32_t domain)
    : options_(options),
      survey_(survey),
      clock_(clock),
      participant_(transport, clock, {domain, "llamada replay", {}}, this) {}

Player::~Player() = default;

Status Player::replay() {
  if (auto status = make_writers(); !status) return status;
  if (auto status = wait_for_readers(); !status) return status;
  if (auto status = play(); !status) return status;
  if (auto status = wait_for_acknowledgments(); !status) return status;
  writers_.clear();
  return {};
}

Status Player::make_writers() {
  for (const recording::Writer& recorded : survey_.writers) {
    auto writer = ReplayedWriter::make(participant_, recorded);
    if (!writer) return propagate(writer);
    writers_[recorded.number] = std::move(*writer);
  }
  return {};
}

Player::ReplayedWriter* Player::writer(std::uint32_t number) {
  const auto found = writers_.find(number);
  return found == writers_.end() ? nullptr : found->second.get();
}

Result<bool> Player::wait_until(const std::function<bool()>& has_come, Seconds at_most) {
  const auto start = clock_.monotonic();
  while (true) {
    if (auto status = participant_.poll(); !status) return propagate(status);
    if (has_come()) return true;
    interrupted_ = interrupted_ || interrupt_.wait(0s);
    const Seconds left = at_most - (clock_.monotonic() - start);
    if (interrupted_ || left <= 0s) return false;
    const auto sleep = std::min<Seconds>(left, sleep_at_most);
    const auto round = [&]() -> Result<bool> {  // what has come since rang nobody
      if (auto polled = participant_.poll(); !polled) return propagate(polled);
      return has_come();
    };
    const auto sleep_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(sleep);
    if (auto slept = participant_.wait_after(round, sleep_ns); !slept) return propagate(slept);
  }
}

std::vector<std::string> Player::topics_without_reader() const {
  std::set<std::string> without;
  for (const auto& [number, writer] : writers_) without.insert(writer->topic());
  for (const auto& [number, writer] : writers_)
    if (writer->has_reader()) without.erase(writer->topic());
  return {without.begin(), without.end()};
}

bool Player::all_have_met() const {
  for (const auto& [number, writer] : writers_)
    for (const auto& [id, reader] : readers_)
      if (writer->lacks(reader)) return false;
  return true;
}

Status Player::wait_for_readers() {
  const bool must_come = options_.wait_s != 0.0;
  if (must_come) {
    const Seconds at_most = options_.wait_s ? Seconds(*options_.wait_s) : for_ever;
    const auto has_come = [this] { return topics_without_reader().empty(); };
    auto come = wait_until(has_come, std::min(at_most, quiet_for));
    if (come && !*come && !interrupted_ && at_most > quiet_for) {
      fmt::print(stderr, "llamada: waiting for a reader of {}\n", in_quotes(topics_without_reader()));
      come = wait_until(has_come, at_most - quiet_for);
    }
    if (!come) return propagate(come);
    if (!*come && !interrupted_)
      return failure(Errc::timeout,
                     "no matching reader of {} has come within {} s; `llamada why TOPIC` says why a reader "
                     "does not match, and --wait 0 replays without readers",
                     in_quotes(topics_without_reader()), at_most.count());
  }
  // Each reader that is there gets all samples.
  auto met = wait_until([this] { return all_have_met(); }, meeting_at_most);
  return met ? Status() : propagate(met);
}

Status Player::play() {
  auto reader = recording::RecordingReader::open(options_.file);
  if (!reader) return propagate(reader);
  began_ = {clock_.monotonic(), clock_.realtime()};
  while (!interrupted_) {
    auto record = (*reader)->next();
    // Where it ends early, the survey has said so.
    if (!record || !*record) return {};
    Status done;
    if (const auto* sample = std::get_if<recording::Sample>(&**record)) {
      done = publish(*sample);
    } else if (const auto* change = std::get_if<recording::QosChange>(&**record)) {
      done = change_qos(*change);
    } else if (const auto* gone = std::get_if<recording::WriterGone>(&**record)) {
      done = end_writer(*gone);
    }
    if (!done) return done;
  }
  return {};
}

Status Player::wait_until_due(std::int64_t received_ns) {
  const auto passed_ns = static_cast<double>(received_ns - survey_.first_ns.value_or(received_ns));
  const Seconds due(passed_ns / 1e9 / options_.rate);
  const Seconds passed = clock_.monotonic() - began_.monotonic;
  auto waited = wait_until([&] { return clock_.monotonic() - began_.monotonic >= due; },
                           std::max<Seconds>(due - passed, 0s));
  return waited ? Status() : propagate(waited);
}

/// As far from the first sample as it was, by the rate.
std::int64_t Player::source_timestamp_ns(std::int64_t recorded_ns) const {
  // A long double holds any 64-bit number exactly.
  const long double first_ns =
      static_cast<long double>(survey_.start.realtime_ns) + survey_.first_ns.value_or(0);
  const long double moved_ns = static_cast<long double>(began_.realtime.count()) +
                               (recorded_ns - first_ns) / static_cast<long double>(options_.rate);
  using Limits = std::numeric_limits<std::int64_t>;
  if (moved_ns <= static_cast<long double>(Limits::min())) return Limits::min();
  if (moved_ns >= static_cast<long double>(Limits::max())) return Limits::max();
  return std::llround(moved_ns);
}

Status Player::publish(const recording::Sample& sample) {
  if (writer(sample.writer) == nullptr) return {};
  if (auto status = wait_until_due(sample.received_ns); !status || interrupted_) return status;
  topics::WriterEndpoint& endpoint = writer(sample.writer)->endpoint();
  topics::SampleHeader header = sample.header;
  header.source_timestamp_ns = source_timestamp_ns(header.source_timestamp_ns);
  Status outcome;
  const auto attempt = [&] {
    const auto published = endpoint.publish(sample.data, header);
    outcome = published ? Status() : Status(tl::unexpected<Error>(published.error()));
    return outcome || outcome.error().code() != Errc::would_block;
  };
  auto done = wait_until(attempt, for_ever);
  if (!done) return propagate(done);
  if (!*done) return {};  // interrupted
  if (!outcome)
    return failure(outcome.error().code(), "topic '{}': {}", writer(sample.writer)->topic(),
                   outcome.error().text());
  ++samples_;
  return {};
}

Status Player::change_qos(const recording::QosChange& change) {
  ReplayedWriter* changed = writer(change.writer);
  return changed == nullptr ? Status() : changed->set_qos(change.qos);
}

/// Its readers have all samples then: this process may end before they look again.
Status Player::end_writer(const recording::WriterGone& gone) {
  ReplayedWriter* ending = writer(gone.writer);
  if (ending == nullptr) return {};
  if (auto status = wait_until_due(gone.seen_ns); !status) return status;
  auto done = wait_until([&] { return ending->endpoint().all_acknowledged(); }, for_ever);
  if (!done) return propagate(done);
  if (*done) writers_.erase(gone.writer);
  return {};
}

Status Player::wait_for_acknowledgments() {
  const auto all_acknowledged = [this] {
    bool all = true;
    for (const auto& [number, writer] : writers_) all = writer->endpoint().all_acknowledged() && all;
    return all;
  };
  auto done = wait_until(all_acknowledged, quiet_for);
  if (done && !*done && !interrupted_) {
    fmt::print(stderr, "llamada: waiting until the readers have all samples\n");
    done = wait_until(all_acknowledged, for_ever);
  }
  return done ? Status() : propagate(done);
}

void Player::on_endpoint(const topics::EndpointInfo& endpoint) {
  if (!endpoint.writer) readers_[endpoint.id] = endpoint;
}

}  // namespace llamada::tools
