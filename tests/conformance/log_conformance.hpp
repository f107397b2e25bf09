#pragma once

// RELIABLE KEEP_ALL writers, and the transport itself.

#include "conformance_peers.hpp"

namespace llamada::topics::conformance {

TEST_CASE("transport: applications find each other, and see who leaves and who comes after",
          "[conformance]") {
  TransportFixture fixture;
  auto first = fixture.attach();
  auto second = fixture.attach();
  REQUIRE(first->poll().has_value());
  CHECK(first->slot() != second->slot());
  CHECK(first->peer(first->slot()).id != 0);
  const auto slot = second->slot();
  REQUIRE(slot < first->slot_count());
  const auto id = first->peer(slot).id;
  CHECK(id != 0);
  CHECK(first->peer(slot).arena.ready());
  second.reset();
  for (int i = 0; i < 60000 && first->peer(slot).id == id; ++i) {
    REQUIRE(first->poll().has_value());
    std::this_thread::sleep_for(1ms);
  }
  CHECK(first->peer(slot).id != id);
  auto third = fixture.attach();
  REQUIRE(first->poll().has_value());
  CHECK(first->peer(third->slot()).id != id);
  first->release_replaced();
}

TEST_CASE("transport: a wait ends by a wake, by its time, and does not begin when there is something",
          "[conformance]") {
  TransportFixture fixture;
  auto sleeper = fixture.attach();
  auto waker = fixture.attach();
  REQUIRE(sleeper->poll().has_value());
  REQUIRE(waker->poll().has_value());
  CHECK(sleeper->wait([] { return true; }, 1h).has_value());
  CHECK(sleeper->wait([] { return false; }, 1ms).has_value());
  std::atomic<int> ball{0};  // each side waits for the other's stroke
  std::thread other([&] {
    for (int stroke = 0; stroke < 200; stroke += 2) {
      while (ball.load() != stroke + 1) (void)waker->wait([&] { return ball.load() == stroke + 1; }, 100ms);
      ball.store(stroke + 2);
      waker->wake(sleeper->slot());
    }
  });
  for (int stroke = 0; stroke < 200; stroke += 2) {
    ball.store(stroke + 1);
    sleeper->wake(waker->slot());
    while (ball.load() != stroke + 2) (void)sleeper->wait([&] { return ball.load() == stroke + 2; }, 100ms);
  }
  other.join();
}

TEST_CASE("topics: a matched reader gets all samples in order, whole, of every size", "[conformance]") {
  MatchedPair pair;
  auto& [fixture, sender, receiver, writer, reader] = pair;
  std::uint64_t number = 1;
  for (std::size_t size : {0, 1, 24, 25, 40, 41, 48, 49, 1000, 5000, 100000, 3000000})
    for (bool extended : {false, true})
      for (bool in_place : {false, true}) {
        SampleHeader header = header_of(number);
        header.kind = number % 2 == 0 ? ChangeKind::disposed : ChangeKind::alive;
        if (extended) {
          header.coherent_set = 17;
          header.group_sequence = number << 40;
        }
        if (in_place) {
          auto loan = writer.endpoint->loan(size);
          REQUIRE(loan.has_value());
          REQUIRE(loan->data().size() == size);
          std::ranges::copy(bytes_of(number, size), loan->data().begin());
          REQUIRE(writer.endpoint->publish(std::move(*loan), header).value() == number);
        } else {
          REQUIRE(writer.endpoint->publish(bytes_of(number, size), header).value() == number);
        }
        settle({&receiver}, [&] { return !reader.samples.empty(); });
        CHECK(reader.samples.front().first == writer.endpoint->id());
        auto sample = reader.take();
        REQUIRE(is(sample, number, size));
        CHECK(sample->in_place() == (size > 48));
        header.sequence_number = number;
        CHECK(sample->header() == header);
        ++number;
      }
  CHECK_FALSE(take(receiver, reader).has_value());
  CHECK(writer.endpoint->all_acknowledged());
}

TEST_CASE("topics: a large sample takes the room of the one before once all readers have let go of it",
          "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture), other(fixture);
  Writer writer;
  Reader reader, late;
  open(sender, writer);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  constexpr std::size_t size = 300000;
  std::uint64_t number = 0;
  const auto next = [&] {
    REQUIRE(write(writer, ++number, size));
    auto sample = take(receiver, reader);
    REQUIRE(is(sample, number, size));
    return std::move(*sample);
  };
  const auto* const place = next().data().data();
  CHECK(next().data().data() == place);
  Sample held = next();
  CHECK(held.data().data() == place);
  CHECK(next().data().data() != place);
  REQUIRE(is(held, 3, size));
  {
    const Sample last = next();
    REQUIRE(is(held, 3, size));
    REQUIRE(is(last, 5, size));
  }
  held.evacuate();
  const auto* const again = next().data().data();
  CHECK(next().data().data() == again);
  // Who sees only by the chunk that it was overtaken is not overtaken within one.
  open(other, late, best_effort(reader_spec()));
  settle({&sender, &receiver, &other}, [&] { return late.endpoint->matched_count() == 1; });
  CHECK(next().data().data() != again);
  CHECK(is(take(other, late), number, size));
  late.endpoint.reset();
  settle({&sender, &receiver, &other}, [&] { return writer.endpoint->matched_count() == 1; });
  const auto* const alone = next().data().data();
  CHECK(next().data().data() == alone);
  for (int i = 0; i < 300; ++i) (void)next();  // more than a chunk has cells
  // A reader that has taken nothing yet needs all of it.
  Reader slow;
  open(other, slow);
  settle({&sender, &receiver, &other}, [&] { return slow.endpoint->matched_count() == 1; });
  const Sample first = next();
  CHECK(next().data().data() != first.data().data());
  CHECK(is(take(other, slow), number - 1, size));
  CHECK(is(take(other, slow), number, size));
}

TEST_CASE("topics: a second loan, and one that is dropped", "[conformance]") {
  MatchedPair pair;
  auto& [fixture, sender, receiver, writer, reader] = pair;
  for (std::size_t size : {10, 5000}) {
    auto first = writer.endpoint->loan(size);
    auto second = writer.endpoint->loan(size);
    { auto dropped = writer.endpoint->loan(size); }
    REQUIRE((first && second));
    for (const auto& loan : {first->data(), second->data()})
      CHECK(reinterpret_cast<std::uintptr_t>(loan.data()) % (size > 48 ? 64 : 8) == 0);
    std::ranges::copy(bytes_of(1, size), first->data().begin());
    std::ranges::copy(bytes_of(2, size), second->data().begin());
    REQUIRE(writer.endpoint->publish(std::move(*first), header_of(1)).has_value());
    REQUIRE(writer.endpoint->publish(std::move(*second), header_of(2)).has_value());
    CHECK(is(take(receiver, reader), 1, size));
    CHECK(is(take(receiver, reader), 2, size));
    CHECK_FALSE(take(receiver, reader).has_value());
  }
}

TEST_CASE("topics: a small loan that is out holds up no other sample", "[conformance]") {
  MatchedPair pair;
  auto& [fixture, sender, receiver, writer, reader] = pair;
  auto small = writer.endpoint->loan(40);
  REQUIRE(small.has_value());
  std::ranges::copy(bytes_of(3, 40), small->data().begin());
  REQUIRE(write(writer, 1, 10));
  auto large = writer.endpoint->loan(5000);
  REQUIRE(large.has_value());
  std::ranges::copy(bytes_of(2, 5000), large->data().begin());
  REQUIRE(writer.endpoint->publish(std::move(*large), header_of(2)).has_value());
  Loan moved = std::move(*small);
  REQUIRE(writer.endpoint->publish(std::move(moved), header_of(3)).has_value());
  CHECK(is(take(receiver, reader), 1, 10));
  CHECK(is(take(receiver, reader), 2, 5000));
  CHECK(is(take(receiver, reader), 3, 40));
}

TEST_CASE("topics: topics, types, domains and partitions keep apart", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture), stranger(fixture, nullptr, {.domain = 5});
  Writer writer;
  Reader circle, other_type, other_hash, square, other_domain, other_partition;
  const std::string long_name(500, 'x');
  auto spec = writer_spec();
  spec.qos.publisher.partition.name = {"a", long_name.substr(0, 200)};
  open(sender, writer, spec);
  auto reading = reader_spec();
  reading.qos.subscriber.partition.name = {"[ab]"};
  open(receiver, square, reading);
  open(stranger, other_domain, reading);
  auto different = reading;
  different.topic = "Circle";
  open(receiver, circle, different);
  different = reading;
  different.type = "OtherType";
  open(receiver, other_type, different);
  different = reading;
  different.type_hash = 8;
  open(receiver, other_hash, different);
  different = reading;
  different.qos.subscriber.partition.name = {"c"};
  open(receiver, other_partition, different);
  settle_match(sender, writer, receiver, square);
  for (int i = 0; i < 3; ++i)
    for (Peer* peer : {&sender, &receiver, &stranger}) REQUIRE(peer->participant.poll().has_value());
  REQUIRE(write(writer, 1));
  CHECK(is(take(receiver, square), 1));
  REQUIRE(stranger.participant.poll().has_value());
  for (Reader* reader : {&circle, &other_type, &other_hash, &other_domain, &other_partition}) {
    CHECK(reader->samples.empty());
    CHECK(reader->matched.empty());
    CHECK(reader->incompatible.empty());
  }
  CHECK(writer.endpoint->matched_count() == 1);
}

TEST_CASE("topics: a change of PARTITION matches and unmatches", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  auto writing = writer_spec();
  auto reading = reader_spec();
  writing.qos.publisher.partition.name = {"one"};
  reading.qos.subscriber.partition.name = {"two"};
  open(sender, writer, writing);
  open(receiver, reader, reading);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    writing.qos.publisher.partition.name = {"tw*"};
    REQUIRE(writer.endpoint->set_qos(writing.qos).has_value());
    settle({&sender, &receiver},
           [&] { return writer.matched.size() == round && reader.matched.size() == round; });
    REQUIRE(write(writer, round));
    CHECK(is(take(receiver, reader), round));
    reading.qos.subscriber.partition.name = {"three"};
    REQUIRE(reader.endpoint->set_qos(reading.qos).has_value());
    settle({&sender, &receiver},
           [&] { return writer.unmatched.size() == round && reader.unmatched.size() == round; });
    CHECK_FALSE(reader.unmatched.back().second);
    CHECK_FALSE(writer.unmatched.back().second);
    REQUIRE(write(writer, round));
    CHECK_FALSE(take(receiver, reader).has_value());
    writing.qos.publisher.partition.name = {"one"};
    REQUIRE(writer.endpoint->set_qos(writing.qos).has_value());
    reading.qos.subscriber.partition.name = {"two"};
    REQUIRE(reader.endpoint->set_qos(reading.qos).has_value());
    settle({&sender, &receiver}, [&] { return writer.endpoint->matched_count() == 0; });
  }
}

TEST_CASE("topics: a change of a mutable policy is seen by the other side", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  auto writing = writer_spec();
  auto reading = reader_spec();
  open(sender, writer, writing);
  open(receiver, reader, reading);
  settle_match(sender, writer, receiver, reader);
  for (int round = 1; round <= 100; ++round) {
    writing.qos.datawriter.ownership_strength.value = round;
    REQUIRE(writer.endpoint->set_qos(writing.qos).has_value());
    settle({&sender, &receiver},
           [&] { return !reader.changed.empty() && reader.changed.back().qos == writing.qos; });
  }
  CHECK(reader.changed.size() == 100);
  reading.qos.datareader.user_data.value = bytes_of(3, 1000);
  REQUIRE(reader.endpoint->set_qos(reading.qos).has_value());
  settle({&sender, &receiver}, [&] { return writer.changed.size() == 1; });
  CHECK(writer.changed[0].qos == reading.qos);
  CHECK(reader.unmatched.empty());
  writing.qos.datawriter.history.kind = qos::HistoryKind::keep_last;
  CHECK(writer.endpoint->set_qos(writing.qos).error().code() == Errc::incompatible);
}

TEST_CASE("topics: a late joiner gets the history of TRANSIENT_LOCAL, and none of VOLATILE",
          "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer writer;
  open(sender, writer, writer_spec(transient_local));
  for (std::uint64_t number = 0; number < 5000; ++number) REQUIRE(write(writer, number, 100));
  Peer receiver(fixture);
  Reader late, late_best_effort, volatile_reader;
  open(receiver, late, reader_spec(transient_local));
  open(receiver, late_best_effort, best_effort(reader_spec(transient_local)));
  open(receiver, volatile_reader);
  settle({&sender, &receiver}, [&] {
    return writer.endpoint->matched_count() == 3 && volatile_reader.endpoint->matched_count() == 1 &&
           late_best_effort.endpoint->matched_count() == 1;
  });
  for (std::uint64_t number = 5000; number < 6000; ++number) REQUIRE(write(writer, number, 100));
  for (std::uint64_t number = 0; number < 6000; ++number) {
    REQUIRE(is(take(receiver, late), number, 100));
    REQUIRE(is(take(receiver, late_best_effort), number, 100));
  }
  for (std::uint64_t number = 5000; number < 6000; ++number)
    REQUIRE(is(take(receiver, volatile_reader), number, 100));
  for (Reader* reader : {&late, &late_best_effort, &volatile_reader})
    CHECK_FALSE(take(receiver, *reader).has_value());
}

TEST_CASE(
    "topics: a VOLATILE writer without readers keeps nothing, and a joiner gets what is written from the "
    "match on",
    "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer);
  for (std::uint64_t number = 0; number < 50000; ++number) REQUIRE(write(writer, number, 1000));
  CHECK(sender.transport->arena().pool_live() < 8 << 20);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  REQUIRE(write(writer, 77));
  CHECK(is(take(receiver, reader), 77));
}

TEST_CASE("topics: a pair that does not fit is not matched and both sides say why", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer);
  auto spec = reader_spec(transient_local);
  spec.qos.datareader.deadline.period = 1s;
  open(receiver, reader, spec);
  settle({&sender, &receiver},
         [&] { return writer.incompatible.size() == 1 && reader.incompatible.size() == 1; });
  for (int i = 0; i < 3; ++i)
    for (Peer* peer : {&sender, &receiver}) REQUIRE(peer->participant.poll().has_value());
  CHECK(writer.endpoint->matched_count() == 0);
  CHECK(reader.endpoint->matched_count() == 0);
  CHECK(writer.incompatible == reader.incompatible);
  REQUIRE(writer.incompatible.size() == 1);
  REQUIRE(writer.incompatible[0].size() == 2);
  CHECK(writer.incompatible[0][0].policy == qos::PolicyId::durability);
  CHECK(writer.incompatible[0][1].policy == qos::PolicyId::deadline);
}

TEST_CASE("topics: a RELIABLE reader without room holds a KEEP_ALL writer back", "[conformance]") {
  MatchedPair pair;
  auto& [fixture, sender, receiver, writer, reader] = pair;
  reader.room = 1;
  std::uint64_t written = 0, taken = 0;
  while (write(writer, written, 10000)) {
    REQUIRE(++written < 10000);
    REQUIRE(receiver.participant.poll().has_value());
  }
  CHECK(writer.endpoint->publish(bytes_of(1, 10000), {}).error().code() == Errc::would_block);
  CHECK_FALSE(writer.endpoint->all_acknowledged());
  reader.room = SIZE_MAX;
  while (is(take(receiver, reader), taken, 10000)) ++taken;
  CHECK(taken == written);
  CHECK(writer.endpoint->all_acknowledged());
  CHECK(write(writer, written, 10000));
  CHECK(is(take(receiver, reader), written, 10000));
}

TEST_CASE("topics: a BEST_EFFORT reader holds nobody, and is told what it lost", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader slow, fast;
  open(sender, writer);
  open(receiver, slow, best_effort(reader_spec()));
  open(receiver, fast);
  settle_match(sender, writer, receiver, slow, 2);
  slow.room = 3;
  constexpr std::uint64_t count = 20000;
  for (std::uint64_t number = 0; number < count; ++number) {
    while (!write(writer, number, 1000)) REQUIRE(receiver.participant.poll().has_value());
    while (auto sample = fast.take()) {
    }
  }
  slow.room = SIZE_MAX;
  std::uint64_t taken = 0, last = 0;
  while (auto sample = take(receiver, slow)) {
    CHECK_FALSE(sample->in_place());
    REQUIRE(is(sample, sample->header().sequence_number - 1, 1000));
    REQUIRE(sample->header().sequence_number > last);
    last = sample->header().sequence_number;
    ++taken;
  }
  CHECK(last == count);
  CHECK(slow.lost > 0);
  CHECK(taken + slow.lost == count);
  CHECK(fast.lost == 0);
}

TEST_CASE("topics: a cache that keeps old samples does not stop a KEEP_ALL writer", "[conformance]") {
  MatchedPair pair;
  auto& [fixture, sender, receiver, writer, reader] = pair;
  std::deque<Sample> kept;
  for (std::uint64_t number = 0; number < 5000; ++number) {
    while (!write(writer, number, 5000)) REQUIRE(receiver.participant.poll().has_value());
    while (auto sample = take(receiver, reader))
      if (sample->header().instance % 500 == 0) kept.push_back(std::move(*sample));
  }
  REQUIRE(kept.size() == 10);
  CHECK_FALSE(kept.front().in_place());
  for (std::uint64_t i = 0; i < 10; ++i) CHECK(is(kept[i], i * 500, 5000));
}

TEST_CASE(
    "topics: large samples that came together are not copied when they are taken at once, but when left",
    "[conformance]") {
  MatchedPair pair;
  auto& [fixture, sender, receiver, writer, reader] = pair;
  constexpr std::size_t size = 1 << 20;
  std::uint64_t written = 0, taken = 0;
  const auto fill = [&] {
    while (write(writer, written, size)) ++written;
  };
  const auto in_time = [](const auto& begin) { return std::chrono::steady_clock::now() - begin < 500us; };
  int in_time_count = 0;
  for (int round = 0; round < 1000 && in_time_count < 5; ++round) {
    const std::uint64_t copied = counted(receiver, log::Counter::sample_bytes_copied);
    fill();
    const auto begin = std::chrono::steady_clock::now();
    for (int polls = 0; polls < 2; ++polls) REQUIRE(receiver.participant.poll().has_value());
    REQUIRE(reader.samples.size() == written - taken);
    REQUIRE(reader.samples.size() > 5);
    for (auto& [from, sample] : reader.samples) sample.let_evacuate(false);
    if (in_time(begin)) {  // else this machine was too busy to say
      CHECK(counted(receiver, log::Counter::sample_bytes_copied) == copied);
      ++in_time_count;
    }
    for (; !reader.samples.empty(); ++taken) {
      const Sample& sample = reader.samples.front().second;
      REQUIRE(sample.data().front() == bytes_of(taken).front());
      REQUIRE(sample.data().size() == size);
      reader.samples.pop_front();
    }
    REQUIRE(receiver.participant.poll().has_value());
  }
  CHECK(in_time_count > 0);
  // What nobody takes does not stop the writer.
  fill();
  const std::uint64_t full = written;
  settle({&receiver}, [&] {
    fill();
    return written >= full + 16;
  });
  CHECK(counted(receiver, log::Counter::sample_bytes_copied) > 0);
  for (; taken < full; ++taken) REQUIRE(is(reader.take(), taken, size));
}

TEST_CASE("topics: a sample on loan stays as it is, in place, until it is given back", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  reader.evacuates = false;
  open(sender, writer);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  REQUIRE(write(writer, 1, 5000));
  auto loan = take(receiver, reader);
  std::uint64_t written = 2;
  for (; write(writer, written, 5000); ++written) {
    REQUIRE(is(take(receiver, reader), written, 5000));
    REQUIRE(written < 10000);
  }
  CHECK(loan->in_place());
  CHECK(is(loan, 1, 5000));
  loan->evacuate();
  CHECK_FALSE(loan->in_place());
  CHECK(is(loan, 1, 5000));
  CHECK(write(writer, written, 5000));
}

TEST_CASE("topics: a reader that is deleted, or whose application is gone, holds nobody", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer writer;
  open(sender, writer);
  for (std::size_t round = 0; round < 4; ++round) {
    auto receiver = std::make_unique<Peer>(fixture);
    Reader reader;
    reader.evacuates = false;
    open(*receiver, reader);
    settle_match(sender, writer, *receiver, reader);
    REQUIRE(write(writer, 1, 1000));
    settle({receiver.get()}, [&] { return !reader.samples.empty(); });
    reader.endpoint.reset();
    CHECK(is(reader.samples.front().second, 1, 1000));
    reader.samples.clear();
    if (round % 2 == 1) receiver.reset();
    settle({&sender}, [&] {
      if (receiver) REQUIRE(receiver->participant.poll().has_value());
      return writer.endpoint->matched_count() == 0;
    });
    CHECK(writer.unmatched.size() == round + 1);
    CHECK_FALSE(writer.unmatched.back().second);
    for (std::uint64_t number = 0; number < 20000; ++number) REQUIRE(write(writer, number, 1000));
  }
}

TEST_CASE("topics: SEND_WINDOW and RESOURCE_LIMITS bound what is not acknowledged", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer window, limited, per_instance;
  Reader reader;
  reader.room = 0;
  auto spec = writer_spec();
  spec.qos.datawriter.send_window = {.min = 1, .max = 5};
  open(sender, window, spec);
  spec = writer_spec();
  spec.qos.datawriter.resource_limits.max_samples = 6;
  open(sender, limited, spec);
  spec = writer_spec();
  spec.qos.datawriter.resource_limits.max_samples_per_instance = 2;
  open(sender, per_instance, spec);
  open(receiver, reader);
  settle({&sender, &receiver}, [&] { return reader.endpoint->matched_count() == 3; });
  for (auto [writer, limit] : {std::pair(&window, 5), std::pair(&limited, 6), std::pair(&per_instance, 2)}) {
    int written = 0;
    while (writer->endpoint->publish(bytes_of(1), header_of(1))) REQUIRE(++written < 100);
    CHECK(written == limit);
    CHECK(writer->endpoint->publish(bytes_of(1), header_of(1)).error().code() == Errc::would_block);
  }
  CHECK(per_instance.endpoint->publish(bytes_of(1), header_of(2)).has_value());
  reader.room = SIZE_MAX;
  REQUIRE(receiver.participant.poll().has_value());
  CHECK(reader.samples.size() == 14);
  for (Writer* writer : {&window, &limited, &per_instance}) CHECK(write(*writer, 1));
}

TEST_CASE("topics: RESOURCE_LIMITS of what is kept for good", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer samples, instances;
  auto spec = writer_spec(transient_local);
  spec.qos.datawriter.resource_limits.max_samples = 10;
  open(sender, samples, spec);
  for (std::uint64_t number = 0; number < 10; ++number) REQUIRE(write(samples, number));
  CHECK(samples.endpoint->publish(bytes_of(1), {}).error().code() == Errc::out_of_resources);
  spec = writer_spec(transient_local);
  spec.qos.datawriter.resource_limits.max_instances = 3;
  open(sender, instances, spec);
  for (std::uint64_t number = 0; number < 9; ++number)
    REQUIRE(instances.endpoint->publish(bytes_of(1), header_of(number % 3)).has_value());
  CHECK(instances.endpoint->publish(bytes_of(1), header_of(4)).error().code() == Errc::out_of_resources);
  SampleHeader end = header_of(2);
  end.kind = ChangeKind::unregistered;
  REQUIRE(instances.endpoint->publish(bytes_of(0, 0), end).has_value());
  CHECK(instances.endpoint->publish(bytes_of(1), header_of(4)).has_value());
}

TEST_CASE("topics: what a writer left when it went is still read", "[conformance]") {
  TransportFixture fixture;
  Peer receiver(fixture);
  Reader reader;
  open(receiver, reader);
  for (std::size_t round = 0; round < 4; ++round) {
    auto sender = std::make_unique<Peer>(fixture);
    Writer writer;
    open(*sender, writer);
    settle_match(*sender, writer, receiver, reader);
    for (std::uint64_t number = 0; number < 100; ++number) REQUIRE(write(writer, number, 500));
    writer.endpoint.reset();
    if (round % 2 == 1) sender.reset();
    for (std::uint64_t number = 0; number < 100; ++number) REQUIRE(is(take(receiver, reader), number, 500));
    CHECK_FALSE(take(receiver, reader).has_value());
    settle({&receiver}, [&] { return reader.endpoint->matched_count() == 0; });
    CHECK(reader.unmatched.size() == round + 1);
    CHECK_FALSE(reader.unmatched.back().second);
  }
}

TEST_CASE("topics: several writers and readers, also in one application", "[conformance]") {
  TransportFixture fixture;
  Peer one(fixture), other(fixture);
  Writer first, second;
  Reader same, far;
  open(one, first);
  open(other, second);
  open(one, same);
  open(other, far);
  settle({&one, &other}, [&] {
    return first.endpoint->matched_count() == 2 && second.endpoint->matched_count() == 2 &&
           same.endpoint->matched_count() == 2 && far.endpoint->matched_count() == 2;
  });
  for (std::uint64_t number = 0; number < 500; ++number) {
    REQUIRE(first.endpoint->publish(bytes_of(number), header_of(1)).has_value());
    REQUIRE(second.endpoint->publish(bytes_of(number), header_of(2)).has_value());
  }
  for (auto [peer, reader] : {std::pair(&one, &same), std::pair(&other, &far)}) {
    std::uint64_t next[3] = {};
    for (int i = 0; i < 1000; ++i) {
      auto sample = take(*peer, *reader);
      REQUIRE(sample.has_value());
      REQUIRE(is(sample, next[sample->header().instance]++));
    }
    CHECK_FALSE(take(*peer, *reader).has_value());
  }
}

TEST_CASE("topics: endpoints that come and go leave no memory behind", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  std::uint64_t used = 0;
  for (int round = 0; round < 40; ++round) {
    Writer writer;
    Reader reader;
    const auto spec = writer_spec(round % 2 == 0 ? transient_local : volatile_);
    open(sender, writer, round % 4 < 2 ? spec : keep_last(spec, 500));
    open(receiver, reader, reader_spec(round % 2 == 0 ? transient_local : volatile_));
    settle_match(sender, writer, receiver, reader);
    for (std::uint64_t number = 0; number < 500; ++number) REQUIRE(write(writer, number, 500));
    for (std::uint64_t number = 0; number < 500; ++number) REQUIRE(is(take(receiver, reader), number, 500));
    writer.endpoint.reset();
    settle({&sender, &receiver}, [&] { return reader.unmatched.size() == 1; });
    reader.endpoint.reset();
    for (int i = 0; i < 3; ++i)
      for (Peer* peer : {&sender, &receiver}) REQUIRE(peer->participant.poll().has_value());
    if (round == 7) used = sender.transport->arena().pool_used() + receiver.transport->arena().pool_used();
  }
  CHECK(sender.transport->arena().pool_used() + receiver.transport->arena().pool_used() == used);
  CHECK(sender.transport->arena().reading().endpoint_count() <= 4);
  CHECK(sender.transport->arena().reading().log_count() <= 4);
  CHECK(receiver.transport->arena().reading().match_count() <= 4);
}

}  // namespace llamada::topics::conformance
