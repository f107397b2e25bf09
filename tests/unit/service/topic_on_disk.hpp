#pragma once

// A topic in a store on a disk, which is opened again and again.

#include <fmt/core.h>

#include <memory>

#include "llamada/store/segment_store.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"
#include "topic_keeper.hpp"

namespace llamada::service {
namespace {

using topics::ChangeKind;
using topics::Guid;
using namespace std::chrono_literals;

class SetClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic() const override { return now; }
  std::chrono::nanoseconds realtime() const override { return now; }
  std::chrono::nanoseconds now = std::chrono::hours(1);
};

qos::EndpointQos offer(const qos::DurabilityService& policy) {
  qos::EndpointQos qos;
  qos.writer = true;
  qos.datawriter.durability.kind = qos::DurabilityKind::persistent;
  qos.datawriter.durability_service = policy;
  return qos;
}

constexpr Guid one{7, 1}, other{7, 2};

/// A keeper on a store in a folder.
struct OnDisk {
  test::TemporaryFolder folder;
  SetClock clock;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<TopicKeeper> keeper;
  std::vector<std::string> said;

  OnDisk() { open(); }
  void open() {
    keeper.reset();
    store.reset();
    auto opened = store::open_segment_store(folder / "store", {.batch_bytes_max = 64 << 10});
    REQUIRE(opened);
    store = std::move(*opened);
    auto made = TopicKeeper::open(*store, {{0, "readings", "Reading", 5, true}, "type"}, clock,
                                  [this](const std::string& sentence) { said.push_back(sentence); });
    REQUIRE(made);
    keeper = std::move(*made);
  }
  void came(const Guid& writer, const qos::EndpointQos& qos) {
    keeper->writer_came(writer, writer.participant, qos);
  }
  bool take(const Guid& writer, std::uint64_t number, std::uint64_t instance = 1,
            ChangeKind kind = ChangeKind::alive) {
    topics::SampleHeader header;
    header.sequence_number = number;
    header.instance = instance;
    header.kind = kind;
    header.source_timestamp_ns = clock.now.count();
    const std::vector<std::byte> data(100, std::byte(number));
    return keeper->take(writer, header, data, keeper->is_heard(writer, instance));
  }
  void write() {
    REQUIRE(keeper->complete_batch());
    REQUIRE(store->write());
  }
  /// "7.1:3 7.1:4", a disposal with a D.
  std::string text() {
    std::string text;
    const auto read = keeper->read(1, [&](std::uint64_t, const KeptSample& sample, const qos::EndpointQos&,
                                          std::span<const std::byte> data) {
      if (data.size() != 100 || data[0] != std::byte(sample.origin.number)) text += "damaged ";
      text += fmt::format("{}{}.{}:{}{}", text.empty() ? "" : " ", sample.origin.writer.participant,
                          sample.origin.writer.endpoint, sample.origin.number,
                          sample.kind == ChangeKind::disposed ? "D" : "");
      return true;
    });
    CHECK(read);
    return text;
  }
};

const qos::DurabilityService all{.history_kind = qos::HistoryKind::keep_all};
const qos::DurabilityService newest{.history_depth = 1};

qos::EndpointQos exclusive(std::int32_t strength, const qos::DurabilityService& policy = all) {
  auto qos = offer(policy);
  qos.datawriter.ownership.kind = qos::OwnershipKind::exclusive;
  qos.datawriter.ownership_strength.value = strength;
  return qos;
}

}  // namespace
}  // namespace llamada::service
