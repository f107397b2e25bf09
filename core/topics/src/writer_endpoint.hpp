#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "description.hpp"
#include "expiry.hpp"
#include "llamada/topics/participant.hpp"
#include "writer_limits.hpp"
#include "writer_store.hpp"

namespace llamada::topics::detail {

class ParticipantState;

/// A reader that a writer respects.
struct WriterMatch {
  std::uint32_t slot = 0;
  std::uint32_t arena_id = 0;
  std::uint32_t match_index = 0;
  std::uint64_t match_number = 0;
  const log::MatchEntry* entry = nullptr;
  std::uint32_t grant = 0;
  std::uint64_t start_sequence = 0;
  bool reliable = false;
  bool keeps = false;  // the reader is a service's that keeps the topic
  EndpointId reader;
  qos::EndpointQos reader_qos;
};

/// What is left of a deleted writer until its readers have ended.
struct RetiredWriter {
  std::uint32_t entry = 0;
  std::unique_ptr<WriterStore> store;
  std::vector<WriterMatch> matches;
};

class WriterImplementation final : public WriterEndpoint {
 public:
  static Result<std::unique_ptr<WriterImplementation>> create(ParticipantState& participant,
                                                              const EndpointSpec& spec, WriterEvents& events);
  ~WriterImplementation() override;

  Status loan(std::size_t size_bytes, Loan& into) override;
  Result<std::uint64_t> publish(Loan&& loan, const SampleHeader& header) override;
  Result<std::uint64_t> publish(std::span<const std::byte> data, const SampleHeader& header) override;
  bool all_acknowledged() override;
  Status set_qos(const qos::EndpointQos& qos) override;
  void assert_liveliness() override;
  EndpointId id() const override { return id_; }
  std::size_t matched_count() const override { return matches_.size(); }
  std::uint64_t published() const override { return store_->published(); }
  Result<std::uint64_t> publish(std::span<const std::byte> data, const SampleHeader& header,
                                const Origin& origin) override;
  bool has_keeper() const override;

  const EndpointSpec& spec() const { return spec_; }
  std::uint32_t entry() const { return entry_; }

  // For the participant, in poll().
  void consider(const EndpointInfo& reader);
  bool is_matched(std::uint32_t arena_id, std::uint64_t match_number) const;
  Status match(WriterMatch match, const EndpointInfo& reader, bool wants_history);
  /// Drops the matches for which `is_over` holds.
  template <typename Predicate>
  void unmatch(Predicate is_over, bool died) {
    for (std::size_t i = 0; i < matches_.size();)
      is_over(matches_[i]) ? unmatch_at(i, died) : static_cast<void>(++i);
  }
  /// Wakes the readers that LATENCY_BUDGET has let sleep, and sees whether the lease has run out. When to be
  /// called next, at the latest.
  std::int64_t keep_time(std::int64_t now_ns);
  /// Takes over what has been acknowledged.
  void keep_acknowledged() {
    if (keeps_acknowledged_) store_->acknowledged(acknowledged_by_all());
  }
  /// Whether the next poll() is to see more of it than what is acknowledged.
  bool wants_look() const { return judge_all || lease_lost_; }
  bool judge_all = true;  // it is new, or its QoS has changed
  /// Gives back the memory of samples that services have kept and all RELIABLE readers have.
  void give_back();

 private:
  WriterImplementation(ParticipantState& participant, const EndpointSpec& spec, WriterEvents& events);
  template <typename Action>
  auto attempt(const SampleHeader* header, Action action) -> decltype(action());
  Status check_room(const SampleHeader* header);
  void expire();
  std::int64_t next_expiry(std::int64_t now_ns);
  void look_at_expiry();
  void wait_for(std::uint32_t what);
  Result<std::uint64_t> published_one(const SampleHeader& header, std::size_t size_bytes);
  void wake_readers();
  void wake_now();
  std::uint64_t acknowledged_by_all() const;
  std::uint64_t kept();
  std::uint64_t kept_by_services() const;
  std::uint64_t released(std::uint64_t acknowledged);
  bool gives_back() const { return gives_back_ && !expiry_.is_finite(); }
  bool will_give_back() const;
  bool may_give_back(const Error& error) const;
  bool is_behind() const;
  bool is_matched(const EndpointId& reader) const;
  bool is_settled();
  void unmatch_at(std::size_t index, bool died);
  std::int64_t check_lease(std::int64_t now_ns);

  ParticipantState& participant_;
  EndpointSpec spec_;
  WriterEvents& events_;
  EndpointId id_;
  std::uint32_t entry_ = 0;
  std::unique_ptr<WriterStore> store_;
  WriterLimits limits_;
  Expiry expiry_;
  std::uint64_t expired_ = 0;  // samples up to this one have outlived LIFESPAN
  std::uint64_t kept_ = 0;     // up to this one a service has kept them
  const bool must_be_kept_;
  const bool keeps_acknowledged_;    // the store asks for what is acknowledged
  const bool gives_back_;            // what services have kept need not stay
  std::uint64_t released_ = 0;       // of that: up to this one services and RELIABLE readers have the samples
  std::vector<EndpointId> awaited_;  // readers that are to get what is here, and are not matched yet
  std::vector<WriterMatch> matches_;
  std::int64_t wake_due_ns_ = 0;  // 0: nobody waits to be woken
  bool lease_lost_ = false;
};

}  // namespace llamada::topics::detail
