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
/// Less than this is never much, so that the processor, which takes 60 us to tell of its caches in a virtual
/// machine, is asked by those alone that move more.
inline constexpr std::size_t past_cache_bytes_least = std::size_t{1} << 20;
/// A quarter of the largest cache, at least that; nothing goes past it where the processor does not tell, or
/// cannot do that.
std::size_t past_cache_bytes_min();

/// From here to copy_by_libc_max `rep movsb` is the faster way into lines that another core has, on
/// processors that say that it is fast for short copies (FSRM): it does not fetch what it overwrites as a
/// whole.
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
/// From 2 KiB on libc takes `rep movsb` on most processors. On some it is the fastest way there is, on others
/// an order of magnitude slower than vector registers for some alignments of source and destination. Which
/// kind this is, is measured once in a process, at the first such copy, in some microseconds; where libc is
/// slow, a loop of our own over AVX2 or SSE2 registers takes its place. Neither goes round the cache, from
/// where the reader takes what was written.
///
/// Any thread. Safe before constructors have run.
inline void copy_bytes(void* to, const void* from, std::size_t size_bytes) {
  if (size_bytes >= detail::copy_by_libc_max) return detail::copy_large(to, from, size_bytes);
  if (size_bytes > 0) std::memcpy(to, from, size_bytes);
}

/// copy_bytes() of what another core has written into memory of our own: up to 16 KiB by a loop that fetches
/// lines ahead, which `rep movsb` does not, up to 64 KiB by it or by copy_bytes(), whichever is seen to take
/// less time at present.
inline void copy_bytes_in(void* to, const void* from, std::size_t size_bytes) {
  if (size_bytes <= detail::copy_by_libc_max || size_bytes > detail::copy_middling_max)
    return copy_bytes(to, from, size_bytes);
  detail::copy_middling_in(to, from, size_bytes);
}

/// copy_bytes() of our own into memory that another core has read before and will read: from 1 to 2 KiB by
/// `rep movsb` where the processor does that well, up to 64 KiB by that loop or by copy_bytes(), where that
/// is seen to take less time at present (up to 16 KiB: much less): between cores with a cache in common the
/// loop is the better way, between others it takes two to four times as long.
inline void copy_bytes_out(void* to, const void* from, std::size_t size_bytes) {
  if (size_bytes >= detail::copy_by_movsb_min && size_bytes <= detail::copy_by_libc_max &&
      detail::copies_short_by_movsb)
    return detail::copy_by_movsb(to, from, size_bytes);
  if (size_bytes < detail::copy_by_libc_max || size_bytes > detail::copy_middling_max)
    return copy_bytes(to, from, size_bytes);
  detail::copy_middling_out(to, from, size_bytes);
}

/// copy_bytes() of a piece of `whole_bytes`, which the caller copies one after the other. Where that much is
/// a quarter of the largest cache and more, so that source and destination, and what other cores do
/// meanwhile, fill it, what is written goes past the caches: it need not be fetched first, and drives nothing
/// out. It is there for other threads before whatever the caller writes next.
inline void copy_piece(void* to, const void* from, std::size_t size_bytes, std::size_t whole_bytes) {
  if (size_bytes >= detail::copy_by_libc_max && whole_bytes >= detail::past_cache_bytes_least &&
      whole_bytes >= detail::past_cache_bytes_min())
    return detail::copy_past_cache(to, from, size_bytes);
  copy_bytes(to, from, size_bytes);
}

/// Whether the next copy_bytes_out() of that size will be quicker if the lines that it overwrites have been
/// fetched before. Not so if it goes by `rep movsb`, which does not fetch them, nor if it is one of those by
/// which copy_bytes_out() finds out which way is the faster.
inline bool copy_bytes_out_fetches(std::size_t size_bytes) {
  return size_bytes <= detail::copy_by_libc_max || size_bytes > detail::copy_middling_max ||
         detail::fetches_middling_out(size_bytes);
}

}  // namespace llamada
