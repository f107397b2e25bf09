#pragma once

#include "llamada/store/store.hpp"

namespace llamada::store {

/// What the call does to the store, in the next batch if the present one is full. Errors: those of the call
/// and of write().
template <typename Call>
auto in_batch(Store& to, const Call& call) -> decltype(call()) {
  auto done = call();
  if (done || done.error().code() != Errc::would_block) return done;
  if (auto written = to.write(); !written) return propagate(written);
  return call();
}

}  // namespace llamada::store
