#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

// How commands find a bed, and talk to its keeper: by a SOCK_SEQPACKET socket in the abstract name space of
// the network namespace in which the bed was made. So nothing lies in a file system. One request a
// connection, one answer: words with spaces between them; an answer begins with "ok" or "error".

namespace llamada::bed {

/// The exit status of a test that cannot run here.
inline constexpr int exit_skipped = 77;
inline constexpr int nodes_max = 64;
inline constexpr const char* bed_variable = "LLAMADA_BED";

/// @llamada-bed/<uid>/<owner>-<id>
struct BedName {
  std::string id;
  pid_t owner = 0;  ///< the process with whose end the bed ends
  std::string socket_name() const;
};

/// A new one. Errors: those of the system.
Result<BedName> new_name(pid_t owner);
/// All of this user.
std::vector<BedName> all_beds();
/// The bed of this id; without one that of the environment (LLAMADA_BED), else the one whose owner is this
/// process's parent, or the nearest further ancestor. Errors: not_found.
Result<BedName> find_bed(const std::optional<std::string>& id);

struct ControlMessage {
  std::string text;
  std::vector<FileDescriptor> descriptors;
};

/// Bound, but not listening yet: whoever listens is whom SO_PEERCRED names. Errors: those of the system.
Result<FileDescriptor> bind_to(const BedName& name);
/// Errors: not_found (the bed is gone).
Result<FileDescriptor> connect_to(const BedName& name);
Status send_message(int socket, std::string_view text, std::span<const int> descriptors = {});
/// Errors: closed, would_block, those of the system.
Result<ControlMessage> receive_message(int socket);
/// One request, one answer without its "ok". Errors: what the keeper says, closed.
Result<ControlMessage> ask(const BedName& name, std::string_view request);

std::vector<std::string> words_of(std::string_view text);

}  // namespace llamada::bed
