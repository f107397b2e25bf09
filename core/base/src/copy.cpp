#include "llamada/base/copy.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "llamada/base/faster_way.hpp"
#include "llamada/base/page.hpp"
#include "llamada/base/ticks.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace llamada::detail {
namespace {

void copy_by_libc(void* to, const void* from, std::size_t size) { std::memcpy(to, from, size); }

#if defined(__x86_64__)

/// How far `address` lies before the next multiple of `size`, at least 1.
std::size_t bytes_to_boundary(const std::byte* address, std::size_t size) {
  return size - (reinterpret_cast<std::uintptr_t>(address) & (size - 1));
}

// Both copy the first and the last register's worth unaligned, and what lies between to aligned addresses.
// The ends overlap with it; nothing is read after it was written, since source and destination are apart.

template <bool past_cache>
__attribute__((target("avx2"))) void store_aligned(__m256i* to, __m256i value) {
  if constexpr (past_cache)
    _mm256_stream_si256(to, value);
  else
    _mm256_store_si256(to, value);
}

template <bool past_cache>
__attribute__((target("avx2"))) void loop_by_avx2(void* to, const void* from, std::size_t size) {
  constexpr std::size_t width = sizeof(__m256i);
  auto* out = static_cast<std::byte*>(to);
  auto* in = static_cast<const std::byte*>(from);
  auto* const last = reinterpret_cast<__m256i*>(out + size - width);
  const __m256i tail = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + size - width));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
  const std::size_t skipped = bytes_to_boundary(out, width);
  auto* aligned = reinterpret_cast<__m256i*>(out + skipped);
  auto* source = reinterpret_cast<const __m256i*>(in + skipped);
  std::size_t left = (size - skipped) / width;
  for (; left >= 4; left -= 4, aligned += 4, source += 4) {
    const __m256i a = _mm256_loadu_si256(source), b = _mm256_loadu_si256(source + 1),
                  c = _mm256_loadu_si256(source + 2), d = _mm256_loadu_si256(source + 3);
    store_aligned<past_cache>(aligned, a);
    store_aligned<past_cache>(aligned + 1, b);
    store_aligned<past_cache>(aligned + 2, c);
    store_aligned<past_cache>(aligned + 3, d);
  }
  for (; left > 0; --left) store_aligned<past_cache>(aligned++, _mm256_loadu_si256(source++));
  _mm256_storeu_si256(last, tail);
}

__attribute__((target("avx2"))) void copy_by_avx2(void* to, const void* from, std::size_t size) {
  loop_by_avx2<false>(to, from, size);
}

__attribute__((target("avx2"))) void copy_past_cache_by_avx2(void* to, const void* from, std::size_t size) {
  loop_by_avx2<true>(to, from, size);
  _mm_sfence();  // What goes past the cache is in no order with what is stored behind it.
}

void copy_by_sse2(void* to, const void* from, std::size_t size) {
  constexpr std::size_t width = sizeof(__m128i);
  auto* out = static_cast<std::byte*>(to);
  auto* in = static_cast<const std::byte*>(from);
  auto* const last = reinterpret_cast<__m128i*>(out + size - width);
  const __m128i tail = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + size - width));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
  const std::size_t skipped = bytes_to_boundary(out, width);
  auto* aligned = reinterpret_cast<__m128i*>(out + skipped);
  auto* source = reinterpret_cast<const __m128i*>(in + skipped);
  std::size_t left = (size - skipped) / width;
  for (; left >= 4; left -= 4, aligned += 4, source += 4) {
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1),
                  c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_store_si128(aligned, a);
    _mm_store_si128(aligned + 1, b);
    _mm_store_si128(aligned + 2, c);
    _mm_store_si128(aligned + 3, d);
  }
  for (; left > 0; --left) _mm_store_si128(aligned++, _mm_loadu_si128(source++));
  _mm_storeu_si128(last, tail);
}

/// By lines that are fetched ahead, those to be written with the right to do so.
__attribute__((target("avx2"))) void copy_ahead_by_avx2(void* to, const void* from, std::size_t size) {
  constexpr std::size_t line = 64, ahead = 512;
  auto* out = static_cast<std::byte*>(to);
  auto* in = static_cast<const std::byte*>(from);
  const auto fetch = [&](std::size_t at) {
    // GCC's __builtin_prefetch for writing is a read without -mprfchw.
    __asm__ volatile("prefetchw %0" ::"m"(*reinterpret_cast<const char*>(out + at)));
    __builtin_prefetch(in + at);
  };
  for (std::size_t at = 0; at < std::min(ahead, size); at += line) fetch(at);
  std::size_t at = 0;
  for (; at + line <= size; at += line) {
    if (at + ahead < size) fetch(at + ahead);
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + at)),
                  b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + at + sizeof(__m256i)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at + sizeof(__m256i)), b);
  }
  if (at < size) std::memcpy(out + at, in + at, size - at);
}

bool has_fast_short_movsb() {
  constexpr unsigned features_leaf = 7, fsrm_bit = 4;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(features_leaf, 0, &a, &b, &c, &d) != 0 && (d >> fsrm_bit & 1) != 0;
}

/// 0 if the processor does not tell. Intel and AMD tell it alike, in a leaf of their own each (Intel SDM
/// vol. 2, CPUID leaf 4; AMD APM vol. 3, CPUID Fn8000_001D). Of AMD's third level libc may give the sum over
/// all cores.
std::size_t largest_cache_bytes() {
  std::size_t largest = 0;
  for (const unsigned leaf : {0x4U, 0x8000001dU}) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    for (unsigned cache = 0; __get_cpuid_count(leaf, cache, &a, &b, &c, &d) != 0 && (a & 0x1f) != 0;
         ++cache) {
      const std::size_t line = (b & 0xfff) + 1, partitions = (b >> 12 & 0x3ff) + 1, ways = (b >> 22) + 1;
      largest = std::max(largest, line * partitions * ways * (std::size_t{c} + 1));
    }
  }
  return largest;
}

bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
}

std::size_t least_past_cache_bytes() {
  const std::size_t cache = has_avx2() ? largest_cache_bytes() : 0;
  return cache > 0 ? std::max(cache / 4, past_cache_bytes_least) : std::numeric_limits<std::size_t>::max();
}

constexpr CopyVariant variants[] = {
    {"libc", &copy_by_libc}, {"sse2", &copy_by_sse2}, {"avx2", &copy_by_avx2}};

constexpr std::size_t probe_bytes = 8192;
/// Distances from a multiple of 4096; between them those that processors are known to be slow at: destination
/// shortly behind the source within a page, and borders of cache lines that do not agree.
struct Alignment {
  std::size_t to, from;
};
constexpr Alignment probed[] = {{0, 0},   {16, 0}, {0, 16}, {8, 0},      {40, 24},
                                {64, 48}, {1, 0},  {0, 1},  {2064, 2048}};

/// The least of several, so that what else the machine does hardly counts.
std::uint64_t ticks_for(const CopyVariant& variant, std::byte* to, const std::byte* from) {
  constexpr int attempts = 5;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::uint64_t start = processor_ticks();
    variant.copy(to, from, probe_bytes);
    least = std::min(least, processor_ticks() - start);
  }
  return least;
}

std::byte* page_in(std::vector<std::byte>& memory) {
  return memory.data() + bytes_to_boundary(memory.data(), page_bytes);
}

/// Whether libc is slow: several times slower than the loop at some alignment.
bool is_libc_slow(const CopyVariant& loop) {
  constexpr std::uint64_t slow_factor = 3;
  constexpr std::size_t room = probe_bytes + 2 * page_bytes;
  std::vector<std::byte> source(room), destination(room);
  return std::any_of(std::begin(probed), std::end(probed), [&](const Alignment& alignment) {
    std::byte* to = page_in(destination) + alignment.to;
    const std::byte* from = page_in(source) + alignment.from;
    return ticks_for(variants[0], to, from) > slow_factor * ticks_for(loop, to, from);
  });
}

const CopyVariant& choose() {
  const CopyVariant& loop = variants[has_avx2() ? 2 : 1];
  return is_libc_slow(loop) ? loop : variants[0];
}

#else

bool has_fast_short_movsb() { return false; }

constexpr CopyVariant variants[] = {{"libc", &copy_by_libc}};
const CopyVariant& choose() { return variants[0]; }

#endif

// Relaxed: it points to a constant, and several threads that choose at once may each use what they find. Null
// until then, so that no constructor has to run first.
constinit std::atomic<const CopyVariant*> chosen{nullptr};

#if defined(__x86_64__)

constinit FasterWay way_out(2);  // what the loop has written the reader gets sooner
constinit FasterWay way_out_large(0), way_in_large(0);

#endif

}  // namespace

const bool copies_short_by_movsb = has_fast_short_movsb();

std::span<const CopyVariant> copy_variants() {
#if defined(__x86_64__)
  return std::span(variants).first(has_avx2() ? 3 : 2);
#else
  return variants;
#endif
}

const CopyVariant& copy_variant_in_use() {
  const CopyVariant* variant = chosen.load(std::memory_order_relaxed);
  if (variant == nullptr) [[unlikely]] {
    variant = &choose();
    chosen.store(variant, std::memory_order_relaxed);
  }
  return *variant;
}

void copy_large(void* to, const void* from, std::size_t size_bytes) {
  copy_variant_in_use().copy(to, from, size_bytes);
}

#if defined(__x86_64__)

namespace {

const bool loops_ahead = has_avx2();
constexpr std::size_t always_looped_in_max = 16384, patiently_looped_out_max = 16384;

void copy_by_faster_way(FasterWay& ways, void* to, const void* from, std::size_t size_bytes) {
  const FasterWay::Turn turn = ways.take_turn();
  const std::uint64_t start = turn.is_trial ? processor_ticks() : 0;
  if (turn.way == 0)
    copy_ahead_by_avx2(to, from, size_bytes);
  else
    copy_large(to, from, size_bytes);
  if (turn.is_trial) [[unlikely]]
    ways.took(turn.way, processor_ticks() - start, size_bytes);
}

FasterWay& way_out_for(std::size_t size_bytes) {
  return size_bytes <= patiently_looped_out_max ? way_out : way_out_large;
}

}  // namespace

void copy_middling_in(void* to, const void* from, std::size_t size_bytes) {
  if (!loops_ahead) return copy_large(to, from, size_bytes);
  if (size_bytes <= always_looped_in_max) return copy_ahead_by_avx2(to, from, size_bytes);
  copy_by_faster_way(way_in_large, to, from, size_bytes);
}

void copy_middling_out(void* to, const void* from, std::size_t size_bytes) {
  if (!loops_ahead) return copy_large(to, from, size_bytes);
  copy_by_faster_way(way_out_for(size_bytes), to, from, size_bytes);
}

bool fetches_middling_out(std::size_t size_bytes) {
  return !loops_ahead || way_out_for(size_bytes).is_first_next();
}

std::size_t past_cache_bytes_min() {
  static const std::size_t least = least_past_cache_bytes();
  return least;
}

void copy_past_cache(void* to, const void* from, std::size_t size_bytes) {
  if (!loops_ahead) return copy_large(to, from, size_bytes);
  copy_past_cache_by_avx2(to, from, size_bytes);
}

#else

void copy_middling_in(void* to, const void* from, std::size_t size_bytes) {
  copy_large(to, from, size_bytes);
}
void copy_middling_out(void* to, const void* from, std::size_t size_bytes) {
  copy_large(to, from, size_bytes);
}
bool fetches_middling_out(std::size_t) { return true; }
std::size_t past_cache_bytes_min() { return std::numeric_limits<std::size_t>::max(); }
void copy_past_cache(void* to, const void* from, std::size_t size_bytes) { copy_large(to, from, size_bytes); }

#endif

}  // namespace llamada::detail
