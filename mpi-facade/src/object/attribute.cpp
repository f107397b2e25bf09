#include "object/attribute.hpp"

#include <algorithm>

#include "threads/shared_waiting.hpp"

namespace llamada::mpi {
namespace {

/// A key stays for as long as this lives, whatever a callback frees: what is set with it afterwards has it.
class KeyInUse {
 public:
  KeyInUse(int keyval, const Reference<Keyval>& key) : keyval_(keyval), key_(key) { key_->use(); }
  ~KeyInUse() { let_go_of_key(keyval_, *key_); }
  KeyInUse(const KeyInUse&) = delete;
  KeyInUse& operator=(const KeyInUse&) = delete;

 private:
  int keyval_;
  Reference<Keyval> key_;
};

void* for_callback(const Keyval& key, AttributeValue& value) {
  return key.is_fortran() ? reinterpret_cast<void*>(value.in_fortran()) : value.in_c();
}

int call_destroy(int handle, int keyval, const Keyval& key, AttributeValue& value) {
  if (!key.destroy()) return MPI_SUCCESS;
  const OutsideForCallback outside;
  if (CxxDeleteProxy* proxy = key.delete_proxy())
    return proxy(key.destroy(), handle, keyval, 0, value.in_c(), key.extra_state());
  return key.destroy()(handle, keyval, for_callback(key, value), key.extra_state());
}

int call_copy(int handle, int keyval, const Keyval& key, AttributeValue& value, void** copy, int* flag) {
  const OutsideForCallback outside;
  if (CxxCopyProxy* proxy = key.copy_proxy())
    return proxy(key.copy(), handle, keyval, key.extra_state(), 0, value.in_c(), copy, flag);
  return key.copy()(handle, keyval, key.extra_state(), for_callback(key, value), copy, flag);
}

/// What a copy callback has given. When C hands on the address of an integer of Fortran, it means the
/// integer: the copy may live longer than the original.
AttributeValue copied(const Keyval& key, AttributeValue& value, void* copy) {
  if (key.is_fortran()) return value.with(reinterpret_cast<MPI_Aint>(copy));
  return copy == value.in_c() ? value : AttributeValue::of_pointer(copy);
}

}  // namespace

HandleTable<Keyval, ObjectKind::keyval>& keyval_table() {
  // Kept to the end of the process: handlers at exit may use it.
  static auto& table = *std::make_unique<HandleTable<Keyval, ObjectKind::keyval>>().release();
  return table;
}

void let_go_of_key(int keyval, Keyval& key) {
  key.unuse();
  if (!key.is_alive()) keyval_table().erase(keyval);
}

void* AttributeValue::in_c() {
  switch (kind_) {
    case Kind::integer:
      return &integer_;
    case Kind::address:
      return &address_;
    default:
      return pointer_;
  }
}

MPI_Aint AttributeValue::in_fortran() const {
  switch (kind_) {
    case Kind::integer:
      return integer_;
    case Kind::address:
      return address_;
    default:
      return reinterpret_cast<MPI_Aint>(pointer_);
  }
}

AttributeValue AttributeValue::with(MPI_Aint number) const {
  switch (kind_) {
    case Kind::integer:
      return of_integer(static_cast<int>(number));
    case Kind::address:
      return of_address(number);
    default:
      return of_pointer(reinterpret_cast<void*>(number));
  }
}

AttributeValue* Attributes::find(int keyval) const {
  for (const Entry& entry : entries_) {
    if (entry.keyval == keyval) return entry.value.get();
  }
  return nullptr;
}

int Attributes::set(int handle, int keyval, const Reference<Keyval>& key, AttributeValue value) {
  const auto is_it = [&](const Entry& entry) { return entry.keyval == keyval; };
  const KeyInUse in_use(keyval, key);
  if (const auto old = std::find_if(entries_.begin(), entries_.end(), is_it); old != entries_.end()) {
    const std::shared_ptr<AttributeValue> value_then = old->value;
    if (const int code = call_destroy(handle, keyval, *key, *value_then)) return code;
  }
  // The callback may have changed the list.
  const auto entry = std::find_if(entries_.begin(), entries_.end(), is_it);
  if (entry != entries_.end()) {
    *entry->value = value;
  } else {
    entries_.push_back({keyval, key, std::make_shared<AttributeValue>(value)});
    key->use();
  }
  return MPI_SUCCESS;
}

int Attributes::remove(int handle, int keyval) {
  const auto matches = [&](const Entry& entry) { return entry.keyval == keyval; };
  const auto entry = std::find_if(entries_.begin(), entries_.end(), matches);
  if (entry == entries_.end()) return MPI_SUCCESS;
  const Reference<Keyval> key = entry->key;
  const std::shared_ptr<AttributeValue> value = entry->value;
  if (const int code = call_destroy(handle, keyval, *key, *value)) return code;
  // Unless the callback has removed it.
  if (std::erase_if(entries_, matches) > 0) let_go_of_key(keyval, *key);
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
    const KeyInUse in_use(entry.keyval, entry.key);
    void* given = nullptr;
    int flag = 0;
    const int code = call_copy(handle, entry.keyval, *entry.key, *entry.value, &given, &flag);
    if (code != MPI_SUCCESS) return code;
    if (!flag) continue;
    copy.entries_.push_back(
        {entry.keyval, entry.key, std::make_shared<AttributeValue>(copied(*entry.key, *entry.value, given))});
    entry.key->use();
  }
  return MPI_SUCCESS;
}

}  // namespace llamada::mpi
