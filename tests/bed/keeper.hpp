#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control.hpp"
#include "node.hpp"
#include "relay.hpp"

namespace llamada::bed {

struct BedOptions {
  int nodes = 0;
  int mtu = 1500;
  std::uint64_t seed = 1;  ///< of relays, unless they are given one of their own
};

/// The process that a bed is: the first of a PID namespace in which all nodes lie, in network and mount
/// namespaces of its own with the bridge. Relays run in it. Whatever ends it, the kernel ends all else with
/// it, and what lay in those namespaces is gone. It ends by itself with the bed's owner.
class Keeper {
 public:
  /// Makes bridge and nodes. Errors: permission_denied, unsupported (this machine refuses what is needed),
  /// those of the system.
  static Result<Keeper> open(const BedName& name, const BedOptions& options);

  /// Answers the commands that come by `listener` until the owner ends, or one says so; then ends all nodes.
  void run(FileDescriptor listener, FileDescriptor owner);

 private:
  void wait(const FileDescriptor& listener, const FileDescriptor& owner);
  void accept(const FileDescriptor& listener);
  /// False: the client is done.
  bool serve(int client);
  Result<ControlMessage> answer(const std::vector<std::string>& words);
  Result<ControlMessage> namespaces_of(const Node& node);
  Result<ControlMessage> relay(int index, std::vector<std::string> words);
  Status open_relay(int index);
  Status close_relay(int index);
  Result<int> living_node(const std::string& text) const;
  Result<int> node_number(const std::string& text) const;
  void end_all();

  BedName name_;
  BedOptions options_;
  std::vector<Node> nodes_;
  std::map<int, std::unique_ptr<Relay>> relays_;
  std::vector<FileDescriptor> clients_;
  bool is_over_ = false;
};

/// Makes the keeper's process, with the namespaces around it, and waits until the bed is ready. The bed ends
/// with process `name.owner`. Errors: as Keeper::open().
Status start_keeper(const BedName& name, const BedOptions& options);

}  // namespace llamada::bed
