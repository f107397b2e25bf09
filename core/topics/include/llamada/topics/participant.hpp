#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/log_writer.hpp"
#include "llamada/topics/discovery.hpp"
#include "llamada/topics/sample.hpp"
#include "llamada/topics/transport.hpp"

namespace llamada::topics {

namespace detail {
class ParticipantState;
class LogStore;
class SlotStore;
}  // namespace detail

/// Room for one sample in the writer's memory, to be filled in place and given to WriterEndpoint::publish().
/// Dropping it gives the room back. Move-only; must not outlive its writer. One of at most 48 bytes, and
/// further ones while one is out, are private memory and copied when published.
class Loan {
 public:
  Loan() = default;
  Loan(Loan&& other) noexcept { take(other); }
  Loan& operator=(Loan&& other) noexcept {
    if (this == &other) return *this;
    drop();
    take(other);
    return *this;
  }
  ~Loan() { drop(); }

  /// Gives the room back, if it has not been published.
  void drop() {
    reservation_.drop();
    if (slots_ != nullptr) give_back_slot();
    if (bool* small_is_lent = std::exchange(small_is_lent_, nullptr)) *small_is_lent = false;
    data_ = {};
    private_.reset();
  }

  /// Aligned to 64 bytes; to 8 for at most 48 bytes.
  std::span<std::byte> data() const { return data_; }

 private:
  friend class detail::LogStore;
  friend class detail::SlotStore;
  void give_back_slot();
  void take(Loan& other) {
    data_ = std::exchange(other.data_, {});
    reservation_ = std::move(other.reservation_);
    slots_ = std::exchange(other.slots_, nullptr);
    slot_ = other.slot_;
    small_is_lent_ = std::exchange(other.small_is_lent_, nullptr);
    private_ = std::move(other.private_);
  }

  std::span<std::byte> data_;
  log::Reservation reservation_;        // in a log
  detail::SlotStore* slots_ = nullptr;  // in a slot
  std::uint32_t slot_ = 0;
  bool* small_is_lent_ = nullptr;  // of a log's writer, whose room for small ones this has
  std::unique_ptr<std::uint64_t[]> private_;
};

/// Publishes samples of one topic to all matching readers. RELIABLE KEEP_ALL: a log, in which a sample lies
/// until all matched RELIABLE readers have it (VOLATILE), or for good (TRANSIENT_LOCAL), or until these and
/// the services have it (TRANSIENT, PERSISTENT). KEEP_LAST or BEST_EFFORT: a table of slots, which nobody can
/// block.
///
/// Threads: the Participant's. Deleting it leaves readers what they have not read yet.
class WriterEndpoint {
 public:
  virtual ~WriterEndpoint() = default;

  /// Room in place. Never waits. Errors: would_block (a reader is behind: SEND_WINDOW, RESOURCE_LIMITS or
  /// the log's bound; try again when Participant::wait() returns), out_of_resources (max_samples of what is
  /// kept for good, max_instances, or the arena's memory).
  Result<Loan> loan(std::size_t size_bytes) {
    Result<Loan> made;
    if (Status status = loan(size_bytes, *made); !status) made = propagate(status);
    return made;
  }
  /// The same, into a Loan that holds nothing.
  virtual Status loan(std::size_t size_bytes, Loan& into) = 0;
  /// The sequence number that the sample has got. Errors: as loan(); the loan is as it was then.
  virtual Result<std::uint64_t> publish(Loan&& loan, const SampleHeader& header) = 0;
  /// Copies. Errors: as loan().
  virtual Result<std::uint64_t> publish(std::span<const std::byte> data, const SampleHeader& header) = 0;

  /// True if each matched RELIABLE reader has all samples (DDS 1.4, 2.2.2.4.2.15), and, with DURABILITY
  /// PERSISTENT, a service has kept them. After false, the Participant is woken when it may have changed.
  virtual bool all_acknowledged() = 0;
  /// Errors: invalid_argument (inconsistent), incompatible (a policy that cannot change).
  virtual Status set_qos(const qos::EndpointQos& qos) = 0;
  /// LIVELINESS MANUAL_BY_TOPIC, and MANUAL_BY_PARTICIPANT (publish() does it, too).
  virtual void assert_liveliness() = 0;

  virtual EndpointId id() const = 0;
  virtual std::size_t matched_count() const = 0;
  /// The sequence number of the last sample.
  virtual std::uint64_t published() const = 0;

  /// As publish(): a sample that another writer wrote first. Only a RELIABLE KEEP_ALL writer can.
  virtual Result<std::uint64_t> publish(std::span<const std::byte> data, const SampleHeader& header,
                                        const Origin& origin) = 0;
  /// True while a service that keeps the topic reads from this writer.
  virtual bool has_keeper() const = 0;
};

/// Gives the samples of one topic from all matching writers to its ReaderEvents, each writer's in its order.
/// With DURABILITY TRANSIENT or PERSISTENT it first takes what the services have that keep the topic, then
/// what the writers have: no sample comes twice.
///
/// Threads: the Participant's.
class ReaderEndpoint {
 public:
  virtual ~ReaderEndpoint() = default;

  /// Errors: as WriterEndpoint::set_qos().
  virtual Status set_qos(const qos::EndpointQos& qos) = 0;
  virtual EndpointId id() const = 0;
  virtual std::size_t matched_count() const = 0;

  /// A reader that `keeps` says that all samples of this writer up to this one are kept. Nothing happens if
  /// the writer is no longer matched.
  virtual void acknowledge(const EndpointId& writer, std::uint64_t number) = 0;
  /// True until all services that keep the topic have given this reader all that they have. Always false with
  /// DURABILITY VOLATILE or TRANSIENT_LOCAL.
  virtual bool awaits_past() const = 0;
};

struct ParticipantOptions {
  std::uint32_t domain = 0;
  std::string name;
  std::vector<std::byte> user_data;
  bool keeps_topics = false;  ///< As ParticipantInfo's.
};

/// An application's place in a domain: makes WriterEndpoints and ReaderEndpoints and matches them with those
/// of the others (topic, type, PARTITION, and all policies with a request and an offer). Nothing happens
/// behind the application's back: discovery, matching, liveliness and arrival take place in poll().
///
/// Threads: one at a time, the caller serialises; except wait(), which one thread may call while others use
/// the Participant, and wake_self(). The transport, the clock and the events must outlive it, and it its
/// endpoints and Samples. One Participant a Transport.
class Participant {
 public:
  Participant(Transport& transport, const Clock& clock, ParticipantOptions options = {},
              DiscoveryEvents* discovery = nullptr);
  ~Participant();
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  /// Errors: invalid_argument (a policy out of range, an empty name), unsupported, out_of_resources.
  Result<std::unique_ptr<WriterEndpoint>> create_writer(const EndpointSpec& spec, WriterEvents& events);
  Result<std::unique_ptr<ReaderEndpoint>> create_reader(const EndpointSpec& spec, ReaderEvents& events);

  /// Looks at what changed: who came, who went, what was matched, and what arrived: all events come from
  /// here. Errors: closed (the domain is gone), out_of_resources (a directory of the arena is full).
  Status poll();
  /// How many deleted writers keep their entries, since readers have not let go of them yet.
  std::size_t deleted_writer_count() const;

  /// Sleeps until there may be something for poll(), no longer than `at_most` nor than the next lease. It may
  /// return sooner. Touches nothing of the Participant but by `look_again`, which is called once others can
  /// see that this one sleeps: it should poll() (with the caller's lock, if there are several threads) and
  /// say true if there is a reason not to sleep. Errors: closed.
  Status wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most);
  /// The same for one thread that works in rounds: `round` is its last one before it sleeps, which polls, and
  /// says true if it must not sleep. Errors: closed, and those of the round.
  Status wait_after(const std::function<Result<bool>()>& round, std::chrono::nanoseconds at_most);
  /// Ends a wait() that has begun, also from within its `look_again`. Any thread.
  void wake_self();
  /// Transport::check(): for whoever only calls poll(), every 100 ms or so.
  void check_domain();

  /// LIVELINESS MANUAL_BY_PARTICIPANT (DDS 1.4, 2.2.2.2.1.11).
  void assert_liveliness();
  Status set_user_data(std::vector<std::byte> user_data);

  /// EndpointId::participant of all its endpoints.
  std::uint64_t id() const;

 private:
  std::unique_ptr<detail::ParticipantState> state_;
};

}  // namespace llamada::topics
