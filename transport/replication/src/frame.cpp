#include "llamada/replication/frame.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "llamada/base/check.hpp"
#include "llamada/base/crc32c.hpp"

namespace llamada::replication {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie in memory");
static_assert(std::is_trivially_copyable_v<FrameHead>);
static_assert(offsetof(FrameHead, flags) == 3 && offsetof(FrameHead, job) == 4 &&
              offsetof(FrameHead, from) == 8);
static_assert(offsetof(FrameHead, to) == 12 && offsetof(FrameHead, from_incarnation) == 16);
static_assert(offsetof(FrameHead, to_incarnation) == 18 && offsetof(FrameHead, cut) == 20);
static_assert(offsetof(FrameHead, number) == 24 && offsetof(FrameHead, seen) == 32);
static_assert(offsetof(FrameHead, size_bytes) == 48 && offsetof(FrameHead, crc) == 52);
static_assert(offsetof(FrameHead, mac) == 56);

std::uint64_t mac_of(const FrameHead& head, const SipHashKey& key) {
  return siphash_2_4(std::as_bytes(std::span(&head, 1)).first(offsetof(FrameHead, mac)), key);
}

}  // namespace

void seal_frame(std::span<std::byte> frame, std::span<const std::byte> tail, FrameHead head,
                const SipHashKey& key) {
  LLAMADA_CHECK(frame.size() >= frame_head_bytes);
  const auto body = frame.subspan(frame_head_bytes);
  head.size_bytes = static_cast<std::uint32_t>(body.size() + tail.size());
  head.crc = crc32c(tail, crc32c(body));
  head.mac = mac_of(head, key);
  std::memcpy(frame.data(), &head, sizeof(head));
}

CheckedFrame check_frame(std::span<const std::byte> datagram, const Identity& own) {
  CheckedFrame checked;
  FrameHead& head = checked.head;
  const auto refused = [&](FrameFault fault) {
    checked.fault = fault;
    return checked;
  };
  if (datagram.size() < frame_head_bytes) return refused(FrameFault::foreign);
  std::memcpy(&head, datagram.data(), sizeof(head));
  if (head.mark != frame_mark || head.version != frame_version) return refused(FrameFault::foreign);
  if (head.job != own.job) return refused(FrameFault::other_job);
  if (head.to != own.endpoint) return refused(FrameFault::not_for_us);
  if (head.mac != mac_of(head, own.key)) return refused(FrameFault::forged);
  const auto body = datagram.subspan(frame_head_bytes);
  if (head.size_bytes != body.size() || head.crc != crc32c(body)) return refused(FrameFault::damaged);
  checked.body = body;
  return checked;
}

const char* to_string(FrameFault fault) {
  static constexpr std::array<const char*, static_cast<std::size_t>(FrameFault::count)> names{
      "none",    "foreign",           "other job", "not for us", "forged",
      "damaged", "other incarnation", "malformed", "repeated"};
  return fault < FrameFault::count ? names[static_cast<std::size_t>(fault)] : "unknown";
}

}  // namespace llamada::replication
