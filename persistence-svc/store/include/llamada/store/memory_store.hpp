#pragma once

#include <memory>

#include "llamada/store/store.hpp"

namespace llamada::store {

/// A store without a disk: it ends with the process, and sync() has nothing to do.
std::unique_ptr<Store> make_memory_store(std::uint64_t batch_bytes_max = std::uint64_t{8} << 20);

}  // namespace llamada::store
