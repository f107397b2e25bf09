#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "llamada/store/store.hpp"

namespace llamada::store {

enum class StoreKind { segments, sqlite };

/// "segments" or "sqlite".
std::string_view to_string(StoreKind kind);
/// Of such a word. Errors: invalid_argument; the text has the words.
Result<StoreKind> store_kind(std::string_view word);

/// Of the store that lies in this directory; none if there is no store.
std::optional<StoreKind> kind_of_store(const std::string& directory);

struct AnyStoreOptions {
  /// Of a store that is made; none: segments. A store that is there must be of this kind.
  std::optional<StoreKind> kind;
  bool read_only = false;
  std::function<void(std::string_view)> say;
};

/// Opens the store of this directory, of whichever kind it is, or makes one. Errors: those of
/// open_segment_store() and open_sqlite_store(), and invalid_argument (it is of another kind than `kind`).
Result<std::unique_ptr<Store>> open_store(const std::string& directory, AnyStoreOptions options = {});

}  // namespace llamada::store
