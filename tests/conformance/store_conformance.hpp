#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "llamada/store/store.hpp"
#include "test.hpp"

// What each store::Store must do. Every test calls this with stores of its own.

namespace llamada::store::conformance {

/// How a suite gets its store.
struct Maker {
  /// Opens the store; after the first time, what the last one has left, which is closed before.
  std::function<std::unique_ptr<Store>()> open;
  /// Whether a store opened again has what the one before had.
  bool survives = true;
  /// The limit of batches that open() sets.
  std::uint64_t batch_bytes_max = 0;
};

using Bytes = std::vector<std::byte>;
using Numbers = std::vector<std::uint64_t>;

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Bytes body_of(std::uint64_t number, std::size_t size) {
  Bytes body(size);
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<std::byte>(number * 31 + i * 7);
  return body;
}

/// Appends an item with a head and a body that follow from its number.
inline Status append(Store& store, StreamId stream, std::uint64_t number, std::size_t size = 100,
                     std::uint64_t group = 0) {
  const Bytes head = body_of(number + 1, number % 40), body = body_of(number, size);
  return store.append({.stream = stream,
                       .number = number,
                       .group = group,
                       .kind = static_cast<std::uint8_t>(number % kind_reserved),
                       .flags = static_cast<std::uint8_t>(number),
                       .time_ns = static_cast<std::int64_t>(number) - 5,
                       .head = head,
                       .body = body});
}

inline bool is_as_appended(const Item& item, StreamId stream) {
  return item.stream == stream && std::ranges::equal(item.head, body_of(item.number + 1, item.number % 40)) &&
         std::ranges::equal(item.body, body_of(item.number, item.body.size())) &&
         item.kind == item.number % kind_reserved && item.flags == static_cast<std::uint8_t>(item.number) &&
         item.time_ns == static_cast<std::int64_t>(item.number) - 5;
}

/// The numbers of a stream's items from `from` on, each of which is what was appended.
inline Numbers read(const Store& store, StreamId stream, std::uint64_t from = 0) {
  Numbers numbers;
  bool right = true;
  const auto status = store.read(stream, from, [&](const Item& item) {
    right = right && is_as_appended(item, stream);
    numbers.push_back(item.number);
    return true;
  });
  REQUIRE(status.has_value());
  REQUIRE(right);
  return numbers;
}

inline Numbers newest(const Store& store, StreamId stream, std::uint64_t group, std::size_t count) {
  Numbers numbers;
  bool right = true;
  const auto status = store.newest(stream, group, count, [&](const Item& item) {
    right = right && is_as_appended(item, stream) && item.group == group;
    numbers.push_back(item.number);
    return true;
  });
  REQUIRE(status.has_value());
  REQUIRE(right);
  return numbers;
}

inline Numbers from_to(std::uint64_t first, std::uint64_t last) {
  Numbers numbers;
  for (std::uint64_t number = first; number <= last; ++number) numbers.push_back(number);
  return numbers;
}

inline BatchNumber write(Store& store) {
  const auto written = store.write();
  REQUIRE(written.has_value());
  return *written;
}

inline void fill(Store& store, StreamId stream, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t number = first; number <= last; ++number) REQUIRE(append(store, stream, number));
}

/// Closes the store and opens it again.
inline void reopen(const Maker& maker, std::unique_ptr<Store>& store) {
  store.reset();
  store = maker.open();
  REQUIRE(store);
}

inline void check_batches(const Maker& maker, Store& store) {
  SECTION("an empty store has nothing, and an empty batch is none") {
    CHECK(store.streams().empty());
    CHECK(write(store) == 0);
    CHECK(store.sync(0).has_value());
    CHECK(store.figures().written == 0);
  }
  SECTION("a batch is seen when it is written, and not before") {
    const StreamId stream = *store.stream("a", {});
    fill(store, stream, 1, 3);
    CHECK(store.streams().empty());
    CHECK(read(store, stream).empty());
    CHECK(write(store) == 1);
    CHECK(read(store, stream) == from_to(1, 3));
    CHECK(write(store) == 1);
    fill(store, stream, 4, 4);
    CHECK(write(store) == 2);
    CHECK(store.sync(2).has_value());
    CHECK(store.figures().synced == 2);
  }
  SECTION("a batch that was not written cannot be synced") {
    CHECK(store.sync(1).error().code() == Errc::invalid_argument);
  }
  SECTION("a full batch asks to be written; an item longer than a batch fills one of its own") {
    const StreamId stream = *store.stream("a", {});
    write(store);
    std::uint64_t number = 1;
    Status status;
    while ((status = append(store, stream, number, 1000))) ++number;
    CHECK(status.error().code() == Errc::would_block);
    CHECK(number > 1);
    CHECK(number * 1000 <= 2 * maker.batch_bytes_max);
    write(store);
    CHECK(append(store, stream, number, maker.batch_bytes_max + 1).has_value());
    CHECK(append(store, stream, number + 1, 1).error().code() == Errc::would_block);
    write(store);
    CHECK(read(store, stream) == from_to(1, number));
  }
  SECTION("sync() in a second thread, while the first goes on") {
    const StreamId stream = *store.stream("a", {});
    std::atomic<BatchNumber> written{0};
    std::atomic<bool> over{false};
    bool synced = true;
    std::thread syncing([&] {
      while (!over.load()) synced = store.sync(written.load()).has_value() && synced;
    });
    for (std::uint64_t number = 1; number <= 300; ++number) {
      fill(store, stream, number, number);
      written.store(write(store));
      if (number % 50 == 0) CHECK(read(store, stream).back() == number);
      if (number % 70 == 0) CHECK(store.drop_below(stream, number - 30).has_value());
    }
    over.store(true);
    syncing.join();
    CHECK(synced);
    CHECK(read(store, stream) == from_to(250, 300));
  }
}

inline void check_streams(Store& store) {
  SECTION("streams are found by name; the first description stays") {
    const StreamId one = *store.stream("one", bytes_of("first"));
    const StreamId other = *store.stream("other", {});
    CHECK(one != 0);
    CHECK(one != other);
    CHECK(*store.stream("one", bytes_of("second")) == one);
    write(store);
    CHECK(*store.stream("one", {}) == one);
    fill(store, one, 7, 9);
    write(store);
    const auto streams = store.streams();
    REQUIRE(streams.size() == 2);
    CHECK(streams[0].name == "one");
    CHECK(streams[0].description == bytes_of("first"));
    CHECK((streams[0].first == 7 && streams[0].last == 9 && streams[0].items == 3));
    CHECK(streams[0].bytes == 300 + 7 + 8 + 9);
    CHECK((streams[1].first == 0 && streams[1].last == 0 && streams[1].items == 0));
  }
  SECTION("names and descriptions of every length, and any bytes") {
    const std::string name(name_bytes_max, '\n');
    const Bytes description = body_of(3, description_bytes_max);
    REQUIRE(store.stream(name, description).has_value());
    write(store);
    CHECK(store.streams()[0].name == name);
    CHECK(store.streams()[0].description == description);
    CHECK(store.stream("", {}).error().code() == Errc::invalid_argument);
    CHECK(store.stream(name + "a", {}).error().code() == Errc::invalid_argument);
    CHECK(store.stream("a", body_of(3, description_bytes_max + 1)).error().code() == Errc::invalid_argument);
  }
  SECTION("streams do not mix") {
    const StreamId one = *store.stream("one", {}), other = *store.stream("other", {});
    for (std::uint64_t number = 1; number <= 10; ++number)
      REQUIRE(append(store, number % 3 == 0 ? one : other, number));
    write(store);
    CHECK(read(store, one) == Numbers{3, 6, 9});
    CHECK(read(store, other) == Numbers{1, 2, 4, 5, 7, 8, 10});
  }
  SECTION("what is not legal is refused, and changes nothing") {
    const StreamId stream = *store.stream("a", {});
    fill(store, stream, 5, 5);
    for (const std::uint64_t number : {0, 4, 5})
      CHECK(append(store, stream, number).error().code() == Errc::invalid_argument);
    CHECK(store.append({.stream = stream, .number = 6, .kind = kind_reserved}).error().code() ==
          Errc::invalid_argument);
    const Bytes head(head_bytes_max + 1);
    CHECK(store.append({.stream = stream, .number = 6, .head = head}).error().code() ==
          Errc::invalid_argument);
    for (const StreamId none : {StreamId{0}, stream + 1}) {
      CHECK(append(store, none, 6).error().code() == Errc::not_found);
      CHECK(store.drop(none, 5).error().code() == Errc::not_found);
      CHECK(store.drop_below(none, 5).error().code() == Errc::not_found);
      CHECK(store.end(none).error().code() == Errc::not_found);
      CHECK(store.read(none, 0, [](const Item&) { return true; }).error().code() == Errc::not_found);
      CHECK(store.newest(none, 1, 1, [](const Item&) { return true; }).error().code() == Errc::not_found);
    }
    write(store);
    CHECK(read(store, stream) == Numbers{5});
  }
}

inline void check_reading(Store& store) {
  const StreamId stream = *store.stream("a", {});
  SECTION("from any number on, and no further than asked") {
    for (std::uint64_t number = 10; number <= 100; number += 10) {
      REQUIRE(append(store, stream, number));
      if (number % 30 == 0) write(store);
    }
    write(store);
    CHECK(read(store, stream, 95) == Numbers{100});
    CHECK(read(store, stream, 90) == Numbers{90, 100});
    CHECK(read(store, stream, 101).empty());
    int calls = 0;
    CHECK(store.read(stream, 0, [&](const Item&) { return ++calls < 4; }).has_value());
    CHECK(calls == 4);
  }
  SECTION("items without a head, without a body, and with the longest head") {
    const Bytes head = body_of(2, head_bytes_max);
    REQUIRE(store.append({.stream = stream, .number = 1}));
    write(store);
    REQUIRE(store.append({.stream = stream, .number = 2, .head = head}));
    write(store);
    std::vector<Bytes> heads;
    CHECK(store.read(stream, 0, [&](const Item& item) {
      CHECK(item.body.empty());
      heads.emplace_back(item.head.begin(), item.head.end());
      return true;
    }));
    CHECK(heads == std::vector<Bytes>{{}, head});
  }
  SECTION("the newest of each group, oldest first") {
    for (std::uint64_t number = 1; number <= 30; ++number) {
      REQUIRE(append(store, stream, number, 10, number % 3 + 1));
      if (number % 4 == 0) write(store);
    }
    write(store);
    CHECK(newest(store, stream, 1, 2) == Numbers{27, 30});
    CHECK(newest(store, stream, 2, 1) == Numbers{28});
    CHECK(newest(store, stream, 3, 100).size() == 10);
    CHECK(newest(store, stream, 3, 0).empty());
    CHECK(newest(store, stream, 4, 1).empty());
    REQUIRE(store.drop(stream, 30));
    REQUIRE(store.drop_below(stream, 28));
    write(store);
    CHECK(newest(store, stream, 1, 2).empty());
    CHECK(newest(store, stream, 2, 2) == Numbers{28});
  }
}

inline void check_dropping(const Maker& maker, std::unique_ptr<Store>& store) {
  const StreamId stream = *store->stream("a", {});
  fill(*store, stream, 1, 20);
  SECTION("below a number, single ones, and what is not there; all take effect with the batch") {
    write(*store);
    CHECK(store->drop_below(stream, 5));
    CHECK(store->drop(stream, 7));
    CHECK(store->drop(stream, 20));
    CHECK(store->drop(stream, 50));
    CHECK(store->drop(stream, 1));
    CHECK(read(*store, stream) == from_to(1, 20));
    write(*store);
    Numbers left = from_to(8, 19);
    left.insert(left.begin(), {5, 6});
    CHECK(read(*store, stream) == left);
    CHECK(store->streams()[0].last == 19);
    if (maker.survives) reopen(maker, store);
    CHECK(store->streams()[0].used == 20);
    CHECK(append(*store, stream, 20).error().code() == Errc::invalid_argument);
    CHECK(append(*store, stream, 21));
    left.push_back(21);
    CHECK(store->sync(write(*store)));
    if (maker.survives) {
      for (int again = 0; again < 3; ++again) {
        reopen(maker, store);
        CHECK(read(*store, stream) == left);
      }
    }
  }
  SECTION("in the batch that appends") {
    CHECK(store->drop_below(stream, 5));
    CHECK(store->drop(stream, 7));
    fill(*store, stream, 21, 22);
    write(*store);
    Numbers left = from_to(8, 22);
    left.insert(left.begin(), {5, 6});
    CHECK(read(*store, stream) == left);
  }
  SECTION("a floor above all items") {
    CHECK(store->drop_below(stream, 1000));
    write(*store);
    CHECK(read(*store, stream).empty());
    CHECK(store->drop_below(stream, 5));
    CHECK(append(*store, stream, 21).error().code() == Errc::invalid_argument);
    CHECK(append(*store, stream, 999).error().code() == Errc::invalid_argument);
    CHECK(append(*store, stream, 1000));
    write(*store);
    CHECK(read(*store, stream) == Numbers{1000});
  }
  SECTION("an ended stream is gone; its name may be used again, its number is not") {
    write(*store);
    CHECK(store->end(stream));
    CHECK(append(*store, stream, 21).error().code() == Errc::not_found);
    const StreamId again = *store->stream("a", {});
    CHECK(again != stream);
    fill(*store, again, 1, 2);
    CHECK(store->sync(write(*store)));
    CHECK(store->streams().size() == 1);
    CHECK(read(*store, again) == from_to(1, 2));
    CHECK(store->read(stream, 0, [](const Item&) { return true; }).error().code() == Errc::not_found);
    if (maker.survives) {
      reopen(maker, store);
      CHECK(store->streams().size() == 1);
      CHECK(read(*store, *store->stream("a", {})) == from_to(1, 2));
    }
  }
  SECTION("a stream that ends in the batch that declares it") {
    CHECK(store->end(stream));
    write(*store);
    CHECK(store->streams().empty());
  }
}

inline void check_starts(const Maker& maker, std::unique_ptr<Store>& store) {
  if (!maker.survives) return;
  SECTION("what was written is there after a start, in order, and goes on") {
    StreamId one = *store->stream("one", bytes_of("d")), other = *store->stream("other", {});
    for (std::uint64_t start = 0; start < 6; ++start) {
      fill(*store, one, start * 10 + 1, start * 10 + 10);
      REQUIRE(append(*store, other, start + 1, 5000, start % 2 + 1));
      const BatchNumber batch = write(*store);
      if (start % 2 == 0) CHECK(store->sync(batch));
      reopen(maker, store);
      CHECK(store->figures().written == batch);
      CHECK(*store->stream("one", {}) == one);
      CHECK(read(*store, one) == from_to(1, start * 10 + 10));
      CHECK(newest(*store, other, start % 2 + 1, 1) == Numbers{start + 1});
      CHECK(append(*store, one, start * 10 + 10).error().code() == Errc::invalid_argument);
    }
    CHECK(store->streams()[0].description == bytes_of("d"));
  }
  SECTION("what was not written is not") {
    const StreamId stream = *store->stream("a", {});
    fill(*store, stream, 1, 3);
    write(*store);
    fill(*store, stream, 4, 5);
    REQUIRE(store->stream("b", {}).has_value());
    reopen(maker, store);
    CHECK(read(*store, stream) == from_to(1, 3));
    CHECK(store->streams().size() == 1);
  }
}

inline void check_store(const Maker& maker) {
  std::unique_ptr<Store> store = maker.open();
  REQUIRE(store);
  SECTION("batches") { check_batches(maker, *store); }
  SECTION("streams") { check_streams(*store); }
  SECTION("reading") { check_reading(*store); }
  SECTION("dropping") { check_dropping(maker, store); }
  SECTION("starts") { check_starts(maker, store); }
}

}  // namespace llamada::store::conformance
