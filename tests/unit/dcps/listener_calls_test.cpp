#include "listener_calls.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::dcps;
using namespace llamada::dcps::detail;

namespace {

/// An entity with a name and nothing else to it.
class Named final : public Entity {
 public:
  Named(std::shared_ptr<Core> core, Named* parent, std::string name)
      : Entity(std::move(core), parent), name(std::move(name)) {}
  using Entity::changed_statuses;
  using Entity::clear_status;
  using Entity::current_listener;
  using Entity::lock;
  using Entity::made;
  using Entity::mark_deleted;
  using Entity::raise;
  using Entity::replace_listener;
  using Entity::running_calls;

  const std::string name;

 private:
  std::function<void(Listener&)> listener_call(StatusMask status) override;
};

/// Writes down "listener: entity status" for each call, and does something in it.
struct Scribe final : Listener {
  Scribe(std::string name, std::vector<std::string>& heard) : name(std::move(name)), heard(heard) {}
  std::string name;
  std::vector<std::string>& heard;
  std::function<void()> in_call;
};

std::function<void(Listener&)> Named::listener_call(StatusMask status) {
  clear_status(status);
  return [this, status](Listener& listener) {
    auto& scribe = dynamic_cast<Scribe&>(listener);
    const char* what = status == status::data_available    ? " data"
                       : status == status::data_on_readers ? " readers"
                                                           : " match";
    scribe.heard.push_back(scribe.name + ": " + name + what);
    if (scribe.in_call) scribe.in_call();
  };
}

/// A subscriber and two readers of it, and the test as their service thread.
struct Tree {
  Tree() {
    for (const auto& entity : {subscriber, first, second}) entity->made(nullptr, status::none);
  }
  ~Tree() {
    Lock held = core->lock();
    for (const auto& entity : {first, second, subscriber}) entity->mark_deleted(held);
  }
  void listen(Named& entity, Listener& listener, StatusMask mask = status::all) {
    entity.replace_listener(&listener, mask);
  }
  void call_all() {
    Lock held = core->lock();
    core->listener_calls().call_all(held, stopping);
  }
  using Names = std::vector<std::string>;

  SystemClock clock;
  std::shared_ptr<Core> core = std::make_shared<Core>(nullptr, clock);
  std::shared_ptr<Named> subscriber = std::make_shared<Named>(core, nullptr, "subscriber");
  std::shared_ptr<Named> first = std::make_shared<Named>(core, subscriber.get(), "first");
  std::shared_ptr<Named> second = std::make_shared<Named>(core, subscriber.get(), "second");
  Names heard;
  Scribe near{"near", heard}, above{"above", heard};
  bool stopping = false;
  ListenerCalls& calls() { return core->listener_calls(); }
};

constexpr StatusMask match = status::subscription_matched;

}  // namespace

TEST_CASE("listener calls: a call is planned only where a listener wants to hear of the status", "[dcps]") {
  Tree tree;
  CHECK_FALSE(tree.calls().has_listeners());
  CHECK_FALSE(tree.calls().plan(*tree.first, match));
  tree.listen(*tree.first, tree.near, status::all & ~match);
  CHECK(tree.calls().has_listeners());
  CHECK_FALSE(tree.calls().plan(*tree.first, match));
  CHECK_FALSE(tree.calls().plan(*tree.second, match));
  CHECK(tree.calls().is_empty());
  tree.listen(*tree.first, tree.near, match);
  CHECK(tree.calls().plan(*tree.first, match));
  CHECK_FALSE(tree.calls().is_empty());
}

TEST_CASE("listener calls: a status that changes again before its call is told once", "[dcps]") {
  Tree tree;
  tree.listen(*tree.first, tree.near);
  for (int round = 1; round <= 2; ++round) {
    tree.first->raise(match);
    tree.first->raise(match);
    tree.call_all();
    CHECK(tree.heard == Tree::Names(static_cast<std::size_t>(round), "near: first match"));
    CHECK(tree.calls().is_empty());
  }
}

TEST_CASE("listener calls: they come in the order of the changes, those planned meanwhile in the next round",
          "[dcps]") {
  Tree tree;
  tree.listen(*tree.first, tree.near);
  tree.listen(*tree.second, tree.above);
  tree.second->raise(match);
  tree.first->raise(match);
  tree.above.in_call = [&] {
    const Lock held = tree.core->lock();
    tree.second->raise(match);
  };
  tree.call_all();
  CHECK(tree.heard == Tree::Names{"above: second match", "near: first match"});
  CHECK_FALSE(tree.calls().is_empty());
  tree.above.in_call = nullptr;
  tree.call_all();
  CHECK(tree.heard.size() == 3);
  CHECK(tree.calls().is_empty());
}

TEST_CASE("listener calls: the nearest listener whose mask has the status is told", "[dcps]") {
  Tree tree;
  tree.listen(*tree.subscriber, tree.above, match);
  tree.listen(*tree.first, tree.near, status::data_available);
  tree.first->raise(match);
  tree.first->raise(status::data_available);
  tree.call_all();
  CHECK(tree.heard == Tree::Names{"above: first match", "near: first data"});
}

TEST_CASE("listener calls: DATA_ON_READERS goes before the readers' own listeners, once", "[dcps]") {
  Tree tree;
  tree.listen(*tree.subscriber, tree.above, status::data_on_readers);
  tree.listen(*tree.first, tree.near);
  tree.subscriber->raise(status::data_on_readers);
  tree.first->raise(status::data_available);
  tree.second->raise(status::data_available);
  tree.call_all();
  CHECK(tree.heard == Tree::Names{"above: subscriber readers"});
  SECTION("but a planned data call is for the reader's listener") {
    tree.calls().plan_data_call(*tree.first);
    tree.call_all();
    CHECK(tree.heard == Tree::Names{"above: subscriber readers", "near: first data"});
  }
}

TEST_CASE("listener calls: what was read, deleted or destroyed meanwhile is not told", "[dcps]") {
  Tree tree;
  tree.listen(*tree.subscriber, tree.above);
  SECTION("read") {
    tree.first->raise(match);
    tree.first->clear_status(match);
  }
  SECTION("deleted") {
    tree.first->raise(match);
    Lock held = tree.core->lock();
    tree.first->mark_deleted(held);
  }
  SECTION("destroyed") {
    auto third = std::make_shared<Named>(tree.core, tree.subscriber.get(), "third");
    third->made(nullptr, status::none);
    third->raise(match);
  }
  CHECK_FALSE(tree.calls().is_empty());
  tree.call_all();
  CHECK(tree.heard.empty());
  CHECK(tree.calls().is_empty());
}

TEST_CASE("listener calls: a service that stops makes no further call", "[dcps]") {
  Tree tree;
  tree.listen(*tree.subscriber, tree.above);
  tree.first->raise(match);
  tree.second->raise(match);
  tree.above.in_call = [&] { tree.stopping = true; };
  tree.call_all();
  CHECK(tree.heard == Tree::Names{"above: first match"});
  CHECK_FALSE(tree.calls().is_empty());
}

TEST_CASE("listener calls: the lock is free in a call, and a listener goes only when its call has ended",
          "[dcps]") {
  Tree tree;
  tree.listen(*tree.subscriber, tree.above);
  std::atomic<bool> is_called{false}, has_gone{false};
  std::thread remover([&] {
    while (!is_called) std::this_thread::yield();
    tree.subscriber->replace_listener(nullptr, status::none);
    has_gone = true;
  });
  tree.above.in_call = [&] {
    is_called = true;
    while (tree.subscriber->current_listener() != nullptr) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for a remover that does not wait
    CHECK_FALSE(has_gone);
    const Lock held = tree.core->lock();
    CHECK(tree.first->running_calls() == 1);
    CHECK(tree.subscriber->running_calls() == 1);
  };
  tree.first->raise(match);
  tree.call_all();
  remover.join();
  CHECK(tree.first->running_calls() == 0);
  CHECK(tree.subscriber->running_calls() == 0);
  CHECK_FALSE(tree.calls().has_listeners());
}
