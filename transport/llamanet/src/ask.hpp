#pragma once

#include <unistd.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/protocol.hpp"
#include "socket.hpp"

// How an application or a tool asks the driver: one question, one answer.

namespace llamada::llamanet {

/// What comes with the answer to an attach, in a job on one node.
inline constexpr std::size_t attached_descriptors_count = 3;
/// The same in a job on several nodes.
inline constexpr std::size_t with_book_descriptors_count = 6;

/// Errors: what the driver refused with; closed; parse_error for an answer of another kind.
template <typename Expected>
Result<Expected> ask(int driver, std::uint32_t request, Message message,
                     std::vector<FileDescriptor>& descriptors, std::size_t descriptors_max,
                     std::span<const int> passengers = {}) {
  if (auto sent = send_datagram(driver, encode({request, std::move(message)}), passengers); !sent)
    return propagate(sent);
  auto datagram = receive_datagram(driver, true, descriptors_max);
  if (!datagram) return propagate(datagram);
  auto envelope = decode(datagram->bytes);
  if (!envelope) return propagate(envelope);
  if (auto* error = std::get_if<ErrorMessage>(&envelope->message))
    return failure(error->code, "the driver refused: {}", error->text);
  auto* answer = std::get_if<Expected>(&envelope->message);
  if (answer == nullptr || envelope->request != request)
    return failure(Errc::parse_error, "the driver gave an answer to another question");
  descriptors = std::move(datagram->descriptors);
  return std::move(*answer);
}

/// The name could have been taken by anybody. Errors: permission_denied.
inline Status check_owner(int driver, std::string_view socket_name) {
  auto credentials = credentials_of(driver);
  if (!credentials) return propagate(credentials);
  if (may_deal_with(::geteuid(), credentials->uid)) return {};
  return failure(Errc::permission_denied, "{}", held_by(socket_name, *credentials));
}

}  // namespace llamada::llamanet
