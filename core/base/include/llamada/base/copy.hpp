#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace llamada {

namespace detail {
/// Below this libc copies by vector registers on every processor we know.
inline constexpr std::size_t copy_by_libc_max = 2048;

void copy_large(void* to, const void* from, std::size_t size_bytes);
void copy_middling_in(void* to, const void* from, std::size_t size_bytes);
void copy_middling_out(void* to, const void* from, std::size_t size_bytes);
bool fetches_middling_out(std::size_t size_bytes);
void copy_past_cache(void* to, const void* from, std::size_t size_bytes);
/// Only copies of at least this size ask the processor for the sizes of its caches. In a virtual machine the
/// answer takes 60 us.
inline constexpr std::size_t past_cache_bytes_least = std::size_t{1} << 20;
/// A quarter of the largest cache, at least past_cache_bytes_least. The largest number if the processor does
/// not tell, or cannot write past its caches.
std::size_t past_cache_bytes_min();

/// From here to copy_by_libc_max `rep movsb` is faster into lines that another core has, on processors that
/// claim fast short copies (FSRM). It does not fetch lines that it overwrites as a whole.
inline constexpr std::size_t copy_by_movsb_min = 1024;
extern const bool copies_short_by_movsb;
inline void copy_by_movsb(void* to, const void* from, std::size_t size_bytes) {
#if defined(__x86_64__)
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size_bytes)::"memory");
#else
  std::memcpy(to, from, size_bytes);
#endif
}

/// From copy_by_libc_max to here a copy between two cores' caches is bound by how many lines are on their
/// way.
inline constexpr std::size_t copy_middling_max = 65536;

/// A way to copy from copy_by_libc_max on.
struct CopyVariant {
  const char* name;
  void (*copy)(void* to, const void* from, std::size_t size_bytes);
};
/// Those that this processor can do, libc's first.
std::span<const CopyVariant> copy_variants();
/// The one that copy_large() has chosen or would choose.
const CopyVariant& copy_variant_in_use();
}  // namespace detail

/// Copies payload, as memcpy does: the two must not overlap; both may be null when there is nothing to copy.
///
/// From 2 KiB on libc takes `rep movsb` on most processors. On some processors that is the fastest way. On
/// others, for some alignments, it takes ten times as long as vector registers. The first such copy of a
/// process measures this in some microseconds. Where libc is slow, a loop of our own over AVX2 or SSE2
/// registers copies instead. Neither bypasses the cache, from which the reader takes the data.
///
/// Any thread. Safe before constructors have run.
inline void copy_bytes(void* to, const void* from, std::size_t size_bytes) {
  if (size_bytes >= detail::copy_by_libc_max) return detail::copy_large(to, from, size_bytes);
  if (size_bytes > 0) std::memcpy(to, from, size_bytes);
}

/// copy_bytes() from lines that another core has written into memory of our own. Up to 16 KiB a loop copies
/// that fetches lines ahead, which `rep movsb` does not. Up to 64 KiB that loop or copy_bytes() copies:
/// measurements choose the one that takes less time at present.
inline void copy_bytes_in(void* to, const void* from, std::size_t size_bytes) {
  if (size_bytes <= detail::copy_by_libc_max || size_bytes > detail::copy_middling_max)
    return copy_bytes(to, from, size_bytes);
  detail::copy_middling_in(to, from, size_bytes);
}

/// copy_bytes() of our own data into memory that another core has read before and will read. From 1 to 2 KiB
/// `rep movsb` copies, where the processor does that well. Up to 64 KiB copy_bytes() copies, or that loop
/// where measurements show that it takes less time at present (up to 16 KiB: much less). Between cores
/// with a common cache the loop is better; between others it takes two to four times as long.
inline void copy_bytes_out(void* to, const void* from, std::size_t size_bytes) {
  if (size_bytes >= detail::copy_by_movsb_min && size_bytes <= detail::copy_by_libc_max &&
      detail::copies_short_by_movsb)
    return detail::copy_by_movsb(to, from, size_bytes);
  if (size_bytes < detail::copy_by_libc_max || size_bytes > detail::copy_middling_max)
    return copy_bytes(to, from, size_bytes);
  detail::copy_middling_out(to, from, size_bytes);
}

/// copy_bytes() of a piece of `whole_bytes`, which the caller copies piece by piece. From a quarter of the
/// largest cache on, the source, the destination and the work of other cores would fill the cache. Then the
/// copy writes past the caches: it fetches no lines first and evicts none. Other threads see the copy before
/// anything that the caller writes next.
inline void copy_piece(void* to, const void* from, std::size_t size_bytes, std::size_t whole_bytes) {
  if (size_bytes >= detail::copy_by_libc_max && whole_bytes >= detail::past_cache_bytes_least &&
      whole_bytes >= detail::past_cache_bytes_min())
    return detail::copy_past_cache(to, from, size_bytes);
  copy_bytes(to, from, size_bytes);
}

/// True if the next copy_bytes_out() of that size will be quicker when the caller has fetched the lines that
/// it overwrites. False if it uses `rep movsb`, which fetches none, or if it is a trial by which
/// copy_bytes_out() measures the two ways.
inline bool copy_bytes_out_fetches(std::size_t size_bytes) {
  return size_bytes <= detail::copy_by_libc_max || size_bytes > detail::copy_middling_max ||
         detail::fetches_middling_out(size_bytes);
}

}  // namespace llamada
