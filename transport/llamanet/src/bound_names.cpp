#include "bound_names.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::llamanet {
namespace {

// The states of a socket as sock_diag counts them (TCP's): bound only, and listening.
constexpr unsigned state_bound = 7;
constexpr unsigned state_listening = 10;
constexpr std::size_t part_bytes = 64 << 10;

struct Question {
  nlmsghdr header;
  unix_diag_req body;
};

Question question() {
  Question question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.body.sdiag_family = AF_UNIX;
  question.body.udiag_states = 1U << state_bound | 1U << state_listening;
  question.body.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID;
  return question;
}

/// Adds what one message tells of, if it is a socket of ours.
void take(nlmsghdr* message, std::string_view prefix, std::vector<BoundName>& names) {
  auto* socket = static_cast<unix_diag_msg*>(NLMSG_DATA(message));
  if (socket->udiag_type != SOCK_SEQPACKET) return;
  BoundName found;
  found.listening = socket->udiag_state == state_listening;
  auto left = static_cast<int>(message->nlmsg_len - NLMSG_LENGTH(sizeof *socket));
  for (auto* part = reinterpret_cast<rtattr*>(socket + 1); RTA_OK(part, left); part = RTA_NEXT(part, left)) {
    const auto* bytes = static_cast<const char*>(RTA_DATA(part));
    const std::size_t size = RTA_PAYLOAD(part);
    if (part->rta_type == UNIX_DIAG_NAME && size > 1 && bytes[0] == '\0')
      found.name.assign(bytes + 1, size - 1);
    uid_t owner = 0;
    if (part->rta_type == UNIX_DIAG_UID && size == sizeof owner) {
      std::memcpy(&owner, bytes, sizeof owner);
      found.owner = owner;
    }
  }
  if (found.name.starts_with(prefix)) names.push_back(std::move(found));
}

/// Nothing where the kernel does not answer.
std::optional<std::vector<BoundName>> ask_kernel(std::string_view prefix) {
  const FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const Question asked = question();
  if (!socket || ::send(socket.get(), &asked, sizeof asked, 0) < 0) return std::nullopt;
  std::vector<BoundName> names;
  alignas(nlmsghdr) std::array<char, part_bytes> part;
  for (;;) {
    const ssize_t count = ::recv(socket.get(), part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    auto left = static_cast<unsigned>(count);
    for (auto* message = reinterpret_cast<nlmsghdr*>(part.data()); NLMSG_OK(message, left);
         message = NLMSG_NEXT(message, left)) {
      if (message->nlmsg_type == NLMSG_DONE) return names;
      if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
      take(message, prefix, names);
    }
  }
}

std::vector<BoundName> sorted(std::vector<BoundName> names) {
  std::sort(names.begin(), names.end(),
            [](const BoundName& left, const BoundName& right) { return left.name < right.name; });
  const auto same = [](const BoundName& left, const BoundName& right) { return left.name == right.name; };
  names.erase(std::unique(names.begin(), names.end(), same), names.end());
  return names;
}

}  // namespace

std::vector<BoundName> names_in(const std::string& proc_net_unix, std::string_view prefix) {
  std::vector<BoundName> names;
  std::istringstream lines(proc_net_unix);
  for (std::string line; std::getline(lines, line);) {
    // Number, references, protocol, flags, type, state, inode, path.
    std::istringstream words(line);
    std::string number, references, protocol, flags, type, state, inode, path;
    if (!(words >> number >> references >> protocol >> flags >> type >> state >> inode >> path)) continue;
    if (type != "0005" || state != "01" || path[0] != '@') continue;
    path.erase(0, 1);
    if (path.starts_with(prefix)) names.push_back({path, std::nullopt, flags == "00010000"});
  }
  return sorted(std::move(names));
}

Result<std::vector<BoundName>> bound_names(std::string_view prefix) {
  if (auto names = ask_kernel(prefix)) return sorted(std::move(*names));
  std::ifstream file("/proc/net/unix");
  if (!file)
    return failure(Errc::unsupported,
                   "neither sock_diag nor /proc/net/unix can be read, so drivers cannot be found");
  std::stringstream text;
  text << file.rdbuf();
  return names_in(text.str(), prefix);
}

}  // namespace llamada::llamanet
