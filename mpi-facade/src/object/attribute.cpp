#include "object/attribute.hpp"

#include <algorithm>

#include "threads/shared_waiting.hpp"

namespace llamada::mpi {
namespace {

int call_destroy(int handle, int keyval, const Keyval& key, void* value) {
  if (!key.destroy()) return MPI_SUCCESS;
  const OutsideForCallback outside;
  return key.destroy()(handle, keyval, value, key.extra_state());
}

int call_copy(int handle, int keyval, const Keyval& key, void* value, void* copy, int* flag) {
  const OutsideForCallback outside;
  return key.copy()(handle, keyval, key.extra_state(), value, copy, flag);
}

}  // namespace

std::optional<void*> Attributes::get(int keyval) const {
  for (const Entry& entry : entries_) {
    if (entry.keyval == keyval) return entry.value;
  }
  return std::nullopt;
}

int Attributes::set(int handle, int keyval, const Reference<Keyval>& key, void* value) {
  if (const std::optional<void*> old = get(keyval)) {
    if (const int code = call_destroy(handle, keyval, *key, *old)) return code;
  }
  // The callback may have changed the list.
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.keyval == keyval; });
  if (entry != entries_.end()) {
    entry->value = value;
  } else {
    entries_.push_back({keyval, key, value});
    key->use();
  }
  return MPI_SUCCESS;
}

int Attributes::remove(int handle, int keyval) {
  const auto matches = [&](const Entry& entry) { return entry.keyval == keyval; };
  const auto entry = std::find_if(entries_.begin(), entries_.end(), matches);
  if (entry == entries_.end()) return MPI_SUCCESS;
  const Reference<Keyval> key = entry->key;
  if (const int code = call_destroy(handle, keyval, *key, entry->value)) return code;
  key->unuse();
  std::erase_if(entries_, matches);
  return MPI_SUCCESS;
}

int Attributes::remove_all(int handle) {
  while (!entries_.empty()) {
    if (const int code = remove(handle, entries_.back().keyval)) return code;
  }
  return MPI_SUCCESS;
}

int Attributes::copy_to(int handle, Attributes& copy) const {
  const std::vector<Entry> entries = entries_;
  for (const Entry& entry : entries) {
    if (!entry.key->copy()) continue;
    void* value = nullptr;
    int flag = 0;
    const int code = call_copy(handle, entry.keyval, *entry.key, entry.value, &value, &flag);
    if (code != MPI_SUCCESS) return code;
    if (!flag) continue;
    copy.entries_.push_back({entry.keyval, entry.key, value});
    entry.key->use();
  }
  return MPI_SUCCESS;
}

}  // namespace llamada::mpi
