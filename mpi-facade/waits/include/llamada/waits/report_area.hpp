#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "llamada/waits/report.hpp"

namespace llamada::waits {

/// Where in the user area of its arena (ArenaHeader::user) a rank reports. The rank writes, anybody reads.
///   offset 64  version u32   odd while the rest is written; a rank that has died there leaves it odd
///   offset 68  size u32      of the report in bytes
///   offset 72  the report    encode(), as words of 8 bytes
struct ReportArea {
  std::atomic<std::uint32_t> version;  // release after the rest; acquire before it
  std::atomic<std::uint32_t> size_bytes;
  alignas(8) std::byte bytes[2992];
};
inline constexpr std::size_t report_area_offset = 64;
static_assert(sizeof(ReportArea) == 3000 && offsetof(ReportArea, bytes) == 8);

/// Into the user area of the own arena. Threads: one at a time.
void write_report(std::span<std::byte> user_area, Report report);
/// From the user area of an arena. Nothing: there is none, or its writer was killed, or is writing, just
/// then.
std::optional<Report> read_report(std::span<const std::byte> user_area);

}  // namespace llamada::waits
