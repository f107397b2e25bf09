#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace llamada::dcps {

/// Where a sample stands among those of its publisher, and among all that arrived.
struct GroupPlace {
  std::uint64_t participant = 0;
  std::uint64_t publisher = 0;
  std::uint64_t group_sequence = 0;
  std::uint64_t arrival = 0;
};

/// Puts `items` into the order in which their publishers made the changes (PRESENTATION GROUP with
/// ordered_access); between publishers, into the order of arrival. `place_of(item)` gives the GroupPlace.
template <typename Item, typename PlaceOf>
void order_by_group(std::vector<Item>& items, const PlaceOf& place_of) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Item>> queues;
  for (Item& item : items) {
    const GroupPlace place = place_of(item);
    queues[{place.participant, place.publisher}].push_back(std::move(item));
  }
  items.clear();
  std::vector<std::pair<typename std::vector<Item>::iterator, typename std::vector<Item>::iterator>> heads;
  for (auto& [publisher, queue] : queues) {
    std::stable_sort(queue.begin(), queue.end(), [&](const Item& a, const Item& b) {
      return place_of(a).group_sequence < place_of(b).group_sequence;
    });
    heads.push_back({queue.begin(), queue.end()});
  }
  while (true) {
    auto first = heads.end();
    for (auto head = heads.begin(); head != heads.end(); ++head) {
      if (head->first == head->second) continue;
      if (first == heads.end() || place_of(*head->first).arrival < place_of(*first->first).arrival)
        first = head;
    }
    if (first == heads.end()) return;
    items.push_back(std::move(*first->first++));
  }
}

}  // namespace llamada::dcps
