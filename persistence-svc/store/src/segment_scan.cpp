#include "segment_scan.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "llamada/base/crc32c.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::store {

namespace {

struct CheckedItems {
  bool heads_are_good;
  bool are_whole;  ///< All of them, and their headers.
};

CheckedItems check_items(const BatchHeader& header, std::span<const std::byte> batch) {
  ItemWalk walk(batch.subspan(sizeof header));
  std::uint32_t items = 0, heads_crc = 0;
  bool are_whole = true;
  while (const auto item = walk.next()) {
    heads_crc = crc32c(plain_bytes(item->header), heads_crc);
    are_whole = are_whole && item->is_whole();
    ++items;
  }
  const bool heads_are_good = items == header.items && heads_crc == header.heads_crc;
  return {heads_are_good, heads_are_good && are_whole};
}

class Scanner {
 public:
  Scanner(const File& file, std::uint64_t size_bytes, std::uint64_t segment, std::uint32_t tag)
      : file_(file), size_bytes_(size_bytes), segment_(segment), tag_(tag) {}

  Result<SegmentScan> scan() {
    std::uint64_t offset = segment_header_bytes;
    bool after_damage = false;
    while (size_bytes_ - offset >= sizeof(BatchHeader) && offset < size_bytes_) {
      std::array<std::byte, sizeof(BatchHeader)> bytes{};
      if (auto read = read_all(file_, offset, bytes); !read) return propagate(read);
      if (const auto header = header_in(bytes, offset)) {
        if (auto taken = take(*header, offset, after_damage); !taken) return propagate(taken);
        after_damage = false;
        offset += rounded_up(sizeof(BatchHeader) + header->bytes, batch_alignment);
        continue;
      }
      if (std::memcmp(bytes.data(), footer_mark.data(), footer_mark.size()) == 0) break;
      after_damage = !is_zero(bytes);
      auto next = find(offset + batch_alignment);
      if (!next) return propagate(next);
      if (*next == 0) {
        found_.ends_damaged = after_damage;
        break;
      }
      offset = *next;
    }
    return std::move(found_);
  }

 private:
  std::optional<BatchHeader> header_in(std::span<const std::byte> bytes, std::uint64_t offset) const {
    BatchHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const BatchNumber after = found_.batches.empty() ? 0 : found_.batches.back().number;
    if (!is_good(header) || header.segment != segment_ || header.tag != tag_ || header.number <= after ||
        header.bytes > size_bytes_ - offset - sizeof header)
      return std::nullopt;
    return header;
  }

  /// The place of the next good header, or 0.
  Result<std::uint64_t> find(std::uint64_t offset) {
    constexpr std::size_t window_bytes = std::size_t{1} << 20;
    while (offset < size_bytes_) {
      bytes_.resize(std::min<std::uint64_t>(window_bytes, size_bytes_ - offset));
      if (auto read = read_all(file_, offset, bytes_); !read) return propagate(read);
      for (std::size_t at = 0; at + sizeof(BatchHeader) <= bytes_.size(); at += batch_alignment)
        if (header_in(std::span(bytes_).subspan(at, sizeof(BatchHeader)), offset + at)) return offset + at;
      offset += window_bytes;
    }
    return std::uint64_t{0};
  }

  Status take(const BatchHeader& header, std::uint64_t offset, bool after_damage) {
    bytes_.resize(sizeof header + header.bytes);
    if (auto read = read_all(file_, offset, bytes_); !read) return read;
    FoundBatch batch{.number = header.number,
                     .offset = offset,
                     .bytes = bytes_.size(),
                     .synced = header.synced,
                     .after_damage = after_damage};
    const auto [heads_are_good, items_are_whole] = check_items(header, bytes_);
    batch.heads_are_good = heads_are_good;
    if (!items_are_whole)
      batch.state = count_zero_pieces(offset, bytes_) > header.zero_pieces ? FoundBatch::State::torn
                                                                           : FoundBatch::State::damaged;
    found_.batches.push_back(batch);
    return {};
  }

  const File& file_;
  std::uint64_t size_bytes_;
  std::uint64_t segment_;
  std::uint32_t tag_;
  SegmentScan found_;
  std::vector<std::byte> bytes_;
};

}  // namespace

bool SegmentScan::is_whole() const {
  return !ends_damaged && std::ranges::all_of(batches, [](const FoundBatch& batch) {
    return batch.state == FoundBatch::State::whole && !batch.after_damage;
  });
}

Result<SegmentScan> scan_segment(const File& file, std::uint64_t size_bytes, std::uint64_t segment,
                                 std::uint32_t tag) {
  if (size_bytes < segment_header_bytes) return SegmentScan{};
  return Scanner(file, size_bytes, segment, tag).scan();
}

bool is_whole_batch(std::span<const std::byte> bytes, BatchNumber number) {
  BatchHeader header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return is_good(header) && header.number == number && header.bytes == bytes.size() - sizeof header &&
         check_items(header, bytes).are_whole;
}

Status read_all(const File& file, std::uint64_t offset, std::span<std::byte> into) {
  const auto count = file.read(offset, into);
  if (!count) return tl::unexpected<Error>(count.error());
  if (*count < into.size())
    return failure(Errc::parse_error, "a segment has ended {} bytes early", into.size() - *count);
  return {};
}

}  // namespace llamada::store
