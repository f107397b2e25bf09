#include "p2p/shared_payloads.hpp"

#include <algorithm>
#include <vector>

#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

IncomingMessage message_from(int source, std::uint64_t chunk, std::span<const std::byte> payload) {
  IncomingMessage message;
  message.source = source;
  message.chunk = chunk;
  message.payload = payload;
  message.bytes = payload.size();
  return message;
}

}  // namespace

TEST_CASE("shared payloads: one that is shown again has one copy, and each other one of its own") {
  std::vector<std::byte> log(3000, std::byte{1});
  SharedPayloads payloads;
  const auto payload = std::span<const std::byte>(log).first(2000);
  const auto copy = payloads.copy_of(message_from(1, 5, payload));
  CHECK(copy.get() != payload.data());
  CHECK(payloads.copy_of(message_from(1, 5, payload)) == copy);

  // The chunk was used again: another payload in the same place, as from another sender.
  std::fill(log.begin(), log.end(), std::byte{2});
  const auto later = payloads.copy_of(message_from(1, 6, payload));
  const auto others = payloads.copy_of(message_from(2, 5, payload));
  const auto shorter = payloads.copy_of(message_from(1, 6, payload.first(1000)));
  CHECK((later != copy && others != copy && others != later && shorter != later));
  const auto has = [](const auto& of, std::size_t size, int value) {
    return std::all_of(of.get(), of.get() + size,
                       [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
  };
  CHECK((has(copy, 2000, 1) && has(later, 2000, 2) && has(others, 2000, 2) && has(shorter, 1000, 2)));
}

TEST_CASE("shared payloads: nothing is kept that no message has") {
  std::vector<std::byte> log(2000, std::byte{1});
  SharedPayloads payloads;
  std::weak_ptr<const std::byte[]> first = payloads.copy_of(message_from(0, 0, log));
  CHECK(first.expired());
  log[0] = std::byte{7};
  CHECK(payloads.copy_of(message_from(0, 0, log))[0] == std::byte{7});
}
