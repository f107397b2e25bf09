#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/types/members.hpp"

// XCDR version 2 (DDS-XTypes 1.3, 7.4.3): alignment to the size of a primitive, at most 4; the templates that
// walk types stand in serialize.hpp and deserialize.hpp.
namespace llamada::types {

/// The representation identifiers of the encapsulation header (7.6.2.1.2), little-endian ones odd.
enum class Encapsulation : std::uint16_t {
  cdr2_be = 6,
  cdr2_le,
  d_cdr2_be,
  d_cdr2_le,
  pl_cdr2_be,
  pl_cdr2_le
};

constexpr std::size_t encapsulation_size_bytes = 4;

/// "name: " before a sentence; where it has many names already "...: " once, for those left out.
void prepend_member(std::string& sentence, const char* name);

/// Appends XCDR2 to bytes of its own. The first failure stays, and what is put after it does not matter.
class Xcdr2Writer {
 public:
  explicit Xcdr2Writer(std::endian order = std::endian::little) : order_(order) {}

  /// Writes the encapsulation header, from whose end alignment counts.
  void begin_encapsulation(Extensibility extensibility);
  /// Pads to a multiple of 4 and says in the header by how much.
  void end_encapsulation();

  template <Primitive P>
  void put(P value) {
    put_all(&value, 1);
  }

  template <Primitive P>
  void put_all(const P* values, std::size_t count) {
    if (count == 0) return;
    align(sizeof(P));
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + count * sizeof(P));
    std::memcpy(bytes_.data() + begin, values, count * sizeof(P));
    if (order_ != std::endian::native && sizeof(P) > 1) swap_each(begin, sizeof(P));
  }

  void put_string(const std::string& text);

  void align(std::size_t size_bytes);
  /// A 32-bit length of what follows, filled in by close_length(place). The data between the two is a level
  /// deeper.
  std::size_t open_length();
  void close_length(std::size_t place);
  /// A level without a length of its own. Readers count alike: more than nesting_max levels are a failure.
  void enter();
  void leave() { --depth_; }

  void fail(std::string sentence);
  bool failed() const { return failed_; }
  /// The failure happened in the member `name`.
  void failed_within(const char* name) { prepend_member(sentence_, name); }

  /// Errors: invalid_argument (a bound is exceeded, a string holds a NUL, more than nesting_max levels).
  Result<std::vector<std::byte>> finish() &&;

 private:
  void swap_each(std::size_t begin, std::size_t size_bytes);
  void store_length(std::size_t place, std::uint32_t length);

  std::endian order_;
  std::size_t depth_ = 0;
  std::size_t origin_ = 0;
  std::vector<std::byte> bytes_;
  bool failed_ = false;
  std::string sentence_;
};

/// Takes XCDR2 from bytes that may hold anything. The first failure stays, and what is taken after it is
/// zero.
class Xcdr2Reader {
 public:
  Xcdr2Reader(std::span<const std::byte> bytes, std::endian order)
      : bytes_(bytes), end_(bytes.size()), order_(order) {}

  /// A reader of what stands behind an encapsulation header that fits the type. Errors: parse_error.
  static Result<Xcdr2Reader> open(std::span<const std::byte> sample, Extensibility extensibility);

  template <Primitive P>
  P get() {
    P value{};
    get_all(&value, 1);
    return value;
  }

  /// False, and nothing taken, when fewer are left.
  template <Primitive P>
  bool get_all(P* values, std::size_t count) {
    if (count == 0) return !failed_;
    align(sizeof(P));
    if (!has(count, sizeof(P))) return false;
    if constexpr (std::is_same_v<P, bool>) {
      if (!are_booleans(count)) return false;
    }
    std::memcpy(values, bytes_.data() + position_, count * sizeof(P));
    position_ += count * sizeof(P);
    if (order_ != std::endian::native && sizeof(P) > 1) swap_each(values, count, sizeof(P));
    return true;
  }

  std::string get_string(std::uint32_t bound);
  /// The number of elements of a sequence or map, each of which takes at least `least_bytes`.
  std::uint32_t get_count(std::uint32_t bound, std::size_t least_bytes);

  void align(std::size_t size_bytes);
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return failed_ ? 0 : end_ - position_; }

  /// Confines to the next `length` bytes; leave() goes to their end and hands back the outer limit.
  std::size_t enter(std::uint32_t length);
  void leave(std::size_t outer_end);
  void rewind(std::size_t bytes) { position_ -= bytes; }

  void fail(std::string sentence);
  bool failed() const { return failed_; }
  void failed_within(const char* name) { prepend_member(sentence_, name); }
  /// Errors: parse_error.
  Status status() const;

 private:
  bool has(std::size_t count, std::size_t size_bytes);
  bool are_booleans(std::size_t count);
  static void swap_each(void* values, std::size_t count, std::size_t size_bytes);

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::size_t end_;
  std::size_t depth_ = 0;
  std::endian order_;
  bool failed_ = false;
  std::string sentence_;
};

/// Structs, sequences and maps within one another that a reader follows.
constexpr std::size_t nesting_max = 64;

}  // namespace llamada::types
