#include "p2p/copy_group.hpp"

#include <algorithm>
#include <vector>

#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t address = 0x10'0000'0000;

using End = SharedCopy::End;
constexpr std::uint64_t mib = 1024 * kib;

/// Messages of these sizes, one behind the other with a gap of a byte, here and at some address.
CopyGroup group_of(const std::vector<std::uint64_t>& sizes, std::byte* memory) {
  std::uint64_t at = 0;
  const auto next = [&](std::uint64_t bytes) {
    const CopyGroup::Message message{nullptr, memory + at, address + at, bytes};
    at += bytes + 1;
    return message;
  };
  CopyGroup group(next(sizes[0]));
  for (std::size_t i = 1; i < sizes.size(); ++i) group.add(next(sizes[i]));
  return group;
}

}  // namespace

TEST_CASE("copy group: a message alone is in one piece, whatever part of it") {
  std::vector<std::byte> memory(100 * kib);
  const CopyGroup group = group_of({100 * kib}, memory.data());
  CHECK(group.bytes() == 100 * kib);
  for (const SharedCopy::Part part :
       {SharedCopy::Part{0, 100 * kib}, {40 * kib, 20 * kib}, {99 * kib, kib}}) {
    const auto pieces = group.pieces(part, End::upper);
    REQUIRE(pieces.span().size() == 1);
    CHECK(pieces.span()[0].own == memory.data() + part.first);
    CHECK(pieces.span()[0].others == address + part.first);
    CHECK(pieces.span()[0].bytes == part.bytes);
  }
}

TEST_CASE("copy group: each end has its half of each message, the first message first") {
  std::vector<std::byte> memory(3 * (64 * kib + 1));
  const CopyGroup group = group_of({64 * kib, 64 * kib, 64 * kib}, memory.data());
  const auto offset = [&](const PeerPiece& piece) { return piece.own - memory.data(); };
  const auto lower = group.pieces({0, 96 * kib}, End::lower);
  REQUIRE(lower.span().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(offset(lower.span()[i]) == static_cast<std::ptrdiff_t>(i * (64 * kib + 1)));
    CHECK(lower.span()[i].bytes == 32 * kib);
  }
  // From the end.
  const auto upper = group.pieces({128 * kib, 64 * kib}, End::upper);
  REQUIRE(upper.span().size() == 2);
  CHECK(offset(upper.span()[0]) == 64 * kib + 1 + 32 * kib);
  CHECK(offset(upper.span()[1]) == 32 * kib);
  // Across the middle: the last message in one piece.
  const auto middle = group.pieces({64 * kib, 64 * kib}, End::lower);
  REQUIRE(middle.span().size() == 1);
  CHECK(offset(middle.span()[0]) == 2 * (64 * kib + 1));
  CHECK(middle.span()[0].bytes == 64 * kib);
}

TEST_CASE("copy group: each end begins at its own end of a long message") {
  std::vector<std::byte> memory(4 * mib);
  const CopyGroup group = group_of({4 * mib}, memory.data());
  const auto offsets = [&](SharedCopy::Part part, End end) {
    std::vector<std::ptrdiff_t> at;
    const auto pieces = group.pieces(part, end);
    for (const PeerPiece& piece : pieces.span()) at.push_back((piece.own - memory.data()) / kib);
    return at;
  };
  using Offsets = std::vector<std::ptrdiff_t>;
  CHECK(offsets({0, mib}, End::lower) == Offsets{0});
  CHECK(offsets({mib, mib}, End::lower) == Offsets{1024});
  CHECK(offsets({3 * mib, mib}, End::upper) == Offsets{3840, 3584, 3328, 3072});
  CHECK(offsets({2 * mib, mib}, End::upper) == Offsets{2816, 2560, 2304, 2048});
}

namespace {

/// Whether the parts of a group, of whatever sizes and taken by either end, are all of its messages.
void check_parts(const CopyGroup& group, std::vector<std::byte>& memory, std::uint64_t part_bytes_max,
                 Random& random) {
  for (std::uint64_t at = 0; at < group.bytes();) {
    const std::uint64_t bytes = std::min(group.bytes() - at, 1 + random.next() % part_bytes_max);
    const auto pieces = group.pieces({at, bytes}, random.next() % 2 == 0 ? End::lower : End::upper);
    std::uint64_t in_pieces = 0;
    for (const PeerPiece& piece : pieces.span()) {
      const auto offset = static_cast<std::uint64_t>(piece.own - memory.data());
      REQUIRE(offset + piece.bytes <= memory.size());
      REQUIRE(piece.others == address + offset);
      REQUIRE(std::count(piece.own, piece.own + piece.bytes, std::byte{0}) ==
              static_cast<std::ptrdiff_t>(piece.bytes));
      std::fill_n(piece.own, piece.bytes, std::byte{1});
      in_pieces += piece.bytes;
    }
    REQUIRE(in_pieces == bytes);
    at += bytes;
  }
}

}  // namespace

TEST_CASE("copy group: whatever the parts of a long message, each byte lies in one piece") {
  Random random(8);
  for (const std::uint64_t bytes : {2 * mib, 2 * mib + 4097, 5 * mib - 1}) {
    std::vector<std::byte> memory(bytes);
    check_parts(group_of({bytes}, memory.data()), memory, 2 * mib, random);
  }
}

TEST_CASE("copy group: whatever the parts, each byte of each message lies in one piece, and in its place") {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> sizes(1 + random.next() % CopyGroup::messages_max);
    std::uint64_t sum = 0;
    for (auto& size : sizes) sum += size = random.next() % (random.next() % 4 == 0 ? 3 : 30'000);
    std::vector<std::byte> memory(sum + sizes.size());
    const CopyGroup group = group_of(sizes, memory.data());
    REQUIRE(group.bytes() == sum);
    REQUIRE(group.size() == sizes.size());
    check_parts(group, memory, 40'000, random);
    // Nothing lies in the gaps.
    std::size_t end = 0;
    for (const std::uint64_t size : sizes) {
      end += size + 1;
      REQUIRE(memory[end - 1] == std::byte{0});
    }
    REQUIRE(std::count(memory.begin(), memory.end(), std::byte{0}) ==
            static_cast<std::ptrdiff_t>(sizes.size()));
  }
}
