#include "claim.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "bound_names.hpp"
#include "socket.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::size_t secret_digits = 16;
constexpr int attempts_max = 8;
/// A driver that begins to listen needs microseconds; a stopped one is not waited for without end.
constexpr std::chrono::seconds election_max{5};
constexpr std::chrono::milliseconds look_every{1};

Result<std::string> with_secret(std::string_view name) {
  std::uint64_t secret = 0;
  if (::getrandom(&secret, sizeof secret, 0) != sizeof secret) return system_failure("getrandom");
  return fmt::format("{}-{:0{}x}", name, secret, secret_digits);
}

bool is_stand_in(std::string_view name, std::string_view known) {
  if (name.size() != known.size() + 1 + secret_digits || !name.starts_with(known)) return false;
  const std::string_view rest = name.substr(known.size());
  return rest[0] == '-' && rest.find_first_not_of("0123456789abcdef", 1) == rest.npos;
}

Result<Claim> bind_secret(const std::string& known) {
  for (int attempt = 1;; ++attempt) {
    auto name = with_secret(known);
    if (!name) return propagate(name);
    auto socket = bind_at(*name);
    if (socket) return Claim{std::move(*name), std::move(*socket)};
    if (socket.error().code() != Errc::already_exists || attempt == attempts_max) return propagate(socket);
  }
}

Result<Claim> listening(Claim claim) {
  if (auto status = start_listening(claim.listener.get()); !status) return propagate(status);
  return claim;
}

/// Whose the socket is, as the kernel lists it.
std::optional<Credentials> listed_holder(const std::string& socket_name) {
  if (auto names = bound_names(socket_name))
    for (const BoundName& each : *names)
      if (each.name == socket_name && each.owner) return Credentials{0, *each.owner};
  return std::nullopt;
}

/// The same; as the other end of a connection shows it, where it takes one.
std::optional<Credentials> holder_of(const std::string& socket_name) {
  if (auto socket = connect_to(socket_name, look_every))
    if (auto credentials = credentials_of(socket->get())) return *credentials;
  return listed_holder(socket_name);
}

/// The names under which drivers of this user have been, or are being, started in place of `known`.
std::vector<BoundName> candidates(const std::string& known) {
  auto names = bound_names(known);
  if (!names) return {};
  std::erase_if(*names, [&](const BoundName& each) {
    return (each.name != known && !is_stand_in(each.name, known)) || !each.owner ||
           !may_deal_with(::geteuid(), *each.owner);
  });
  return std::move(*names);
}

Errc wait_until_decided(const std::string& known, const std::string& rival) {
  const auto end = std::chrono::steady_clock::now() + election_max;
  while (std::chrono::steady_clock::now() < end) {
    const auto names = candidates(known);
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const BoundName& each) { return each.name == rival; });
    if (found == names.end() || found->listening) return Errc::already_exists;
    std::this_thread::sleep_for(look_every);
  }
  return Errc::timeout;
}

tl::unexpected<Error> already_there(const std::string& known, const std::string& rival) {
  if (wait_until_decided(known, rival) == Errc::timeout)
    return failure(Errc::timeout, "a driver that has taken @{} does not begin to listen; is it stopped?",
                   rival);
  return failure(Errc::already_exists, "a driver listens at @{} already", rival);
}

/// Each candidate has bound its name before it looks at the others, so of two at least one sees the other.
/// One that listens has won; of two that do not listen yet, the lower name goes on and the higher one
/// withdraws.
Result<Claim> elect(const std::string& known, Claim claim) {
  const auto end = std::chrono::steady_clock::now() + election_max;
  while (std::chrono::steady_clock::now() < end) {
    bool undecided = false;
    for (const BoundName& rival : candidates(known)) {
      if (rival.name == claim.socket_name) continue;
      if (rival.listening || rival.name < claim.socket_name) {
        claim.listener.reset();
        return already_there(known, rival.name);
      }
      undecided = true;
    }
    if (!undecided) return listening(std::move(claim));
    std::this_thread::sleep_for(look_every);
  }
  return failure(Errc::timeout, "another driver that starts at @{}-… does not go on; is it stopped?", known);
}

}  // namespace

Result<Claim> claim_secret(std::string_view name) {
  std::string whole = socket_name(::geteuid(), name);
  auto socket = bind_at(whole);
  if (!socket) return propagate(socket);
  return listening({std::move(whole), std::move(*socket)});
}

Result<Claim> claim_known(std::string_view name) {
  const std::string known = socket_name(::geteuid(), name);
  auto socket = bind_at(known);
  if (socket) return elect(known, {known, std::move(*socket)});
  if (socket.error().code() != Errc::already_exists) return propagate(socket);
  const auto holder = holder_of(known);
  if (!holder || may_deal_with(::geteuid(), holder->uid)) return already_there(known, known);
  auto claim = bind_secret(known);
  if (!claim) return claim;
  if (!listed_holder(claim->socket_name))
    return failure(Errc::permission_denied,
                   "{}; another name would not be found here, where the kernel tells "
                   "no owners of names (sock_diag); ask that user to end it",
                   held_by(known, *holder));
  return elect(known, std::move(*claim));
}

std::optional<std::string> stand_in_for(const std::string& socket_name) {
  for (const BoundName& each : candidates(socket_name))
    if (each.listening && each.name != socket_name) return each.name;
  return std::nullopt;
}

Result<FileDescriptor> connect_to_own(const std::string& socket_name) {
  auto socket = connect_to(socket_name, look_every);
  if (socket) {
    if (auto status = limit_waits(socket->get(), std::chrono::milliseconds(0)); !status)
      return propagate(status);
    return socket;
  }
  if (socket.error().code() != Errc::would_block) return socket;
  if (auto holder = listed_holder(socket_name); holder && !may_deal_with(::geteuid(), holder->uid))
    return failure(Errc::permission_denied, "{}", held_by(socket_name, *holder));
  return connect_to(socket_name);
}

}  // namespace llamada::llamanet
