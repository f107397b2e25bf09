#include "llamada/store/copy_store.hpp"

namespace llamada::store {

namespace {

/// Appends, and writes the batch when it is full.
Status append(Store& to, const Item& item) {
  auto appended = to.append(item);
  if (appended || appended.error().code() != Errc::would_block) return appended;
  if (auto written = to.write(); !written) return propagate(written);
  return to.append(item);
}

Result<StreamId> declare(Store& to, const StreamInfo& stream) {
  auto id = to.stream(stream.name, stream.description);
  if (id || id.error().code() != Errc::would_block) return id;
  if (auto written = to.write(); !written) return propagate(written);
  return to.stream(stream.name, stream.description);
}

}  // namespace

Result<CopiedFigures> copy_store(const Store& from, Store& to, const OnDamagedItem& on_damaged) {
  CopiedFigures figures;
  for (const StreamInfo& stream : from.streams()) {
    auto id = declare(to, stream);
    if (!id) return propagate(id);
    ++figures.streams;
    Status copied;
    const auto copy = [&](Item item) {
      item.stream = *id;
      copied = append(to, item);
      if (copied) ++figures.items;
      return copied.has_value();
    };
    auto read = from.read(stream.id, 0, copy, [&](std::uint64_t number) { on_damaged(stream, number); });
    if (!copied) return propagate(copied);
    if (!read) return propagate(read);
  }
  auto written = to.write();
  if (!written) return propagate(written);
  if (auto synced = to.sync(*written); !synced) return propagate(synced);
  return figures;
}

}  // namespace llamada::store
