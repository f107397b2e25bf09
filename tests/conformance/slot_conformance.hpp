#pragma once

// KEEP_LAST and BEST_EFFORT writers.

#include "conformance_peers.hpp"

namespace llamada::topics::conformance {

TEST_CASE("topics: slots bring samples in order, whole, of every size", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer, keep_last(writer_spec(), 2));
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  std::uint64_t number = 1;
  for (int round = 0; round < 3; ++round)
    for (std::size_t size : {0, 1, 48, 49, 1000, 100000, 3000000, 50})
      for (bool in_place : {false, true}) {
        SampleHeader header = header_of(number);
        header.instance = 1;
        header.kind = number % 2 == 0 ? ChangeKind::disposed : ChangeKind::alive;
        header.coherent_set = 17;
        header.group_sequence = number << 40;
        if (in_place) {
          auto dropped = writer.endpoint->loan(size);
          auto loan = writer.endpoint->loan(size);
          REQUIRE((loan && dropped));
          std::ranges::copy(bytes_of(number, size), loan->data().begin());
          REQUIRE(writer.endpoint->publish(std::move(*loan), header).value() == number);
        } else {
          REQUIRE(writer.endpoint->publish(bytes_of(number, size), header).value() == number);
        }
        settle({&receiver}, [&] { return !reader.samples.empty(); });
        auto sample = reader.take();
        REQUIRE(is(sample, number, size));
        CHECK(sample->in_place() == (size > 48));
        header.sequence_number = number;
        CHECK(sample->header() == header);
        ++number;
      }
  CHECK(writer.endpoint->all_acknowledged());
  CHECK(reader.lost == 0);
}

TEST_CASE("topics: RELIABLE KEEP_LAST always brings the last of each instance, and blocks nobody",
          "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer, keep_last(writer_spec(), 2));
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  constexpr std::uint64_t instances = 300, rounds = 50;
  for (std::size_t size : {20, 200}) {
    const std::uint64_t first = writer.endpoint->published();
    for (std::uint64_t number = 0; number < instances * rounds; ++number)
      REQUIRE(writer.endpoint->publish(bytes_of(number, size), header_of(number % instances)).has_value());
    REQUIRE(receiver.participant.poll().has_value());
    std::map<std::uint64_t, std::uint64_t> last;  // number by instance
    std::map<std::uint64_t, int> count;
    std::uint64_t before = 0;
    while (auto sample = reader.take()) {
      const std::uint64_t number = sample->header().sequence_number - 1 - first;
      REQUIRE(is(sample, number, size));
      REQUIRE(sample->header().sequence_number > before);
      before = sample->header().sequence_number;
      last[sample->header().instance] = number;
      ++count[sample->header().instance];
    }
    CHECK(last.size() == instances);
    for (std::uint64_t i = 0; i < instances; ++i) {
      REQUIRE(last[i] == instances * (rounds - 1) + i);
      REQUIRE(count[i] >= 2);
    }
    CHECK(writer.endpoint->all_acknowledged());
  }
  CHECK(reader.lost == 0);
  CHECK(sender.transport->arena().pool_live() < 4 << 20);
}

TEST_CASE("topics: KEEP_LAST TRANSIENT_LOCAL gives a late joiner the last of each instance",
          "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer writer;
  open(sender, writer, keep_last(writer_spec(transient_local), 3));
  for (std::uint64_t number = 0; number < 1000; ++number)
    REQUIRE(writer.endpoint->publish(bytes_of(number, 100), header_of(number % 10)).has_value());
  SampleHeader end = header_of(7);
  end.kind = ChangeKind::unregistered;
  REQUIRE(writer.endpoint->publish(bytes_of(0, 0), end).has_value());
  REQUIRE(sender.participant.poll().has_value());
  Peer receiver(fixture);
  Reader late, late_best_effort, volatile_reader;
  open(receiver, late, reader_spec(transient_local));
  open(receiver, late_best_effort, best_effort(reader_spec(transient_local)));
  open(receiver, volatile_reader);
  settle({&sender, &receiver}, [&] {
    return late.endpoint->matched_count() + volatile_reader.endpoint->matched_count() +
               late_best_effort.endpoint->matched_count() ==
           3;
  });
  for (Reader* reader : {&late, &late_best_effort}) {
    for (std::uint64_t number = 970; number < 1000; ++number)
      if (number % 10 != 7) REQUIRE(is(take(receiver, *reader), number, 100));
    CHECK_FALSE(take(receiver, *reader).has_value());
    CHECK(reader->lost == 0);
  }
  CHECK_FALSE(take(receiver, volatile_reader).has_value());
  REQUIRE(write(writer, 5000, 100));
  for (Reader* reader : {&late, &late_best_effort, &volatile_reader})
    CHECK(is(take(receiver, *reader), 5000, 100));
}

TEST_CASE("topics: BEST_EFFORT loses rather than waits, and says how much", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  const bool keeps_all = GENERATE(false, true);
  open(sender, writer, keeps_all ? best_effort(writer_spec()) : keep_last(best_effort(writer_spec()), 4));
  open(receiver, reader, best_effort(reader_spec()));
  settle_match(sender, writer, receiver, reader);
  reader.room = 2;
  constexpr std::uint64_t count = 10000;
  for (std::uint64_t number = 0; number < count; ++number) {
    REQUIRE(writer.endpoint->publish(bytes_of(number, 500), header_of(number % 3)).has_value());
    if (number % 100 == 0) REQUIRE(receiver.participant.poll().has_value());
    if (number % 100 == 0) REQUIRE(sender.participant.poll().has_value());
  }
  reader.room = SIZE_MAX;
  REQUIRE(receiver.participant.poll().has_value());
  std::uint64_t last = 0, taken = 0;
  while (auto sample = reader.take()) {
    REQUIRE(is(sample, sample->header().sequence_number - 1, 500));
    REQUIRE(sample->header().sequence_number > last);
    last = sample->header().sequence_number;
    ++taken;
  }
  CHECK(last == count);
  CHECK(reader.lost > 0);
  CHECK(taken + reader.lost == count);
  CHECK(sender.transport->arena().pool_live() < 1 << 20);
}

TEST_CASE("topics: samples that are held in slots stay as they are, further ones are copied",
          "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer, keep_last(writer_spec(), 1));
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  std::deque<Sample> kept;
  for (std::uint64_t number = 0; number < 2000; ++number) {
    REQUIRE(writer.endpoint->publish(bytes_of(number, 1000), header_of(number % 5)).has_value());
    auto sample = take(receiver, reader);
    REQUIRE(is(sample, number, 1000));
    if (number < 40) kept.push_back(std::move(*sample));
  }
  REQUIRE(kept.size() == 40);
  for (std::uint64_t number = 0; number < 40; ++number) {
    CHECK(kept[number].in_place() == (number < log::hold_count));
    CHECK(is(kept[number], number, 1000));
  }
  const auto used = sender.transport->arena().pool_used();
  kept.clear();
  for (std::uint64_t number = 0; number < 2000; ++number) {
    REQUIRE(writer.endpoint->publish(bytes_of(number, 1000), header_of(number % 5)).has_value());
    auto sample = take(receiver, reader);
    REQUIRE(sample->in_place());
  }
  CHECK(sender.transport->arena().pool_used() == used);
}

TEST_CASE("topics: RESOURCE_LIMITS of a KEEP_LAST writer", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer samples, instances;
  auto spec = keep_last(writer_spec(transient_local), 2);
  spec.qos.datawriter.resource_limits.max_samples = 5;
  open(sender, samples, spec);
  for (std::uint64_t number = 0; number < 20; ++number)
    REQUIRE(samples.endpoint->publish(bytes_of(1), header_of(number % 2)).has_value());
  REQUIRE(samples.endpoint->publish(bytes_of(1), header_of(2)).has_value());
  CHECK(samples.endpoint->publish(bytes_of(1), header_of(2)).error().code() == Errc::out_of_resources);
  spec = keep_last(writer_spec(transient_local), 2);
  spec.qos.datawriter.resource_limits.max_instances = 3;
  open(sender, instances, spec);
  for (std::uint64_t number = 0; number < 20; ++number)
    REQUIRE(instances.endpoint->publish(bytes_of(1), header_of(number % 3)).has_value());
  CHECK(instances.endpoint->publish(bytes_of(1), header_of(9)).error().code() == Errc::out_of_resources);
  CHECK(instances.endpoint->loan(8).has_value());  // it may be for an instance that is known
}

TEST_CASE("topics: one writer and eight readers of 1 MiB samples: one copy in memory", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer writer;
  const bool has_log = GENERATE(false, true);
  open(sender, writer, has_log ? writer_spec() : keep_last(writer_spec(), 1));
  std::vector<std::unique_ptr<Peer>> receivers;
  std::vector<std::unique_ptr<Reader>> readers;
  for (int i = 0; i < 7; ++i) {  // and one in the writer's own application
    receivers.push_back(std::make_unique<Peer>(fixture));
    readers.push_back(std::make_unique<Reader>());
    open(*receivers.back(), *readers.back());
  }
  readers.push_back(std::make_unique<Reader>());
  open(sender, *readers.back());
  settle({&sender}, [&] {
    for (auto& receiver : receivers) REQUIRE(receiver->participant.poll().has_value());
    return writer.endpoint->matched_count() == 8 && readers.back()->endpoint->matched_count() == 1;
  });
  for (auto& receiver : receivers) REQUIRE(receiver->participant.poll().has_value());
  constexpr std::size_t size = 1 << 20;
  constexpr std::uint64_t count = 30;
  const auto mark = [](std::uint64_t number) { return static_cast<std::byte>(number * 7 + 1); };
  for (std::uint64_t number = 0; number < count; ++number) {
    auto loan = writer.endpoint->loan(size);
    REQUIRE(loan.has_value());
    std::ranges::fill(loan->data(), mark(number));
    REQUIRE(writer.endpoint->publish(std::move(*loan), header_of(1)).has_value());
    REQUIRE(sender.participant.poll().has_value());
    for (auto& receiver : receivers) REQUIRE(receiver->participant.poll().has_value());
    for (auto& reader : readers) {
      REQUIRE(reader->samples.size() == 1);
      auto sample = reader->take();
      REQUIRE(sample->in_place());
      REQUIRE(sample->data().size() == size);
      REQUIRE(sample->data().front() == mark(number));
      REQUIRE(sample->data().back() == mark(number));
    }
  }
  CHECK(counted(sender, log::Counter::sample_bytes_written) == count * size);
  std::uint64_t read = counted(sender, log::Counter::samples_read);
  std::uint64_t copied = counted(sender, log::Counter::sample_bytes_copied);
  for (auto& receiver : receivers) {
    read += counted(*receiver, log::Counter::samples_read);
    copied += counted(*receiver, log::Counter::sample_bytes_copied);
    CHECK(counted(*receiver, log::Counter::sample_bytes_written) == 0);
  }
  CHECK(read == count * 8);
  CHECK(copied == 0);
  CHECK(sender.transport->arena().pool_used() < 12 * size);
}

}  // namespace llamada::topics::conformance
