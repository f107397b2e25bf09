#include "sample_list.hpp"

#include <deque>

#include "llamada/base/random.hpp"
#include "reader_instance.hpp"
#include "test.hpp"

namespace llamada::dcps::test {
namespace {

TEST_CASE("sample list: it holds what a deque would", "[dcps]") {
  Random random(7);
  std::vector<CachedSample> samples(100);
  for (int round = 0; round < 200; ++round) {
    SampleList list;
    std::deque<CachedSample*> model;
    const std::uint64_t often = 1 + random.below(4);  // lists that grow, and such that stay short
    for (int step = 0; step < 300; ++step) {
      CachedSample* const sample = &samples[random.below(samples.size())];
      const auto place = static_cast<std::ptrdiff_t>(random.below(model.size() + 1));
      if (random.chance(1, 60)) {
        list.clear();
        model.clear();
      } else if (model.empty() || random.chance(often, 5)) {
        const bool at_end = random.chance(2, 3);
        at_end ? list.push_back(sample) : list.insert(list.begin() + place, sample);
        model.insert(at_end ? model.end() : model.begin() + place, sample);
      } else if (random.chance(1, 2) || place == static_cast<std::ptrdiff_t>(model.size())) {
        REQUIRE(list.front() == model.front());
        list.pop_front();
        model.pop_front();
      } else {
        list.erase(list.begin() + place);
        model.erase(model.begin() + place);
      }
      REQUIRE(list.size() == model.size());
      REQUIRE(list.empty() == model.empty());
      REQUIRE(std::equal(list.begin(), list.end(), model.begin(), model.end()));
      for (std::size_t k = 0; k < model.size(); ++k) REQUIRE(list[k] == model[k]);
    }
  }
}

TEST_CASE("sample list: one that samples pass through does not grow", "[dcps]") {
  std::vector<CachedSample> samples(3);
  SampleList list;
  for (CachedSample& each : samples) list.push_back(&each);
  const auto* lowest = list.begin();
  const auto* highest = list.begin();
  for (int k = 0; k < 1000; ++k) {
    list.push_back(&samples[static_cast<std::size_t>(k % 3)]);
    if (k == 100) lowest = highest = list.begin();  // it has all the room it needs
    list.pop_front();
    if (k > 100) {
      lowest = std::min(lowest, list.begin());
      highest = std::max(highest, list.begin());
    }
  }
  CHECK(highest - lowest < 16);
}

}  // namespace
}  // namespace llamada::dcps::test
