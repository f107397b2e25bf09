#include "llamada/waits/report_area.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "llamada/base/check.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/log/arena_layout.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::waits {
namespace {

constexpr std::size_t word_bytes = 8;
constexpr int reads_max = 8;
static_assert(report_area_offset + sizeof(ReportArea) <= sizeof(log::ArenaHeader::user));

std::size_t whole_words(std::size_t size_bytes) {
  return (size_bytes + word_bytes - 1) / word_bytes * word_bytes;
}

}  // namespace

void write_report(std::span<std::byte> user_area, Report report) {
  auto& area = *reinterpret_cast<ReportArea*>(user_area.data() + report_area_offset);
  std::vector<std::byte> bytes = encode(std::move(report), sizeof(area.bytes));
  const auto size = static_cast<std::uint32_t>(bytes.size());
  LLAMADA_CHECK(size <= sizeof(area.bytes));
  bytes.resize(whole_words(size));
  const std::uint32_t begun = area.version.load(std::memory_order_relaxed) | 1;
  area.version.store(begun, std::memory_order_relaxed);
  // No word below may be seen before the odd version.
  std::atomic_thread_fence(std::memory_order_release);
  LLAMADA_CRASH_POINT("report:begun");
  area.size_bytes.store(size, std::memory_order_relaxed);
  log::copy_racing(area.bytes, bytes.data(), bytes.size());
  LLAMADA_CRASH_POINT("report:written");
  area.version.store(begun + 1, std::memory_order_release);
}

std::optional<Report> read_report(std::span<const std::byte> user_area) {
  const auto& area = *reinterpret_cast<const ReportArea*>(user_area.data() + report_area_offset);
  alignas(word_bytes) std::byte bytes[sizeof(area.bytes)];
  for (int read = 0; read < reads_max; ++read) {
    const std::uint32_t before = area.version.load(std::memory_order_acquire);
    const std::uint32_t size = area.size_bytes.load(std::memory_order_relaxed);
    if (before == 0) return std::nullopt;
    if ((before & 1) != 0 || size > sizeof(bytes)) continue;
    log::copy_racing(bytes, area.bytes, whole_words(size));
    // No word above may be read after the second look at the version.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (area.version.load(std::memory_order_relaxed) != before) continue;
    auto report = decode({bytes, size});
    if (!report) return std::nullopt;
    return std::move(*report);
  }
  return std::nullopt;
}

}  // namespace llamada::waits
