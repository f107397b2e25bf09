#pragma once

#include <cstdint>
#include <functional>

#include "llamada/store/store.hpp"

namespace llamada::store {

struct CopiedFigures {
  std::uint64_t streams = 0;
  std::uint64_t items = 0;
};

/// Is told which items cannot be read, and are not in the copy.
using OnDamagedItem = std::function<void(const StreamInfo& stream, std::uint64_t number)>;

/// Copies all streams of a store, with their descriptions, and their items in order, into one that has none
/// of these streams. Numbers of streams may differ. The copy is durable when this returns. `from` may have
/// been opened to be read while another process writes it: then the copy has each stream as it was at one
/// moment. Errors: those of both stores; then a part is copied.
Result<CopiedFigures> copy_store(const Store& from, Store& to, const OnDamagedItem& on_damaged);

}  // namespace llamada::store
