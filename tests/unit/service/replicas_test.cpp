// The services that join one which serves, and when what they say meets what discovery finds of them.
#include <algorithm>
#include <chrono>

#include "feed.hpp"
#include "follower.hpp"
#include "intake.hpp"
#include "llamada/store/memory_store.hpp"
#include "llamada/topics/loopback.hpp"
#include "replicas.hpp"
#include "test.hpp"

namespace llamada::service {
namespace {

/// What one of the services has.
struct Side : topics::DiscoveryEvents {
  explicit Side(topics::Loopback& domain) : transport(std::move(*domain.attach())) {}

  void on_participant(const topics::ParticipantInfo&) override {}
  void on_participant_gone(std::uint64_t) override {}
  void on_endpoint(const topics::EndpointInfo& endpoint) override { endpoints.push_back(endpoint); }
  void on_endpoint_changed(const topics::EndpointInfo&) override {}
  void on_endpoint_gone(const topics::EndpointId& endpoint) override { gone.push_back(endpoint); }
  void on_left_behind(const topics::EndpointInfo&) override {}

  /// The newest reader of this topic that discovery has found; 0: of anybody.
  const topics::EndpointInfo* reader_of(const std::string& topic, std::uint64_t participant = 0) const {
    const auto found = std::find_if(endpoints.rbegin(), endpoints.rend(), [&](const auto& each) {
      return !each.writer && each.topic == topic && (participant == 0 || each.id.participant == participant);
    });
    return found == endpoints.rend() ? nullptr : &*found;
  }

  SystemClock clock;
  std::unique_ptr<topics::Transport> transport;
  std::unique_ptr<store::Store> store = store::make_memory_store();
  std::vector<topics::EndpointInfo> endpoints;
  std::vector<topics::EndpointId> gone;
  std::vector<std::string> said;
  TopicKeeper::Say say = [this](const std::string& sentence) { said.push_back(sentence); };
  Topics topics{*store, clock, 0, say};
  topics::Participant participant{*transport, clock, {}, this};
};

struct Joining : Side {
  using Side::Side;
  std::unique_ptr<Follower> follower;

  void join() {
    const topics::EndpointInfo* reader = reader_of(link_up);
    REQUIRE(reader != nullptr);
    follower = *Follower::open(participant, *reader, topics);
  }
};

/// One that serves, and those that join it. The test itself tells the Replicas what discovery finds.
struct World {
  topics::Loopback domain{std::uint64_t{16} << 20};
  Side serving{domain};
  Joining first{domain}, second{domain};
  Feed feed;
  std::unique_ptr<Replicas> replicas =
      *Replicas::open(serving.participant, serving.topics, feed, serving.clock, serving.say);

  void work(int rounds = 10) {
    while (rounds-- > 0) {
      for (Joining* each : {&first, &second}) {
        REQUIRE(each->participant.poll());
        if (each->follower) REQUIRE(each->follower->work());
      }
      REQUIRE(serving.participant.poll());
      REQUIRE(replicas->work({}));
    }
  }
  /// When it returns the join was read.
  void join(Joining& joining) {
    work();
    joining.join();
    work();
    REQUIRE_FALSE(joining.follower->is_aligned());
  }
  void find(Joining& joining) {
    const topics::EndpointInfo* reader = serving.reader_of(link_down, joining.participant.id());
    REQUIRE(reader != nullptr);
    replicas->add(*reader);
    work();
    CHECK(joining.follower->is_aligned());
  }
};

}  // namespace

TEST_CASE("replicas: who joins before discovery has found its reader is answered once it has", "[service]") {
  World world;
  world.join(world.first);
  world.find(world.first);
  CHECK(world.replicas->follower_count() == 1);
}

TEST_CASE("replicas: who joins anew before it is known that its first attempt has ended is answered",
          "[service]") {
  World world;
  world.join(world.first);
  if (GENERATE(true, false)) world.find(world.first);
  world.first.follower.reset();
  world.join(world.first);
  world.find(world.first);
  for (const topics::EndpointId& gone : world.serving.gone) world.replicas->gone(gone);
  world.work();
  CHECK(world.first.follower->is_aligned());
  CHECK(world.replicas->follower_count() == 1);
}

TEST_CASE("replicas: of those that join at once each is answered", "[service]") {
  World world;
  world.join(world.first);
  world.join(world.second);
  for (Joining* each : {&world.second, &world.first})
    world.replicas->add(*world.serving.reader_of(link_down, each->participant.id()));
  world.work(20);
  CHECK(world.first.follower->is_aligned());
  CHECK(world.second.follower->is_aligned());
  CHECK(world.replicas->follower_count() == 2);
}

}  // namespace llamada::service
