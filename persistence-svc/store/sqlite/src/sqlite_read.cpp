#include "llamada/base/crc32c.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "sqlite_store_impl.hpp"

namespace llamada::store {

std::uint32_t crc_of(const Item& item) {
  struct {
    std::uint64_t stream, number, group;
    std::int64_t time_ns;
    std::uint64_t kind, flags, head_bytes, body_bytes;
  } const fields{item.stream, item.number, item.group,       item.time_ns,
                 item.kind,   item.flags,  item.head.size(), item.body.size()};
  return crc32c(item.body, crc32c(item.head, crc32c(plain_bytes(fields))));
}

Status SqliteStore::read_rows(StreamId stream, Statement& rows, const OnItem& on_item,
                              const OnDamaged& on_damaged) const {
  int code;
  while ((code = rows.step()) == SQLITE_ROW) {
    const Item item{.stream = stream,
                    .number = static_cast<std::uint64_t>(rows.integer(0)),
                    .group = static_cast<std::uint64_t>(rows.integer(1)),
                    .kind = static_cast<std::uint8_t>(rows.integer(2)),
                    .flags = static_cast<std::uint8_t>(rows.integer(3)),
                    .time_ns = rows.integer(4),
                    .head = rows.bytes(5),
                    .body = rows.bytes(6)};
    if (rows.integer(7) == crc_of(item)) {
      if (!on_item(item)) return {};
      continue;
    }
    ++figures_.damaged_items;
    const std::string sentence =
        fmt::format("{}: item {} of stream {} is damaged", database_.path(), item.number, stream);
    say(sentence);
    if (!on_damaged) return failure(Errc::parse_error, "{}", sentence);
    on_damaged(item.number);
  }
  if (code != SQLITE_DONE) return tl::unexpected<Error>(database_.error(code));
  return {};
}

Status SqliteStore::read(StreamId stream, std::uint64_t from, const OnItem& on_item,
                         const OnDamaged& on_damaged) const {
  const std::lock_guard lock(mutex_);
  if (auto known = catalogue_.check(stream); !known) return known;
  auto rows = database_.prepare(
      "SELECT number, \"group\", kind, flags, time_ns, head, body, crc FROM items "
      "WHERE stream = ? AND number >= ? ORDER BY number");
  if (!rows) return propagate(rows);
  rows->bind(1, std::int64_t{stream});
  rows->bind(2, bounded(from));
  return read_rows(stream, *rows, on_item, on_damaged);
}

Status SqliteStore::newest(StreamId stream, std::uint64_t group, std::size_t count, const OnItem& on_item,
                           const OnDamaged& on_damaged) const {
  const std::lock_guard lock(mutex_);
  if (auto known = catalogue_.check(stream); !known) return known;
  auto rows = database_.prepare(
      "SELECT number, \"group\", kind, flags, time_ns, head, body, crc FROM items WHERE stream = ?1 AND "
      "number IN "
      "(SELECT number FROM items WHERE stream = ?1 AND \"group\" = ?2 ORDER BY number DESC LIMIT ?3) "
      "ORDER BY number");
  if (!rows) return propagate(rows);
  rows->bind(1, std::int64_t{stream});
  rows->bind(2, static_cast<std::int64_t>(group));
  rows->bind(3, bounded(count));
  return read_rows(stream, *rows, on_item, on_damaged);
}

}  // namespace llamada::store
