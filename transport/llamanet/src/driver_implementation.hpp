#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver_arena.hpp"
#include "driver_histories.hpp"
#include "driver_links.hpp"
#include "driver_probe.hpp"
#include "driver_roster.hpp"
#include "driver_socket.hpp"
#include "history_server.hpp"
#include "llamada/llamanet/driver.hpp"
#include "names.hpp"
#include "shared_segments.hpp"

namespace llamada::llamanet {

/// What the messages and the ends of processes do to the roster, the histories, and what applications share.
class Driver::Implementation final : private DriverSocket::Host {
 public:
  static Result<std::unique_ptr<Implementation>> open(const DriverOptions& options);

  std::vector<DriverEvent> poll(std::chrono::milliseconds timeout);
  Status create_slots(std::uint32_t count, std::vector<std::string> identities);
  Result<std::uint32_t> add_slots(std::uint32_t count);
  /// To whoever asked, if it is still there.
  void answer(const DriverEvent::Question& question, const Message& message) {
    if (socket_->has(question.connection)) answer(question.connection, question.request, message);
  }
  void wake(const DriverEvent::Question& question, std::array<FileDescriptor, 3> streams);
  void end_application(std::uint32_t slot);
  bool close_if_idle();
  Result<log::ArenaWriter*> arena();
  Result<MappedArena> map(std::uint32_t slot) const;
  Status restore_journal(std::uint32_t slot, log::LogKey key, std::span<const log::JournalEntry> entries);
  Status probe_nodes(std::span<const std::string> endpoints_of_nodes);
  Status meet_nodes(std::span<const std::string> endpoints_of_nodes, const LinkChoice& choice);
  Result<std::string> add_slots_of_nodes(std::span<const std::uint32_t> nodes);
  Status meet_slots(std::span<const std::string> endpoints_of_nodes);
  void drop_slots(std::uint32_t first, std::uint32_t count);
  void set_remote(std::uint32_t slot, SlotState state, std::uint32_t incarnation);

  DriverOptions options_;
  std::string socket_name_;
  DriverRoster roster_;
  DriverHistories histories_{roster_};
  SharedSegments segments_{roster_.memory()};
  Names names_;
  std::optional<DriverSocket> socket_;             // from open() on
  std::optional<DriverArena> arena_;               // from arena() on
  std::optional<DriverLinks> links_;               // of a job on several nodes: from open() on
  std::unique_ptr<DriverProbe> probe_;             // of a job on several nodes: from probe_nodes() on
  std::unique_ptr<HistoryServer> history_server_;  // of a job on several nodes: from meet_nodes() on
  std::vector<DriverEvent> events_;

 private:
  Status on_datagram(std::uint64_t connection, Datagram datagram) override;
  void on_close(const Caller& caller) override;
  void on_refused(const Caller& caller, const std::string& why) override;
  void on_process_end(std::uint32_t slot) override;
  void on_bell() override;
  void on_links() override;

  Status on(std::uint64_t number, std::uint32_t request, const Attach& attach);
  Status on(std::uint64_t number, std::uint32_t request, const Peers& peers);
  Status on(std::uint64_t number, std::uint32_t request, const Say& say);
  Status on(std::uint64_t number, std::uint32_t request, const Inspect&);
  Status on(std::uint64_t number, std::uint32_t request, const Bye&);
  Status on(std::uint64_t number, std::uint32_t request, const Share& share);
  Status on(std::uint64_t number, std::uint32_t request, const Release& release);
  Status on(std::uint64_t number, std::uint32_t request, const Spawn& spawn);
  Status on(std::uint64_t number, std::uint32_t request, const Name& name);
  Status on(std::uint64_t number, std::uint32_t request, const Lengthen&);
  Status on(std::uint64_t number, std::uint32_t request, const Reach& reach);
  Status on(std::uint64_t number, std::uint32_t request, const Part& part);
  Status on(std::uint64_t number, std::uint32_t request, const Inject& inject);
  Status on(std::uint64_t number, std::uint32_t request, const Survey&);
  Status on(std::uint64_t number, std::uint32_t request, const Move& move);
  Status on(std::uint64_t number, std::uint32_t request, const Book&);
  Status on(std::uint64_t number, std::uint32_t request, const Agree& agree);
  Status on(std::uint64_t number, std::uint32_t request, const Park& park);
  Status on_rejoin(std::uint64_t number, std::uint32_t request, const Rejoin& rejoin,
                   std::vector<FileDescriptor> brought);
  Status answer_about_arena(std::uint64_t number, std::uint32_t request);
  // Messages that only a driver sends.
  template <typename Other>
  Status on(std::uint64_t, std::uint32_t, const Other&) {
    return failure(Errc::parse_error, "a message that only a driver may send");
  }
  void answer(std::uint64_t number, std::uint32_t request, const Message& message,
              std::function<Status(Passengers&)> board = {});
  Status board_peers(const std::vector<std::uint32_t>& slots, Passengers& passengers) const;
  void attach(std::uint64_t number, std::uint32_t request, std::uint32_t slot, FileDescriptor process,
              const std::string& name);
  Result<std::uint32_t> slot_for(const Attach& attach);
  Result<std::uint32_t> expected_slot(const Attach& attach) const;
  void on_departure(std::uint32_t slot);
};

}  // namespace llamada::llamanet
