#include "p2p/arrivals.hpp"

#include <algorithm>

#include "llamada/base/copy.hpp"

namespace llamada::mpi {
namespace {

constexpr std::size_t copy_bytes_min = 64;
/// A longer copy is given back with its message.
constexpr std::size_t copy_kept_max = 4 << 10;

}  // namespace

Arrival& Arrivals::add(const IncomingMessage& message) {
  Arrival& arrival = take_unused();
  static_cast<Envelope&>(arrival) = static_cast<const Envelope&>(message);
  arrival.bytes = message.bytes;
  arrival.synchronous = message.synchronous;
  arrival.rendezvous = message.rendezvous;
  arrival.announcement = message.announcement;
  arrival.payload = message.payload.data();
  arrival.patch.assign(message.patch.begin(), message.patch.end());
  if (!(stays_ && message.stays) && !message.rendezvous) copy_payload(arrival, message);
  return arrival;
}

void Arrivals::copy_payload(Arrival& arrival, const IncomingMessage& message) {
  if (message.bytes >= SharedPayloads::bytes_min) {
    arrival.shared_copy = shared_payloads_.copy_of(message);
    arrival.payload = arrival.shared_copy.get();
    return;
  }
  if (arrival.copy_capacity < message.bytes || !arrival.copy) {
    arrival.copy_capacity = std::max(message.bytes, copy_bytes_min);
    arrival.copy = std::make_unique_for_overwrite<std::byte[]>(arrival.copy_capacity);
  }
  if (message.bytes > 0) copy_bytes(arrival.copy.get(), message.payload.data(), message.bytes);
  arrival.payload = arrival.copy.get();
}

void Arrivals::copy_all() {
  stays_ = false;
  for (auto& arrival : arrivals_) {
    if (!arrival->payload || arrival->payload == arrival->copy.get() || arrival->shared_copy) continue;
    arrival->copy = std::make_unique<std::byte[]>(arrival->bytes);
    arrival->copy_capacity = arrival->bytes;
    copy_bytes(arrival->copy.get(), arrival->payload, arrival->bytes);
    arrival->payload = arrival->copy.get();
  }
}

Arrival& Arrivals::take_unused() {
  if (!free_) {
    arrivals_.push_back(std::make_unique<Arrival>());
    return *arrivals_.back();
  }
  Arrival& arrival = *free_;
  free_ = arrival.next_free;
  return arrival;
}

void Arrivals::recycle(Arrival& arrival) {
  if (arrival.copy_capacity > copy_kept_max) {
    arrival.copy.reset();
    arrival.copy_capacity = 0;
  }
  arrival.shared_copy.reset();
  arrival.patch = {};
  arrival.payload = nullptr;
  arrival.next_free = free_;
  free_ = &arrival;
}

}  // namespace llamada::mpi
