#include "rma/control.hpp"

#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::mpi::rma {
namespace {

/// The region that has this address; the count when there is none.
std::uint32_t find(const Control::Regions& regions, std::uint32_t count, std::uint64_t address) {
  for (std::uint32_t i = 0; i < count; ++i)
    if (address >= regions.regions[i].begin.load(std::memory_order_relaxed) &&
        address < regions.regions[i].end.load(std::memory_order_relaxed))
      return i;
  return count;
}

bool covers(const Control::Regions& regions, std::uint64_t begin, std::uint64_t end) {
  const auto count = regions.count.load(std::memory_order_relaxed);
  while (begin < end) {
    const auto found = find(regions, count, begin);
    if (found == count) return false;
    begin = regions.regions[found].end.load(std::memory_order_relaxed);
  }
  return true;
}

/// A change of one's own regions. Release: pairs with the acquire of is_attached().
class Change {
 public:
  explicit Change(Control::Regions& regions) : regions_(regions) {
    regions_.version.fetch_add(1, std::memory_order_acq_rel);
  }
  ~Change() { regions_.version.fetch_add(1, std::memory_order_release); }

 private:
  Control::Regions& regions_;
};

}  // namespace

std::size_t Control::regions_offset(std::size_t members) {
  return rounded_up(pairs_offset(members) + members * members * sizeof(PairCounters), 64);
}

std::size_t Control::size_bytes(std::size_t members, bool dynamic) {
  return rounded_up(regions_offset(members) + (dynamic ? members * sizeof(Regions) : 0), page_bytes);
}

void Control::clear(std::size_t rank, bool dynamic) const {
  new (&member(rank)) Member;
  for (std::size_t origin = 0; origin < members_; ++origin) new (&pair(rank, origin)) PairCounters;
  if (!dynamic) return;
  // Behind the count nothing is looked at.
  for (auto* word : {&regions(rank).count, &regions(rank).unchecked})
    word->store(0, std::memory_order_relaxed);
}

bool attach(Control::Regions& regions, std::uint64_t begin, std::uint64_t size_bytes) {
  const auto count = regions.count.load(std::memory_order_relaxed);
  const auto end = begin + size_bytes;
  for (std::uint32_t i = 0; i < count; ++i)
    if (begin < regions.regions[i].end.load(std::memory_order_relaxed) &&
        regions.regions[i].begin.load(std::memory_order_relaxed) < end)
      return false;
  const Change change(regions);
  if (count == Control::Regions::count_max) {
    regions.unchecked.store(1, std::memory_order_relaxed);
    return true;
  }
  regions.regions[count].begin.store(begin, std::memory_order_relaxed);
  regions.regions[count].end.store(end, std::memory_order_relaxed);
  regions.count.store(count + 1, std::memory_order_relaxed);
  return true;
}

bool detach(Control::Regions& regions, std::uint64_t begin) {
  const auto count = regions.count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (regions.regions[i].begin.load(std::memory_order_relaxed) != begin) continue;
    const Change change(regions);
    auto& last = regions.regions[count - 1];
    regions.regions[i].begin.store(last.begin.load(std::memory_order_relaxed), std::memory_order_relaxed);
    regions.regions[i].end.store(last.end.load(std::memory_order_relaxed), std::memory_order_relaxed);
    regions.count.store(count - 1, std::memory_order_relaxed);
    return true;
  }
  return regions.unchecked.load(std::memory_order_relaxed) != 0;
}

bool is_attached(const Control::Regions& regions, std::uint64_t begin, std::uint64_t size_bytes) {
  constexpr int looks_max = 1000;
  for (int look = 0; look < looks_max; ++look) {
    const auto version = regions.version.load(std::memory_order_acquire);
    if (version % 2 != 0) continue;
    const bool good =
        regions.unchecked.load(std::memory_order_relaxed) != 0 || covers(regions, begin, begin + size_bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (regions.version.load(std::memory_order_relaxed) == version) return good;
  }
  return true;
}

}  // namespace llamada::mpi::rma
