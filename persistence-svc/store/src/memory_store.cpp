#include "llamada/store/memory_store.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <variant>

#include "catalogue.hpp"
#include "kept_item.hpp"

namespace llamada::store {

namespace {

using Bytes = std::vector<std::byte>;

struct Declaration {
  StreamId stream;
  std::string name;
  Bytes description;
};
struct DropBelow {
  StreamId stream;
  std::uint64_t number;
};
struct Drop {
  StreamId stream;
  std::uint64_t number;
};
struct End {
  StreamId stream;
};
using Change = std::variant<Declaration, KeptItem, DropBelow, Drop, End>;

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::uint64_t batch_bytes_max) : batch_bytes_max_(batch_bytes_max) {}

  Result<StreamId> stream(std::string_view name, std::span<const std::byte> description) override {
    if (const auto known = catalogue_.find(name)) return *known;
    if (auto checked = Catalogue::check_declaration(name, description); !checked) return propagate(checked);
    const StreamId id = catalogue_.next();
    catalogue_.declare(id, name);
    open_.emplace_back(Declaration{id, std::string(name), Bytes(description.begin(), description.end())});
    return id;
  }

  Status append(const Item& item) override {
    if (auto checked = catalogue_.check(item); !checked) return checked;
    const std::uint64_t bytes = item.head.size() + item.body.size();
    if (open_bytes_ > 0 && open_bytes_ + bytes > batch_bytes_max_) return batch_is_full(batch_bytes_max_);
    catalogue_.appended(item.stream, item.number);
    open_.emplace_back(KeptItem(item));
    open_bytes_ += bytes;
    return {};
  }

  Status drop_below(StreamId stream, std::uint64_t number) override {
    auto changed = change(stream, DropBelow{stream, number});
    if (changed) catalogue_.dropped_below(stream, number);
    return changed;
  }
  Status drop(StreamId stream, std::uint64_t number) override { return change(stream, Drop{stream, number}); }
  Status end(StreamId stream) override {
    auto ended = change(stream, End{stream});
    if (ended) catalogue_.end(stream);
    return ended;
  }

  Result<BatchNumber> write() override {
    if (open_.empty()) return written_.load(std::memory_order_relaxed);
    for (Change& each : open_) std::visit([this](auto& change) { apply(std::move(change)); }, each);
    open_.clear();
    open_bytes_ = 0;
    // Release, with the acquire of sync(): only for the number, as nothing else is shared.
    return written_.fetch_add(1, std::memory_order_release) + 1;
  }

  Status sync(BatchNumber batch) override {
    return check_batch(batch, written_.load(std::memory_order_acquire));
  }

  Status read(StreamId stream, std::uint64_t from, const OnItem& on_item,
              const OnDamaged& /*none is*/) const override {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return catalogue_.check(stream);
    const auto& items = found->second.items;
    for (auto each = items.lower_bound(from); each != items.end(); ++each)
      if (!on_item(each->second.view())) break;
    return {};
  }

  Status newest(StreamId stream, std::uint64_t group, std::size_t count, const OnItem& on_item,
                const OnDamaged& /*none is*/) const override {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return catalogue_.check(stream);
    std::vector<const KeptItem*> newest;
    const auto& items = found->second.items;
    for (auto each = items.rbegin(); each != items.rend() && newest.size() < count; ++each)
      if (each->second.item.group == group) newest.push_back(&each->second);
    for (auto each = newest.rbegin(); each != newest.rend(); ++each)
      if (!on_item((*each)->view())) break;
    return {};
  }

  std::vector<StreamInfo> streams() const override {
    std::vector<StreamInfo> all;
    for (const auto& [id, stream] : streams_) {
      StreamInfo info{.id = id, .name = stream.name, .description = stream.description};
      if (!stream.items.empty()) {
        info.first = stream.items.begin()->first;
        info.last = stream.items.rbegin()->first;
      }
      info.items = stream.items.size();
      info.used = catalogue_.last_number(id);
      for (const auto& [number, kept] : stream.items) info.bytes += kept.bytes();
      all.push_back(std::move(info));
    }
    return all;
  }

  StoreFigures figures() const override {
    StoreFigures figures;
    for (const StreamInfo& stream : streams()) figures.bytes += stream.bytes;
    figures.live_bytes = figures.bytes;
    figures.written = figures.synced = written_.load(std::memory_order_relaxed);
    return figures;
  }

 private:
  struct Stream {
    std::string name;
    Bytes description;
    std::map<std::uint64_t, KeptItem> items;
  };

  template <typename Each>
  Status change(StreamId stream, Each each) {
    if (auto checked = catalogue_.check(stream); !checked) return checked;
    open_.emplace_back(each);
    return {};
  }

  void apply(Declaration&& declared) {
    streams_[declared.stream] = {std::move(declared.name), std::move(declared.description), {}};
  }
  void apply(KeptItem&& kept) {
    auto& items = streams_.at(kept.item.stream).items;
    items.emplace_hint(items.end(), kept.item.number, std::move(kept));
  }
  void apply(DropBelow&& drop) {
    auto& items = streams_.at(drop.stream).items;
    items.erase(items.begin(), items.lower_bound(drop.number));
  }
  void apply(Drop&& drop) { streams_.at(drop.stream).items.erase(drop.number); }
  void apply(End&& end) { streams_.erase(end.stream); }

  std::uint64_t batch_bytes_max_;
  Catalogue catalogue_;
  std::vector<Change> open_;
  std::uint64_t open_bytes_ = 0;
  std::map<StreamId, Stream> streams_;
  std::atomic<BatchNumber> written_{0};  // sync() reads it in a second thread
};

}  // namespace

std::unique_ptr<Store> make_memory_store(std::uint64_t batch_bytes_max) {
  return std::make_unique<MemoryStore>(batch_bytes_max);
}

}  // namespace llamada::store
