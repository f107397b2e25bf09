#include <fmt/format.h>

#include <filesystem>

#include "fail.hpp"
#include "llamada/service/kept_topic.hpp"
#include "llamada/store/copy_store.hpp"
#include "llamada/store/segment_store.hpp"
#include "llamada/store_sqlite/any_store.hpp"
#include "persist.hpp"

namespace llamada::tools {
namespace {

constexpr int usage_error = 2;
/// So many damaged items are named, all are counted.
constexpr std::uint64_t named_max = 10;

/// What the copy does not have.
class Missing {
 public:
  void add(const store::StreamInfo& stream, std::uint64_t number) {
    if (count_++ >= named_max) return;
    const auto topic = service::decode_topic(stream.description);
    named_ += fmt::format("{}item {} of topic '{}'", named_.empty() ? "" : ", ", number,
                          topic ? topic->key.topic : stream.name);
  }
  std::uint64_t count() const { return count_; }
  std::string sentence() const {
    return fmt::format("{} damaged {} not in the copy: {}{}", count_, count_ == 1 ? "item is" : "items are",
                       named_, count_ > named_max ? ", and others" : "");
  }

 private:
  std::uint64_t count_ = 0;
  std::string named_;
};

/// Copies into a directory beside the wanted one, which so never has a part of a copy.
Result<store::CopiedFigures> copy_beside(const store::Store& from, const std::string& partial,
                                         store::StoreKind kind, Missing& missing) {
  store::AnyStoreOptions options;
  options.kind = kind;
  options.say = [](std::string_view sentence) { fmt::print(stderr, "llamada: {}\n", sentence); };
  auto to = store::open_store(partial, options);
  if (!to) return propagate(to);
  auto copied = store::copy_store(from, **to, [&](const store::StreamInfo& stream, std::uint64_t number) {
    missing.add(stream, number);
  });
  to->reset();
  if (!copied) (void)store::remove_store(partial);
  return copied;
}

}  // namespace

int copy_kept_topics(const PersistRequest& request) {
  std::string to = request.copy;
  while (to.size() > 1 && to.back() == '/') to.pop_back();
  const std::string partial = to + ".partial";
  std::error_code ignored;
  if (std::filesystem::exists(to, ignored))
    return fail(
        Error(Errc::already_exists, fmt::format("{} exists; a copy needs a directory that does not", to)));
  if (std::filesystem::exists(partial, ignored))
    return fail(
        Error(Errc::already_exists,
              fmt::format("{} exists: a copy is being made, or was interrupted; then remove it", partial)));
  bool opens = true;
  std::uint64_t fault_count = 0;
  store::AnyStoreOptions options;
  options.read_only = true;
  options.say = [&](std::string_view sentence) {
    // Damaged items are named together, once all are known.
    if (!opens) return;
    ++fault_count;
    fmt::print(stderr, "llamada: {}\n", sentence);
  };
  auto from = store::open_store(request.store, options);
  if (!from) return fail(from.error());
  opens = false;
  auto kind = store::kind_of_store(request.store).value_or(store::StoreKind::segments);
  if (!request.kind.empty()) {
    auto chosen = store::store_kind(request.kind);
    if (!chosen) return refuse(usage_error, chosen.error().text());
    kind = *chosen;
  }
  Missing missing;
  const auto copied = copy_beside(**from, partial, kind, missing);
  if (!copied) return fail(copied.error());
  std::error_code renamed;
  std::filesystem::rename(partial, to, renamed);
  if (renamed) return fail(system_failure("renaming " + partial + " to " + to, renamed.value()).value());
  fmt::print("{}: {} items of {} topics, copied from {}\n", to, copied->items, copied->streams,
             request.store);
  if (missing.count() > 0) fmt::print(stderr, "llamada: {}\n", missing.sentence());
  return missing.count() + fault_count == 0 ? 0 : 1;
}

}  // namespace llamada::tools
