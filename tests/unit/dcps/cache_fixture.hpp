#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "reader_cache.hpp"

namespace llamada::dcps::test {

using namespace std::chrono_literals;

inline std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline topics::EndpointId writer_id(std::uint32_t number) { return {7, number}; }

/// A cache, writers that number their samples, and a clock that the test moves.
class CacheFixture {
 public:
  explicit CacheFixture(ReaderCacheOptions options = reliable_keep_all()) : cache(std::move(options)) {
    for (std::uint32_t number = 1; number <= 3; ++number) cache.add_writer({.id = writer_id(number)});
  }

  static ReaderCacheOptions reliable_keep_all() {
    ReaderCacheOptions options;
    options.qos.reliability.kind = qos::ReliabilityKind::reliable;
    options.qos.history.kind = qos::HistoryKind::keep_all;
    options.key_of = [](std::span<const std::byte> data) {
      return std::vector<std::byte>(data.begin(), data.end());
    };
    return options;
  }
  static ReaderCacheOptions keep_last(std::int32_t depth) {
    ReaderCacheOptions options = reliable_keep_all();
    options.qos.history = {qos::HistoryKind::keep_last, depth};
    return options;
  }

  struct Sent {
    std::uint32_t writer = 1;
    std::uint64_t instance = 1;
    std::string text;
    topics::ChangeKind kind = topics::ChangeKind::alive;
    std::uint32_t set = 0;
    std::uint64_t group_sequence = 0;
    std::chrono::nanoseconds source_timestamp = never;  // never: now
  };

  bool send(const Sent& sent) {
    topics::SampleHeader header;
    header.sequence_number = ++sequence[sent.writer];
    header.source_timestamp_ns =
        (sent.source_timestamp == never ? now.realtime : sent.source_timestamp).count();
    header.instance = sent.instance;
    header.kind = sent.kind;
    header.coherent_set = sent.set;
    header.group_sequence = sent.group_sequence;
    auto data = sent.kind == topics::ChangeKind::coherent_end
                    ? coherent_end_payload(static_cast<std::uint32_t>(std::stoul(sent.text)))
                    : bytes_of(sent.text);
    const bool accepted =
        cache.on_sample(writer_id(sent.writer), topics::Sample::owning(header, std::move(data)), now);
    if (!accepted) --sequence[sent.writer];
    return accepted;
  }
  bool write(std::string text, std::uint64_t instance = 1, std::uint32_t writer = 1) {
    return send({.writer = writer, .instance = instance, .text = std::move(text)});
  }
  void change(topics::ChangeKind kind, std::uint64_t instance = 1, std::uint32_t writer = 1) {
    send({.writer = writer, .instance = instance, .text = "key", .kind = kind});
  }

  void pass(std::chrono::nanoseconds span) {
    now.monotonic += span;
    now.realtime += span;
    cache.advance(now);
  }

  /// "a b -": the texts of what is read or taken, "-" for a sample without data. Gives the loans back.
  std::string texts(bool take, ReadSelector selector = {}) {
    std::string all;
    infos.clear();
    for (auto& each : cache.select(selector, take, now)) {
      if (!all.empty()) all += ' ';
      all += each.info.valid_data ? text_of(each.sample->sample.data()) : "-";
      infos.push_back(each.info);
      cache.give_back(each.sample);
    }
    return all;
  }
  std::string read(ReadSelector selector = {}) { return texts(false, std::move(selector)); }
  std::string take(ReadSelector selector = {}) { return texts(true, std::move(selector)); }

  ReaderCache cache;
  Now now{1h, 100h};
  std::map<std::uint32_t, std::uint64_t> sequence;
  std::vector<SampleInfo> infos;  // of the last read or take
};

}  // namespace llamada::dcps::test
