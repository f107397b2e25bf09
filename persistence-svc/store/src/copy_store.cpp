#include "llamada/store/copy_store.hpp"

#include "llamada/store/in_batch.hpp"

namespace llamada::store {

Result<CopiedFigures> copy_store(const Store& from, Store& to, const OnDamagedItem& on_damaged) {
  CopiedFigures figures;
  for (const StreamInfo& stream : from.streams()) {
    auto id = in_batch(to, [&] { return to.stream(stream.name, stream.description); });
    if (!id) return propagate(id);
    ++figures.streams;
    Status copied;
    const auto copy = [&](Item item) {
      item.stream = *id;
      copied = in_batch(to, [&] { return to.append(item); });
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
