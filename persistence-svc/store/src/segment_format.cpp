#include "segment_format.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "llamada/base/crc32c.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::store {

namespace {

constexpr std::array<char, 8> store_magic{'L', 'L', 'S', 'T', 'O', 'R', 'E', '\1'};
constexpr std::array<char, 8> segment_magic{'L', 'L', 'S', 'E', 'G', '\1', 0, 0};
constexpr std::array<char, 8> seal_magic{'L', 'L', 'S', 'E', 'A', 'L', '\1', 0};
constexpr std::uint32_t batch_magic = 0x54414242;  // "BBAT"

/// Of a header whose last field it is.
template <typename Header>
std::uint32_t crc_of(const Header& header) {
  return crc32c(plain_bytes(header).first(sizeof(Header) - sizeof header.crc));
}

std::uint32_t crc_of(const BatchHeader& header) {
  return crc32c(plain_bytes(header).subspan(offsetof(BatchHeader, items)));
}

std::uint32_t crc_of(ItemHeader header, std::span<const std::byte> head, std::span<const std::byte> body) {
  header.crc = 0;
  return crc32c(body, crc32c(head, crc32c(plain_bytes(header))));
}

}  // namespace

StoreHeader make_store_header(const StoreId& store) {
  StoreHeader header{.magic = store_magic, .store = store, .zero = {}, .crc = 0};
  header.crc = crc_of(header);
  return header;
}

bool is_good(const StoreHeader& header) {
  return header.magic == store_magic && header.crc == crc_of(header);
}

SegmentHeader make_segment_header(const StoreId& store, std::uint64_t number, BatchNumber first) {
  SegmentHeader header{
      .magic = segment_magic, .store = store, .number = number, .first = first, .zero = {}, .crc = 0};
  header.crc = crc_of(header);
  return header;
}

bool is_good(const SegmentHeader& header) {
  return header.magic == segment_magic && header.crc == crc_of(header) && header.first > 0;
}

void finish(Seal& seal) {
  seal.magic = seal_magic;
  seal.crc = crc_of(seal);
}

bool is_good(const Seal& seal) { return seal.magic == seal_magic && seal.crc == crc_of(seal); }

bool is_good(const BatchHeader& header) {
  return header.magic == batch_magic && header.crc == crc_of(header);
}

std::uint32_t tag_of(const StoreId& store) {
  std::uint32_t tag = 0;
  std::memcpy(&tag, store.data(), sizeof tag);
  return tag;
}

std::string segment_name(std::uint64_t number) { return fmt::format("{:08}.seg", number); }

std::optional<std::uint64_t> segment_number(const std::string& name) {
  std::uint64_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  if (number == 0 || number > 0xffffffff || name != segment_name(number)) return std::nullopt;
  return number;
}

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

std::uint32_t count_zero_pieces(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::uint32_t count = 0;
  while (!bytes.empty()) {
    const std::size_t piece = std::min<std::size_t>(piece_bytes - offset % piece_bytes, bytes.size());
    if (is_zero(bytes.first(piece))) ++count;
    bytes = bytes.subspan(piece);
    offset += piece;
  }
  return count;
}

bool StoredItem::is_whole() const { return header.crc == crc_of(header, head, body); }

Item StoredItem::item() const {
  return {.stream = header.stream,
          .number = header.number,
          .group = header.group,
          .kind = header.kind,
          .flags = header.flags,
          .time_ns = header.time_ns,
          .head = head,
          .body = body};
}

std::optional<StoredItem> item_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(ItemHeader)) return std::nullopt;
  StoredItem item;
  item.offset = offset;
  std::memcpy(&item.header, bytes.data() + offset, sizeof(ItemHeader));
  if (bytes.size() - offset < item.header.bytes()) return std::nullopt;
  item.head = bytes.subspan(offset + sizeof(ItemHeader), item.header.head_bytes);
  item.body = bytes.subspan(offset + sizeof(ItemHeader) + item.header.head_bytes, item.header.body_bytes);
  return item;
}

std::optional<StoredItem> ItemWalk::next() {
  auto item = item_at(items_, offset_);
  if (item) offset_ += rounded_up(item->header.bytes(), item_alignment);
  return item;
}

std::uint64_t BatchBuilder::bytes() const { return rounded_up(bytes_.size(), batch_alignment); }

std::uint64_t BatchBuilder::bytes_of(const Item& item) {
  return rounded_up(sizeof(ItemHeader) + item.head.size() + item.body.size(), item_alignment);
}

void BatchBuilder::add(const Item& item) {
  ItemHeader header{.body_bytes = static_cast<std::uint32_t>(item.body.size()),
                    .head_bytes = static_cast<std::uint16_t>(item.head.size()),
                    .kind = item.kind,
                    .flags = item.flags,
                    .stream = item.stream,
                    .crc = 0,
                    .number = item.number,
                    .group = item.group,
                    .time_ns = item.time_ns,
                    .zero = 0};
  header.crc = crc_of(header, item.head, item.body);
  const auto header_bytes = plain_bytes(header);
  heads_crc_ = crc32c(header_bytes, heads_crc_);
  const std::size_t end = bytes_.size() + bytes_of(item);
  for (const auto part : {header_bytes, item.head, item.body})
    bytes_.insert(bytes_.end(), part.begin(), part.end());
  bytes_.resize(end);
  ++items_;
}

std::span<const std::byte> BatchBuilder::finish(BatchNumber number, BatchNumber synced, std::uint64_t segment,
                                                std::uint32_t tag, std::uint64_t offset) {
  BatchHeader header{.magic = batch_magic,
                     .crc = 0,
                     .items = items_,
                     .zero_pieces = 0,
                     .number = number,
                     .bytes = bytes_.size() - sizeof(BatchHeader),
                     .segment = segment,
                     .synced = synced,
                     .tag = tag,
                     .heads_crc = heads_crc_,
                     .zero = 0};
  std::memcpy(bytes_.data(), &header, sizeof header);
  move_batch(bytes_, synced, segment, offset);
  return bytes_;
}

void BatchBuilder::clear() {
  bytes_.clear();
  bytes_.resize(sizeof(BatchHeader));
  items_ = 0;
  heads_crc_ = 0;
}

std::vector<std::byte> BatchBuilder::exchange(std::vector<std::byte> memory) {
  std::vector<std::byte> given = std::exchange(bytes_, std::move(memory));
  clear();
  return given;
}

void move_batch(std::span<std::byte> batch, BatchNumber synced, std::uint64_t segment, std::uint64_t offset) {
  BatchHeader header;
  std::memcpy(&header, batch.data(), sizeof header);
  header.synced = synced;
  header.segment = segment;
  // The header itself begins with a magic number: its piece is never all zeros.
  header.zero_pieces = count_zero_pieces(offset, batch);
  header.crc = crc_of(header);
  std::memcpy(batch.data(), &header, sizeof header);
}

}  // namespace llamada::store
