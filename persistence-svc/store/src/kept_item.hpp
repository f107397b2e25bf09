#pragma once

#include <cstdint>
#include <vector>

#include "llamada/store/store.hpp"

namespace llamada::store {

/// An item with a head and a body of its own.
struct KeptItem {
  Item item;  ///< its spans are the original's
  std::vector<std::byte> head, body;

  explicit KeptItem(const Item& of)
      : item(of), head(of.head.begin(), of.head.end()), body(of.body.begin(), of.body.end()) {}
  std::uint64_t bytes() const { return head.size() + body.size(); }
  Item view() const {
    Item view = item;
    view.head = head;
    view.body = body;
    return view;
  }
};

}  // namespace llamada::store
