#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace llamada::dcps {

/// Names an instance or an entity (DDS 1.4, 2.3.3 InstanceHandle_t). All zero is HANDLE_NIL. The handle of an
/// instance is made of its key alone, so that it is the same in all writers and readers of a topic; that of
/// an entity is unique in the domain.
struct InstanceHandle {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool is_nil() const { return high == 0 && low == 0; }
  auto operator<=>(const InstanceHandle&) const = default;
};

inline constexpr InstanceHandle handle_nil{};

/// The handle of the instance whose key has this hash (topics::SampleHeader::instance); 0 is the one instance
/// of a topic without key.
inline constexpr InstanceHandle instance_handle(std::uint64_t key_hash) {
  return {~std::uint64_t{0}, key_hash};
}

}  // namespace llamada::dcps

template <>
struct std::hash<llamada::dcps::InstanceHandle> {
  std::size_t operator()(const llamada::dcps::InstanceHandle& handle) const noexcept {
    return handle.high * 0x9e3779b97f4a7c15 ^ handle.low;
  }
};
