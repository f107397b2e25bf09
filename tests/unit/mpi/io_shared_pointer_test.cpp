#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "io/shared_pointer.hpp"
#include "test.hpp"

using namespace llamada::mpi::io;

namespace {

/// What the members share, and one member's view of it.
class Memory {
 public:
  explicit Memory(int members) : words_((SharedPointer::bytes_for(members) + 7) / 8, 0) {}
  SharedPointer member(int number) {
    return {words_.data(),
            number,
            {[](const std::function<bool()>& done) {
               while (!done()) std::this_thread::yield();
             },
             [] {}}};
  }
  SharedPointer::Shared& shared() { return *reinterpret_cast<SharedPointer::Shared*>(words_.data()); }
  SharedPointer::Slot& slot(int member) {
    return reinterpret_cast<SharedPointer::Slot*>(&shared() + 1)[member];
  }

 private:
  std::vector<std::uint64_t> words_;
};

std::uint64_t add(SharedPointer& pointer, std::uint64_t number, std::uint64_t delta) {
  return pointer.change(number, [=](std::uint64_t before) { return before + delta; });
}

}  // namespace

TEST_CASE("io: moves of a shared pointer by several threads give each its own place", "[io]") {
  constexpr int members = 4;
  constexpr std::uint64_t each = 2000;
  Memory memory(members);
  std::vector<std::vector<std::uint64_t>> places(members);
  std::vector<std::thread> threads;
  for (int number = 0; number < members; ++number)
    threads.emplace_back([&, number] {
      SharedPointer pointer = memory.member(number);
      for (std::uint64_t move = 1; move <= each; ++move) places[number].push_back(add(pointer, move, 3));
    });
  for (auto& thread : threads) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& own : places) {
    CHECK(std::is_sorted(own.begin(), own.end()));
    all.insert(all.end(), own.begin(), own.end());
  }
  std::sort(all.begin(), all.end());
  for (std::size_t index = 0; index < all.size(); ++index) REQUIRE(all[index] == 3 * index);
  CHECK(memory.member(0).get() == 3 * all.size());
}

TEST_CASE("io: who waits for the lock may ask again after it was taken", "[io]") {
  Memory memory(2);
  SharedPointer pointer(&memory.shared(), 0,
                        {[&](const std::function<bool()>& done) {
                           CHECK_FALSE(done());
                           memory.shared().holder = 0;  // the other lets go
                           CHECK(done());
                           CHECK(done());
                         },
                         [] {}});
  memory.shared().holder = 2;
  CHECK(add(pointer, 1, 10) == 0);
  CHECK(memory.shared().holder == 0);
}

TEST_CASE("io: a move that had taken place is not made again, though others have moved since", "[io]") {
  Memory memory(2);
  SharedPointer first = memory.member(0);
  SharedPointer second = memory.member(1);
  CHECK(add(first, 7, 10) == 0);
  CHECK(add(second, 3, 5) == 10);
  SharedPointer successor = memory.member(0);
  CHECK(add(successor, 7, 10) == 0);
  CHECK(successor.get() == 15);
  CHECK(add(successor, 8, 1) == 15);
}

TEST_CASE("io: a move that was interrupted is finished by the successor of who began it", "[io]") {
  Memory memory(2);
  SharedPointer pointer = memory.member(0);
  add(pointer, 1, 10);
  SECTION("before it was decided") { memory.shared().holder = 1; }
  SECTION("before the pointer moved") {
    memory.shared().holder = 1;
    memory.slot(0).value = 10;
    memory.slot(0).after = 14;
    memory.slot(0).number = 2;
  }
  SECTION("after the pointer moved") {
    memory.shared().holder = 1;
    memory.slot(0).value = 10;
    memory.slot(0).after = 14;
    memory.slot(0).number = 2;
    memory.shared().pointer = 14;
  }
  SharedPointer successor = memory.member(0);
  CHECK(add(successor, 2, 4) == 10);
  SharedPointer other = memory.member(1);
  CHECK(add(other, 1, 1) == 14);
}
