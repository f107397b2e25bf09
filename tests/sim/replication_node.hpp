#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "llamada/links/fake_link.hpp"
#include "llamada/replication/carrier.hpp"

namespace llamada::sim {

/// What a simulated node writes, and what the other one must find in its copy: both follow from the log and
/// the record's number.
struct SimRecord {
  std::uint8_t kind = 1;
  std::uint16_t flags = 0;
  std::uint64_t label = 0;
  std::vector<std::byte> payload;
  std::vector<std::byte> extra;  // 32 bytes beside a payload of more than 48, else none
};

struct SimLog {
  replication::LogName name;
  bool keeps_all = false;
  std::uint64_t record_count = 0;  // to be written in all
  std::uint64_t seed = 0;          // of the records' sizes
};
SimRecord record_of(const SimLog& log, std::uint64_t number);

/// Zeroed memory that outlives the incarnations of a node.
class SimMemory {
 public:
  explicit SimMemory(std::size_t size_bytes);
  SimMemory(const SimMemory&) = delete;
  SimMemory& operator=(const SimMemory&) = delete;
  ~SimMemory();
  std::span<std::byte> bytes() const { return {base_, size_bytes_}; }

 private:
  std::byte* base_;
  std::size_t size_bytes_;
};

/// A process with an arena and a carrier, which writes some logs and keeps copies of those of its peer. It
/// can be killed between two steps, and begins again as the next incarnation with the memory that is left.
class SimNode {
 public:
  SimNode(replication::EndpointNumber own, replication::EndpointNumber peer, links::FakeNetwork& network,
          std::size_t frame_bytes, std::vector<SimLog> written, std::vector<SimLog> kept);
  ~SimNode();
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  /// Begins as this incarnation. What is wrong, or an empty text.
  std::string begin(std::uint16_t incarnation, const replication::PeerState& peer);
  void kill();
  /// Whether the arena is refused more memory.
  void set_short_of_memory(bool is_short) { is_short_of_memory_ = is_short; }
  bool is_alive() const { return life_ != nullptr; }
  replication::PeerState state() const;
  void meet(const replication::PeerState& peer);
  /// From now on in all lives; none before.
  void meet_driver(const replication::PeerState& driver);
  /// Asks the driver for some log, as one who hears nothing of its writer.
  void catch_up(Random& random);
  log::PeerArena arena() const { return {memory_.bytes().data(), memory_.bytes().size()}; }

  /// Publishes one record of some log if there is one to publish and its log has room for it.
  void publish(Random& random, replication::Time now);
  std::string work(replication::Time now);
  /// Reads some records of some copy, and compares each.
  std::string read(Random& random);
  /// What breaks a bound now.
  std::string check_bounds() const;
  bool is_done() const;
  std::string describe() const;
  replication::Time due() const;

 private:
  struct Life;
  std::string compare(std::size_t index, const log::Record& record, std::uint64_t number);

  replication::EndpointNumber own_, peer_;
  std::unique_ptr<links::FakeLink> small_, bulk_;
  SimMemory memory_;
  std::vector<SimLog> written_, kept_;
  std::vector<std::uint64_t> read_;  // of each copy: all up to this record
  std::uint16_t incarnation_ = 0;
  bool is_short_of_memory_ = false;
  std::optional<replication::PeerState> driver_;
  std::unique_ptr<Life> life_;
};

/// Serves the logs of all nodes out of their memory, whether they live or not. It is never killed.
class SimDriver final : replication::Histories {
 public:
  static constexpr replication::EndpointNumber number = replication::driver_endpoint(0);
  SimDriver(links::FakeNetwork& network, std::size_t frame_bytes);
  void add(replication::EndpointNumber endpoint, const SimNode& node) { nodes_[endpoint] = &node; }
  /// The node has another incarnation.
  void changed(replication::EndpointNumber endpoint);
  replication::PeerState state() const { return {.small = small_->address(), .bulk = bulk_->address()}; }
  void work(replication::Time now) { carrier_->work(now); }
  replication::Time due() const { return carrier_->due(); }
  std::string check_bounds() const;

 private:
  std::optional<replication::LogSource> find(const replication::LogName& name,
                                             replication::EndpointNumber keeper) override;
  std::optional<replication::PeerState> introduce(replication::EndpointNumber stranger) override;

  std::unique_ptr<links::FakeLink> small_, bulk_;
  std::map<replication::EndpointNumber, const SimNode*> nodes_;
  std::set<replication::EndpointNumber> met_;
  std::unique_ptr<replication::Carrier> carrier_;
};

}  // namespace llamada::sim
