#include "persist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "fail.hpp"
#include "json_text.hpp"
#include "llamada/service/kept_topic.hpp"
#include "llamada/store_sqlite/any_store.hpp"
#include "sample_printer.hpp"

namespace llamada::tools {
namespace {

using nlohmann::ordered_json;
using service::KeptSample;
using service::KeptTopic;
using service::KeptWriter;

constexpr int no_such_topic = 2;

/// A topic's stream.
struct Kept {
  store::StreamInfo stream;
  KeptTopic topic;
};

/// The items of a topic, counted.
struct Figures {
  std::uint64_t samples = 0, disposals = 0, writers = 0, damaged = 0;
  qos::DurabilityKind durability = qos::DurabilityKind::transient;
  qos::DurabilityService policy;
};

Result<std::unique_ptr<store::Store>> open(const std::string& directory, bool to_read,
                                           std::uint64_t& fault_count) {
  store::AnyStoreOptions options;
  options.read_only = to_read;
  options.say = [&fault_count](std::string_view sentence) {
    ++fault_count;
    fmt::print(stderr, "llamada: {}\n", sentence);
  };
  return store::open_store(directory, options);
}

/// The topics of a store, with those of `request` only.
Result<std::vector<Kept>> topics_of(const store::Store& store, const PersistRequest& request) {
  std::vector<Kept> kept;
  for (const store::StreamInfo& stream : store.streams()) {
    if (stream.name == service::aligned_stream) continue;
    auto topic = service::decode_topic(stream.description);
    if (!topic) return tl::unexpected<Error>(topic.error().within(fmt::format("stream '{}'", stream.name)));
    if (!request.topic.empty() && topic->key.topic != request.topic) continue;
    if (request.domain && topic->key.domain != *request.domain) continue;
    kept.push_back({stream, std::move(*topic)});
  }
  return kept;
}

Result<Figures> figures_of(const store::Store& store, const Kept& kept) {
  Figures figures;
  std::set<topics::Guid> writers;
  Status fine;
  const auto look = [&](const store::Item& item) {
    if (item.kind == service::item_writer) {
      auto writer = service::decode_writer(item);
      if (!writer) return fine = propagate(writer), false;
      writers.insert(writer->guid);
      figures.durability = std::max(figures.durability, writer->qos.datawriter.durability.kind);
      figures.policy = writer->qos.datawriter.durability_service;
      return true;
    }
    if (item.kind != service::item_sample) return true;
    auto sample = service::decode_sample(item);
    if (!sample) return fine = propagate(sample), false;
    ++(sample->kind == topics::ChangeKind::alive ? figures.samples : figures.disposals);
    return true;
  };
  auto read = store.read(kept.stream.id, 1, look, [&](std::uint64_t) { ++figures.damaged; });
  if (!read) return propagate(read);
  if (!fine) return propagate(fine);
  figures.writers = writers.size();
  return figures;
}

ordered_json to_json(const Kept& kept, const Figures& figures) {
  return {{"topic", kept.topic.key.topic},
          {"type", kept.topic.key.type},
          {"domain", kept.topic.key.domain},
          {"keyed", kept.topic.key.keyed},
          {"durability", qos::to_string(figures.durability)},
          {"durability_service", to_string(figures.policy)},
          {"samples", figures.samples},
          {"disposals", figures.disposals},
          {"writers", figures.writers},
          {"bytes", kept.stream.bytes},
          {"damaged", figures.damaged}};
}

void print(const Kept& kept, const Figures& figures) {
  fmt::print("{}  ({}, domain {})\n", kept.topic.key.topic, kept.topic.key.type, kept.topic.key.domain);
  fmt::print("    {}; {}\n", qos::to_string(figures.durability), to_string(figures.policy));
  fmt::print("    samples {}, disposals {}, writers {}, bytes {}", figures.samples, figures.disposals,
             figures.writers, kept.stream.bytes);
  if (figures.damaged > 0) fmt::print("; damaged {}", figures.damaged);
  fmt::print("\n");
}

int refuse_topic(const PersistRequest& request) {
  return refuse(no_such_topic,
                fmt::format("{} has no topic '{}'; 'llamada persist ls {}' lists what there is",
                            request.store, request.topic, request.store));
}

/// Prints samples with the printer of `llamada spy`.
class Shower {
 public:
  explicit Shower(const PersistRequest& request) : printer_(options_) {
    options_.topic = request.topic;
    options_.as_json = request.as_json;
  }
  void show(const KeptTopic& topic, const store::Item& item, const KeptSample& sample) {
    topics::EndpointInfo writer;
    writer.id = {sample.origin.writer.participant, static_cast<std::uint32_t>(sample.origin.writer.endpoint)};
    writer.type = topic.key.type;
    writer.type_description = topic.type_description;
    printer_.add_writer(writer);
    topics::SampleHeader header;
    header.sequence_number = sample.origin.number;
    header.source_timestamp_ns = sample.source_timestamp_ns;
    header.instance = sample.instance;
    header.kind = sample.kind;
    printer_.print(writer.id, "the store",
                   topics::Sample::owning(header, {item.body.begin(), item.body.end()}));
  }

 private:
  SpyOptions options_;
  SamplePrinter printer_;
};

Status show(const store::Store& store, const Kept& kept, const PersistRequest& request) {
  // The numbers first, so that the newest can be told without holding all samples.
  std::deque<std::uint64_t> numbers;
  const auto note = [&](const store::Item& item) {
    if (item.kind != service::item_sample) return true;
    numbers.push_back(item.number);
    if (request.count != 0 && numbers.size() > request.count) numbers.pop_front();
    return true;
  };
  if (auto read = store.read(kept.stream.id, 1, note, [](std::uint64_t) {}); !read) return read;
  if (numbers.empty()) return {};
  Shower shower(request);
  Status fine;
  const auto each = [&](const store::Item& item) {
    if (item.kind != service::item_sample) return true;
    auto sample = service::decode_sample(item);
    if (!sample) return fine = propagate(sample), false;
    shower.show(kept.topic, item, *sample);
    return true;
  };
  const auto read = store.read(kept.stream.id, numbers.front(), each, [&](std::uint64_t number) {
    fmt::print(stderr, "llamada: item {} of topic '{}' is damaged and is left out\n", number,
               kept.topic.key.topic);
  });
  return read ? fine : read;
}

/// A store that was opened, and its topics; the exit code if that failed.
template <typename Action>
int with_topics(const PersistRequest& request, bool to_read, const Action& action) {
  std::uint64_t fault_count = 0;
  auto store = open(request.store, to_read, fault_count);
  if (!store) return fail(store.error());
  auto kept = topics_of(**store, request);
  if (!kept) return fail(kept.error());
  return action(**store, *kept, fault_count);
}

}  // namespace

int list_kept_topics(const PersistRequest& request) {
  return with_topics(request, true, [&](store::Store& store, const std::vector<Kept>& kept, std::uint64_t) {
    ordered_json list = ordered_json::array();
    for (const Kept& each : kept) {
      auto figures = figures_of(store, each);
      if (!figures) return fail(figures.error());
      if (request.as_json)
        list.push_back(to_json(each, *figures));
      else
        print(each, *figures);
    }
    if (request.as_json)
      fmt::print("{}\n", dump({{"store", request.store}, {"topics", std::move(list)}}, 2));
    else if (kept.empty())
      fmt::print("No topic is kept in {}.\n", request.store);
    return 0;
  });
}

int show_kept_topic(const PersistRequest& request) {
  return with_topics(request, true, [&](store::Store& store, const std::vector<Kept>& kept, std::uint64_t) {
    if (kept.empty()) return refuse_topic(request);
    for (const Kept& each : kept)
      if (auto shown = show(store, each, request); !shown) return fail(shown.error());
    return 0;
  });
}

int check_kept_topics(const PersistRequest& request) {
  return with_topics(
      request, true, [&](store::Store& store, const std::vector<Kept>& kept, std::uint64_t& fault_count) {
        std::uint64_t sample_count = 0, damaged_count = 0;
        for (const Kept& each : kept) {
          auto figures = figures_of(store, each);
          if (!figures) return fail(figures.error());
          sample_count += figures->samples + figures->disposals;
          damaged_count += figures->damaged;
          if (figures->damaged > 0)
            fmt::print(stderr, "llamada: topic '{}': {} items are damaged; late readers do not get them\n",
                       each.topic.key.topic, figures->damaged);
        }
        const bool is_whole = damaged_count == 0 && fault_count == 0;
        fmt::print("{}: {} samples of {} topics, {}\n", request.store, sample_count, kept.size(),
                   is_whole ? "all whole" : "not all whole");
        return is_whole ? 0 : 1;
      });
}

int drop_kept_topic(const PersistRequest& request) {
  return with_topics(request, false, [&](store::Store& store, const std::vector<Kept>& kept, std::uint64_t) {
    if (kept.empty()) return refuse_topic(request);
    for (const Kept& each : kept)
      if (auto ended = store.end(each.stream.id); !ended) return fail(ended.error());
    auto batch = store.write();
    if (!batch) return fail(batch.error());
    if (auto synced = store.sync(*batch); !synced) return fail(synced.error());
    fmt::print("{}: topic '{}' is no longer kept\n", request.store, request.topic);
    return 0;
  });
}

}  // namespace llamada::tools
