#pragma once

#include <memory>
#include <set>
#include <vector>

#include "llamada/topics/participant.hpp"
#include "stream.hpp"

namespace llamada::topics::detail {

class ParticipantState;

class ReaderImplementation final : public ReaderEndpoint {
 public:
  static Result<std::unique_ptr<ReaderImplementation>> create(ParticipantState& participant,
                                                              const EndpointSpec& spec, ReaderEvents& events);
  ~ReaderImplementation() override;

  Status set_qos(const qos::EndpointQos& qos) override;
  EndpointId id() const override { return id_; }
  std::size_t matched_count() const override;
  void acknowledge(const EndpointId& writer, std::uint64_t number) override;
  bool awaits_past() const override;

  // For the participant, in poll().
  Status consider(const StreamOrigin& origin, const EndpointInfo& writer, bool writer_lives);
  const std::vector<std::unique_ptr<Stream>>& streams() const { return streams_; }
  void start(Stream& stream, const EndpointDirectory::Grant* grant);
  /// Ends streams of which nothing is left, and says which writers are not alive. When to be called next.
  std::int64_t keep_time(std::int64_t now_ns);
  void drop_finished();
  /// These participants serve as persistence services now; others may stand by.
  void look_at_services(const std::vector<std::uint64_t>& services, bool has_standby);
  /// Whether the next poll() is to see more of it than what arrives.
  bool wants_look() const;
  bool judge_all = true;  // it is new, or its QoS has changed

 private:
  ReaderImplementation(ParticipantState& participant, const EndpointSpec& spec, ReaderEvents& events)
      : participant_(participant), spec_(spec), events_(events) {}
  Stream* find(const EndpointId& writer) const;
  Status open_stream(const StreamOrigin& origin, const EndpointInfo& writer, bool writer_lives);
  bool is_over(Stream& stream, bool& died);
  bool may_end(Stream& stream);
  bool is_from_service(const Stream& stream) const { return past_ && stream.writer.only_with.has_value(); }
  void hold_writers();
  void hold(Stream& stream, bool holds);
  void release(Stream& stream);
  void look_for_gap(Stream& stream);
  void say_gap(const Stream& stream, std::uint64_t first, std::uint64_t last);
  std::int64_t keep_time_of_past(std::int64_t now_ns);
  std::int64_t lease_end(const Stream& stream) const;

  ParticipantState& participant_;
  EndpointSpec spec_;
  ReaderEvents& events_;
  EndpointId id_;
  std::uint32_t entry_ = 0;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::set<EndpointId> over_;         // dead writers whose history was read
  std::unique_ptr<ReaderPast> past_;  // with DURABILITY TRANSIENT or PERSISTENT
  bool has_said_gap_ = false;
};

}  // namespace llamada::topics::detail
