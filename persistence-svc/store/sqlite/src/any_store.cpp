#include "llamada/store_sqlite/any_store.hpp"

#include <filesystem>

#include "llamada/store/segment_store.hpp"
#include "llamada/store_sqlite/sqlite_store.hpp"

namespace llamada::store {

std::string_view to_string(StoreKind kind) { return kind == StoreKind::sqlite ? "sqlite" : "segments"; }

Result<StoreKind> store_kind(std::string_view word) {
  for (const StoreKind kind : {StoreKind::segments, StoreKind::sqlite})
    if (word == to_string(kind)) return kind;
  return failure(Errc::invalid_argument, "there is no kind of store '{}'; there are segments and sqlite",
                 word);
}

std::optional<StoreKind> kind_of_store(const std::string& directory) {
  std::error_code ignored;
  const std::filesystem::path path(directory);
  if (std::filesystem::exists(path / sqlite_file, ignored)) return StoreKind::sqlite;
  if (std::filesystem::exists(path / "store", ignored)) return StoreKind::segments;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
    if (entry.path().extension() == ".seg") return StoreKind::segments;
  return std::nullopt;
}

Result<std::unique_ptr<Store>> open_store(const std::string& directory, AnyStoreOptions options) {
  const auto known = kind_of_store(directory);
  if (known && options.kind && *known != *options.kind)
    return failure(Errc::invalid_argument,
                   "{} holds a store of kind {}, not {}; 'llamada persist copy' makes another", directory,
                   to_string(*known), to_string(*options.kind));
  if (known.value_or(options.kind.value_or(StoreKind::segments)) == StoreKind::sqlite) {
    SqliteOptions sqlite;
    sqlite.read_only = options.read_only;
    sqlite.say = std::move(options.say);
    return open_sqlite_store(directory, std::move(sqlite));
  }
  SegmentOptions segments;
  segments.read_only = options.read_only;
  segments.say = std::move(options.say);
  return open_segment_store(directory, std::move(segments));
}

}  // namespace llamada::store
