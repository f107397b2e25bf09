#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/base/result.hpp"
#include "llamada/qos/profile.hpp"
#include "llamada/topics/data_reader.hpp"
#include "llamada/topics/data_writer.hpp"
#include "llamada/topics/transport.hpp"

namespace llamada::topics {

/// An application's place in a domain (DDS 1.4, 2.2.2.2.1): makes DataWriters and DataReaders and matches
/// them with those of the others. Nothing happens behind the application's back: discovery, matching and
/// arrival take place in poll() and wait(), which writes, reads and takes call by themselves.
///
/// Threads: one, the application's. The transport and the clock must outlive the participant, and the
/// participant its writers and readers.
class DomainParticipant {
 public:
  DomainParticipant(Transport& transport, const Clock& clock);
  ~DomainParticipant();
  DomainParticipant(const DomainParticipant&) = delete;
  DomainParticipant& operator=(const DomainParticipant&) = delete;

  /// Errors: invalid_argument (a policy or a name out of range), unsupported (legal, but not enforced here:
  /// HISTORY KEEP_LAST and RELIABILITY BEST_EFFORT of a writer, max_samples of a VOLATILE writer, limits on
  /// instances, a finite lease), out_of_resources.
  Result<std::unique_ptr<DataWriter>> create_writer(std::string topic, std::string type,
                                                    const qos::DataWriterQos& qos);
  /// Errors: as create_writer().
  Result<std::unique_ptr<DataReader>> create_reader(std::string topic, std::string type,
                                                    const qos::DataReaderQos& qos);

  /// Looks at what changed: who came, who went, what was matched. Errors: closed.
  Status poll();
  /// Polls until `condition` is true. Errors: timeout, closed.
  Status wait(const std::function<bool()>& condition, std::chrono::nanoseconds at_most);

  Transport& transport() { return transport_; }
  const Clock& clock() const { return clock_; }

 private:
  friend class DataWriter;
  friend class DataReader;

  // How far one peer's arena has been looked at.
  struct PeerView {
    std::uint32_t id = 0;
    PeerArena arena;
    std::uint32_t endpoints_scanned = 0;
    std::uint32_t logs_scanned = 0;
    std::uint32_t cursors_scanned = 0;
    LogReader grants;
    bool has_grants = false;
  };

  void look_at(std::uint32_t slot, PeerView& view);
  void look_at_grants(std::uint32_t slot, PeerView& view);
  Status grant(std::uint32_t reader_slot, std::uint32_t reader_id, std::uint32_t cursor_index,
               const LogPosition& position);
  void introduce(DataWriter& writer);
  void introduce(DataReader& reader);
  bool holds_old_arenas() const;
  std::uint32_t own_id() const;

  Transport& transport_;
  const Clock& clock_;
  std::vector<PeerView> peers_;  // by slot
  std::vector<DataWriter*> writers_;
  std::vector<DataReader*> readers_;
  LogWriter grants_;
  bool has_grants_ = false;
  Status failed_;
};

}  // namespace llamada::topics
