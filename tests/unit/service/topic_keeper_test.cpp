#include "topic_on_disk.hpp"

namespace llamada::service {

TEST_CASE("topic keeper: keeps each sample once, over restarts", "[service]") {
  OnDisk disk;
  for (int restarts = 0; restarts < 3; ++restarts) {
    disk.came(one, offer(all));
    for (std::uint64_t number = 1; number <= 5; ++number) CHECK(disk.take(one, number));
    disk.write();
    CHECK(disk.text() == "7.1:1 7.1:2 7.1:3 7.1:4 7.1:5");
    disk.open();
  }
  CHECK(disk.text() == "7.1:1 7.1:2 7.1:3 7.1:4 7.1:5");
  CHECK(disk.keeper->sample_count() == 5);
}

TEST_CASE("topic keeper: a sample that another writer's has replaced does not come back", "[service]") {
  OnDisk disk;
  for (int restarts = 0; restarts < 3; ++restarts) {
    disk.came(one, offer(newest));
    disk.came(other, offer(newest));
    CHECK(disk.take(one, 1));
    CHECK(disk.take(other, 1));
    disk.write();
    disk.write();  // the drops of the first batch are in the second one at the latest
    CHECK(disk.text() == "7.2:1");
    disk.open();
  }
}

TEST_CASE("topic keeper: goes on after a restart though the last thing that it kept was dropped",
          "[service]") {
  OnDisk disk;
  disk.came(one, offer(newest));
  disk.came(other, offer(newest));
  CHECK(disk.take(one, 1));
  CHECK(disk.take(other, 1));
  disk.write();
  disk.keeper->writer_gone(one, false);
  disk.write();
  CHECK(disk.take(other, 2, 1, ChangeKind::disposed_unregistered));
  disk.keeper->writer_gone(other, false);
  CHECK(disk.keeper->keep_time() > 0);
  disk.write();
  disk.write();
  REQUIRE(disk.text().empty());
  REQUIRE(disk.store->streams()[0].items == 0);
  disk.open();
  disk.came(one, offer(newest));
  CHECK(disk.take(one, 2));
  disk.write();
  CHECK(disk.text() == "7.1:2");
}

TEST_CASE("topic keeper: BY_SOURCE_TIMESTAMP keeps what is newest by its source, whoever is read first",
          "[service]") {
  OnDisk disk;
  auto by_source = offer(newest);
  by_source.datawriter.destination_order.kind = qos::DestinationOrderKind::by_source_timestamp;
  const auto come = [&] {
    disk.came(one, by_source);
    disk.came(other, by_source);
  };
  come();
  disk.clock.now = 2h;
  CHECK(disk.take(one, 1));
  disk.clock.now = 1h;
  CHECK(disk.take(other, 1));
  disk.clock.now = 3h;
  CHECK(disk.take(one, 2, 5, ChangeKind::disposed));
  disk.clock.now = 2h;
  CHECK(disk.take(other, 2, 5));
  for (int restarts = 0; restarts < 3; ++restarts) {
    disk.write();
    CHECK(disk.text() == "7.1:1 7.1:2D");
    disk.open();
    come();
  }
}

TEST_CASE("topic keeper: what was not written is not there, and is taken again", "[service]") {
  OnDisk disk;
  disk.came(one, offer(all));
  CHECK(disk.take(one, 1));
  disk.write();
  CHECK(disk.take(one, 2));
  CHECK(disk.keeper->complete_batch());
  CHECK(disk.text() == "7.1:1");
  disk.open();
  CHECK(disk.text() == "7.1:1");
  disk.came(one, offer(all));
  CHECK(disk.take(one, 2));
  disk.write();
  CHECK(disk.text() == "7.1:1 7.1:2");
}

TEST_CASE("topic keeper: a full batch refuses a sample until it is written", "[service]") {
  OnDisk disk;
  disk.came(one, offer(all));
  std::uint64_t taken = 0;
  while (disk.take(one, taken + 1)) ++taken;
  CHECK(taken > 100);
  CHECK(disk.keeper->take_full());
  CHECK_FALSE(disk.keeper->take_full());
  while (!disk.keeper->complete_batch()) REQUIRE(disk.store->write());
  REQUIRE(disk.store->write());
  CHECK(disk.take(one, taken + 1));
  CHECK(disk.said.empty());
}

TEST_CASE("topic keeper: a limit refuses, and says so once", "[service]") {
  OnDisk disk;
  auto policy = all;
  policy.max_samples = 2;
  disk.came(one, offer(policy));
  CHECK(disk.take(one, 1));
  CHECK(disk.take(one, 2));
  for (int again = 0; again < 3; ++again) CHECK_FALSE(disk.take(one, 3));
  CHECK_FALSE(disk.keeper->take_full());
  REQUIRE(disk.said.size() == 1);
  CHECK(disk.said[0].find("DURABILITY_SERVICE max_samples") != std::string::npos);
}

TEST_CASE("topic keeper: writers that disagree on DURABILITY_SERVICE are told, and the first one counts",
          "[service]") {
  OnDisk disk;
  disk.came(one, offer(all));
  disk.came(other, offer(newest));
  for (std::uint64_t number = 1; number <= 2; ++number) CHECK(disk.take(other, number));
  disk.write();
  CHECK(disk.text() == "7.2:1 7.2:2");
  REQUIRE(disk.said.size() == 1);
  CHECK(disk.said[0].find("disagree on DURABILITY_SERVICE") != std::string::npos);
}

TEST_CASE("topic keeper: of an EXCLUSIVE instance only the strongest writer is kept", "[service]") {
  OnDisk disk;
  disk.came(one, exclusive(1));
  disk.came(other, exclusive(2));
  CHECK(disk.take(one, 1));
  CHECK(disk.take(other, 1));
  CHECK(disk.take(one, 2));
  disk.keeper->writer_gone(other, true);
  CHECK(disk.take(one, 3));
  disk.write();
  CHECK(disk.text() == "7.1:1 7.2:1 7.1:3");
  disk.open();  // the one that was not heard is known to be over
  disk.came(one, exclusive(1));
  CHECK(disk.take(one, 2));
  disk.write();
  CHECK(disk.text() == "7.1:1 7.2:1 7.1:3");
}

TEST_CASE("topic keeper: samples that have outlived LIFESPAN are neither given nor kept", "[service]") {
  OnDisk disk;
  auto qos = offer(all);
  qos.datawriter.lifespan.duration = std::chrono::seconds(5);
  disk.came(one, qos);
  CHECK(disk.take(one, 1));
  disk.write();
  disk.clock.now += std::chrono::seconds(4);
  CHECK(disk.take(one, 2));
  disk.write();
  CHECK(disk.text() == "7.1:1 7.1:2");
  disk.clock.now += std::chrono::seconds(2);
  CHECK(disk.text() == "7.1:2");
  (void)disk.keeper->keep_time();
  CHECK(disk.keeper->sample_count() == 1);
}

TEST_CASE("topic keeper: of a deleted writer without samples nothing is left", "[service]") {
  OnDisk disk;
  disk.came(one, offer(newest));
  disk.came(other, offer(newest));
  CHECK(disk.take(one, 1));
  CHECK(disk.take(other, 1));
  disk.write();
  disk.keeper->writer_gone(one, false);
  disk.write();
  disk.write();
  CHECK(disk.text() == "7.2:1");
  const auto streams = disk.store->streams();
  REQUIRE(streams.size() == 1);
  CHECK(streams[0].items == 2);  // the sample and the record of the other writer
}

TEST_CASE("kept topic: what was encoded is decoded, and other bytes are refused", "[service]") {
  const KeptTopic topic{{3, "readings", "lab::Reading", 0x1234, true}, "description"};
  const auto bytes = encode(topic);
  const auto decoded = decode_topic(bytes);
  REQUIRE(decoded);
  CHECK(decoded->key == topic.key);
  CHECK(decoded->type_description == topic.type_description);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_topic(std::span(bytes).first(size)));
  store::Item item{.kind = item_sample};
  const auto head = encode_head(KeptSample{{one, 9}, ChangeKind::disposed, 4, 5});
  for (std::size_t size = 0; size < head.size(); ++size) {
    item.head = std::span(head).first(size);
    CHECK_FALSE(decode_sample(item));
  }
  item.head = head;
  CHECK(decode_sample(item)->origin == topics::Origin{one, 9});
  item.kind = item_writer;
  CHECK_FALSE(decode_sample(item));
}

TEST_CASE("topic keeper: service_cleanup_delay holds over a restart", "[service]") {
  OnDisk disk;
  auto policy = newest;
  policy.service_cleanup_delay = std::chrono::hours(1);
  disk.came(one, offer(policy));
  CHECK(disk.take(one, 1));
  CHECK(disk.take(one, 2, 1, ChangeKind::disposed_unregistered));
  disk.write();
  disk.open();
  (void)disk.keeper->keep_time();
  CHECK(disk.text() == "7.1:1 7.1:2D");
  disk.clock.now += std::chrono::hours(1);
  (void)disk.keeper->keep_time();
  disk.write();
  CHECK(disk.text().empty());
}

}  // namespace llamada::service
