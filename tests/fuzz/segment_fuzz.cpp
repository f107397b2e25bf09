// libFuzzer's harness for a store's segments: whatever lies in a directory, a store opens, reads only what
// has its checksum, goes on, and has afterwards what it had. The checksums are right wherever the input does
// not change a byte afterwards: a fuzzer would not guess them. An input is a list of commands, each with
// operands of a byte, as run() reads them.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include "llamada/base/crc32c.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "llamada/base/rounding.hpp"
#include "llamada/store/segment_store.hpp"
#include "segment_format.hpp"
#include "simulated_files.hpp"

using namespace llamada;
using namespace llamada::store;

namespace {

using Bytes = std::vector<std::byte>;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_sentence(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char each) { return each == '\n' || each == '\0'; });
}

constexpr std::uint64_t segment_bytes = 16 << 10;

/// Makes the files that the commands say.
class Author {
 public:
  Author(std::span<const std::byte> commands, test::SimulatedDisk& disk) : commands_(commands), disk_(disk) {
    put("store", 0, plain_bytes(make_store_header(id_)));
  }

  void run() {
    // Commands are few, so that each input is fast.
    for (int i = 0; i < 200 && !commands_.empty(); ++i) {
      switch (next() % 6) {
        case 0:
          begin_segment();
          break;
        case 1:
        case 2:
          add_item();
          break;
        case 3:
          write_batch();
          break;
        case 4:
          seal();
          break;
        default:
          change();
      }
    }
    write_batch();
  }

 private:
  std::uint8_t next() {
    if (commands_.empty()) return 0;
    const auto byte = std::to_integer<std::uint8_t>(commands_[0]);
    commands_ = commands_.subspan(1);
    return byte;
  }

  void put(const std::string& name, std::uint64_t offset, std::span<const std::byte> bytes) {
    auto& inode = disk_.entries[name];
    if (!inode) inode = std::make_shared<test::SimulatedDisk::Inode>();
    if (inode->now.size() < offset + bytes.size()) inode->now.resize(offset + bytes.size());
    std::ranges::copy(bytes, inode->now.begin() + static_cast<std::ptrdiff_t>(offset));
    inode->durable = inode->now;
  }

  void begin_segment() {
    segment_ = next() % 8 + 1;
    first_ = next() % 32 + 1;
    offset_ = segment_header_bytes;
    footer_.clear();
    put(segment_name(segment_), 0, plain_bytes(make_segment_header(id_, segment_, first_)));
  }

  void add_item() {
    constexpr std::uint8_t kinds[] = {0,
                                      1,
                                      record_stream,
                                      record_drop_below,
                                      record_drop,
                                      record_end,
                                      record_segments,
                                      record_lost,
                                      record_lost + 1};
    Item item{.stream = next() % 4U,
              .number = next() % 16U,
              .group = next() % 4U,
              .kind = kinds[next() % std::size(kinds)]};
    const std::size_t size_bytes = next() % 80;
    const Bytes body(size_bytes, static_cast<std::byte>(next() % 8));
    item.body = body;
    item.head = std::span(body).first(body.size() / 2);
    builder_.add(item);
    const std::uint64_t at = offset_ + builder_.bytes() - BatchBuilder::bytes_of(item);
    footer_.push_back({item.number,
                       item.group,
                       item.stream,
                       static_cast<std::uint32_t>(at / item_alignment),
                       static_cast<std::uint32_t>(BatchBuilder::bytes_of(item)),
                       next() % 4U,
                       item.kind,
                       {}});
  }

  void write_batch() {
    if (segment_ == 0) return builder_.clear();
    const BatchNumber number = next() % 32 + 1;
    put(segment_name(segment_), offset_,
        builder_.finish(number, next() % 32, segment_, tag_of(id_), offset_));
    offset_ += rounded_up(builder_.bytes(), batch_alignment);
    builder_.clear();
  }

  void seal() {
    if (segment_ == 0) return;
    const auto entries = std::as_bytes(std::span(footer_));
    Seal seal{.magic = {},
              .footer_offset = offset_,
              .entries = footer_.size(),
              .last = next() % 32U,
              .synced = next() % 32U,
              .segment = segment_,
              .tag = tag_of(id_),
              .footer_crc = crc32c(entries),
              .zero = 0,
              .crc = 0};
    finish(seal);
    put(segment_name(segment_), seal_offset, plain_bytes(seal));
    put(segment_name(segment_), offset_, std::as_bytes(std::span(footer_mark)));
    put(segment_name(segment_), offset_ + footer_mark.size(), entries);
  }

  /// A byte of a file becomes another, or the file ends there.
  void change() {
    const std::string name = next() % 8 == 0 ? "store" : segment_name(next() % 8 + 1);
    const auto found = disk_.entries.find(name);
    const std::size_t high = next();
    const std::size_t at = high * 256 + next();
    const std::uint8_t value = next();
    if (found == disk_.entries.end() || at >= found->second->now.size()) return;
    auto& bytes = found->second->now;
    value == 255 ? bytes.resize(at) : void(bytes[at] = static_cast<std::byte>(value));
    found->second->durable = bytes;
  }

  static constexpr StoreId id_{std::byte{1}, std::byte{2}, std::byte{3}};

  std::span<const std::byte> commands_;
  test::SimulatedDisk& disk_;
  BatchBuilder builder_;
  std::vector<FooterEntry> footer_;
  std::uint64_t segment_ = 0, first_ = 1, offset_ = segment_header_bytes;
};

using Items = std::map<std::pair<std::string, std::uint64_t>, Bytes>;

Items read_all(const Store& store) {
  Items items;
  for (const StreamInfo& stream : store.streams()) {
    std::uint64_t last = 0;
    bool first = true;
    const auto on_item = [&](const Item& item) {
      require(first || item.number > last);
      first = false;
      last = item.number;
      items[{std::to_string(stream.id) + stream.name, item.number}] = {item.body.begin(), item.body.end()};
      return true;
    };
    (void)store.read(stream.id, 0, on_item, [](std::uint64_t) {});
    for (std::uint64_t group = 0; group < 4; ++group)
      (void)store.newest(
          stream.id, group, 2, [](const Item&) { return true; }, [](std::uint64_t) {});
  }
  return items;
}

/// What was there before may have changed: a forged item may drop another when it is copied.
bool has_all(const Store& store, const Items& items) {
  const Items there = read_all(store);
  return std::ranges::all_of(items, [&](const auto& each) {
    const auto found = there.find(each.first);
    return found != there.end() && found->second == each.second;
  });
}

std::unique_ptr<Store> open(test::SimulatedDisk& disk) {
  auto store = open_segment_store(std::make_unique<test::SimulatedFiles>(disk),
                                  {.segment_bytes = segment_bytes,
                                   .batch_bytes_max = 4 << 10,
                                   .say = [](std::string_view text) { require(is_sentence(text)); }});
  if (!store) require(is_sentence(store.error().text()));
  return store ? std::move(*store) : nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::SimulatedDisk disk(1);
  Author(std::as_bytes(std::span(data, size)), disk).run();
  auto store = open(disk);
  if (!store) return 0;
  (void)read_all(*store);
  Items items;
  const auto stream = store->stream("of the fuzzer", {});
  require(stream.has_value());
  const Bytes body(100, std::byte{7});
  for (std::uint64_t number = 1; number <= 20; ++number) {
    require(store->append({.stream = *stream, .number = number + 1000, .body = body}).has_value());
    const auto written = store->write();
    require(written && store->sync(*written));
    items[{std::to_string(*stream) + "of the fuzzer", number + 1000}] = body;
  }
  require(has_all(*store, items));
  store.reset();
  store = open(disk);
  require(store != nullptr);
  require(has_all(*store, items));
  return 0;
}
