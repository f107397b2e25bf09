// A process with one writer or one reader, for tests of tools: topic_peer SOCKET NAME writer|reader TOPIC
// [OPTION ...]. Says "ready" once its endpoint is there, and ends when its standard input does. A writer
// publishes "sample N" again and again, or with the option "typed" Readings. Options: type=T, keyed, typed,
// typed_other, disposes (each fourth change disposes of an instance), limit=N (of changes), partition=P,
// best_effort, transient_local, deadline_ms=N, user_data=TEXT.

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "llamada/base/clock.hpp"
#include "llamada/llamanet/transport.hpp"
#include "llamada/topics/participant.hpp"
#include "llamada/types/typed_support.hpp"

using namespace llamada;
using namespace std::chrono_literals;

namespace peer {

enum class Colour : std::uint8_t { red, green };
LLAMADA_ENUM(Colour, red, green);

struct Reading {
  std::int32_t sensor = 0;
  double value = 0;
  Colour colour = Colour::red;
  std::string text;
  std::vector<std::int16_t> list;
};
LLAMADA_TYPE(Reading, LLAMADA_KEY(sensor), value, colour, text, list);

}  // namespace peer

namespace {

[[noreturn]] void give_up(const std::string& text) {
  std::fprintf(stderr, "topic_peer: %s\n", text.c_str());
  std::exit(1);
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) give_up(result.error().text());
  return std::move(*result);
}

void require(const Status& status) {
  if (!status) give_up(status.error().text());
}

struct WriterSilence final : topics::WriterEvents {
  void on_matched(const topics::EndpointInfo&) override {}
  void on_qos_changed(const topics::EndpointInfo&) override {}
  void on_unmatched(const topics::EndpointId&, bool) override {}
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_liveliness_lost() override {}
};

struct ReaderSilence final : topics::ReaderEvents {
  bool on_sample(const topics::EndpointId&, topics::Sample&& sample) override {
    const topics::Sample taken = std::move(sample);
    return true;
  }
  void on_matched(const topics::EndpointInfo&) override {
    std::puts("met");
    std::fflush(stdout);
  }
  void on_qos_changed(const topics::EndpointInfo&) override {}
  void on_unmatched(const topics::EndpointId&, bool) override {}
  void on_liveliness_changed(const topics::EndpointId&, bool alive) override {
    std::puts(alive ? "alive" : "not alive");
    std::fflush(stdout);
  }
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_samples_lost(const topics::EndpointId&, std::uint64_t) override {}
};

struct Policies {
  qos::DataWriterQos writer;
  qos::DataReaderQos reader;
  qos::PublisherQos publisher;
  qos::TopicData topic_data;
  std::string type = "Text";
  bool keyed = false;
  bool typed = false;
  bool disposes = false;
  std::uint64_t limit = UINT64_MAX;
  std::string description;
};

/// What stands behind "name=" in the option, if it is that one.
std::optional<std::string> after(std::string_view option, std::string_view name) {
  if (!option.starts_with(name)) return std::nullopt;
  return std::string(option.substr(name.size()));
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

template <typename Qos>
void apply(std::string_view option, Qos& qos) {
  if (option == "best_effort") qos.reliability.kind = qos::ReliabilityKind::best_effort;
  if (option == "transient_local") qos.durability.kind = qos::DurabilityKind::transient_local;
  if (option == "keep_last") qos.history.kind = qos::HistoryKind::keep_last;
  if (auto number = after(option, "deadline_ms="))
    qos.deadline.period = std::chrono::milliseconds(std::stoi(*number));
  if (option == "manual_by_topic") qos.liveliness.kind = qos::LivelinessKind::manual_by_topic;
  if (auto number = after(option, "lease_ms="))
    qos.liveliness.lease_duration = std::chrono::milliseconds(std::stoi(*number));
  if (auto number = after(option, "max_samples=")) qos.resource_limits.max_samples = std::stoi(*number);
  if (auto text = after(option, "user_data=")) qos.user_data.value = bytes_of(*text);
}

Policies policies_of(int argc, char** argv) {
  Policies policies;
  policies.writer.history.kind = qos::HistoryKind::keep_all;
  policies.reader.history.kind = qos::HistoryKind::keep_all;
  policies.reader.reliability.kind = qos::ReliabilityKind::reliable;
  for (int i = 5; i < argc; ++i) {
    const std::string_view option = argv[i];
    apply(option, policies.writer);
    apply(option, policies.reader);
    if (auto number = after(option, "send_window=")) policies.writer.send_window = {1, std::stoi(*number)};
    if (auto name = after(option, "partition=")) policies.publisher.partition.name = {*name};
    if (auto text = after(option, "group_data=")) policies.publisher.group_data.value = bytes_of(*text);
    if (auto text = after(option, "topic_data=")) policies.topic_data.value = bytes_of(*text);
    if (option == "keyed") policies.keyed = true;
    if (option == "disposes") policies.disposes = true;
    if (auto number = after(option, "limit=")) policies.limit = std::stoull(*number);
    if (option.starts_with("typed")) {
      const auto& type = types::type_support<peer::Reading>();
      policies.typed = policies.keyed = true;
      policies.type = type.name();
      policies.description = type.descriptor();
      // As a program would have it that calls another type by the same name.
      if (option == "typed_other")
        policies.description.replace(policies.description.find("double"), 6, "float");
    }
    if (auto name = after(option, "type=")) policies.type = *name;
  }
  return policies;
}

bool input_has_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  return ::poll(&input, 1, 0) > 0 && ::read(STDIN_FILENO, &byte, 1) <= 0;
}

std::vector<std::byte> next_reading(std::uint64_t number) {
  const auto count = static_cast<std::int32_t>(number);
  return value_of(types::serialize(peer::Reading{
      count % 3, count * 0.5, peer::Colour::green, fmt::format("say \"{}\", please", count), {1, 2, 3}}));
}

void publish_next(topics::WriterEndpoint& writer, const Clock& clock, const Policies& policies) {
  const std::uint64_t number = writer.published() + 1;
  if (number > policies.limit) return;
  topics::SampleHeader header;
  header.source_timestamp_ns = clock.realtime().count();
  std::vector<std::byte> data =
      policies.typed ? next_reading(number) : bytes_of(fmt::format("sample {}", number));
  if (policies.typed) {
    const auto& type = types::type_support<peer::Reading>();
    auto key = value_of(type.key_of(data));
    header.instance = type.hash_of(key);
    if (policies.disposes && number % 4 == 0) {
      header.kind = topics::ChangeKind::disposed;
      data = std::move(key);
    }
  }
  auto published = writer.publish(data, header);
  if (!published && published.error().code() != Errc::would_block) give_up(published.error().text());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) give_up("SOCKET NAME writer|reader TOPIC [OPTION ...]");
  llamanet::ApplicationOptions options;
  options.socket_name = argv[1];
  options.name = argv[2];
  auto transport = value_of(llamanet::LlamanetTransport::open(options));
  const SystemClock clock;
  topics::Participant participant(*transport, clock, {0, argv[2], {}});
  const Policies policies = policies_of(argc, argv);
  const bool writes = std::string_view(argv[3]) == "writer";
  topics::EndpointSpec spec;
  spec.topic = argv[4];
  spec.type = policies.type;
  spec.keyed = policies.keyed;
  spec.type_description = policies.description;
  if (policies.typed) spec.type_hash = types::hash64(policies.description);
  const qos::SubscriberQos subscriber{policies.publisher.presentation, policies.publisher.partition,
                                      policies.publisher.group_data, policies.publisher.entity_factory};
  spec.qos = writes ? qos::endpoint_qos(policies.writer, policies.publisher, policies.topic_data)
                    : qos::endpoint_qos(policies.reader, subscriber, policies.topic_data);
  WriterSilence writer_silence;
  ReaderSilence reader_silence;
  std::unique_ptr<topics::WriterEndpoint> writer;
  std::unique_ptr<topics::ReaderEndpoint> reader;
  if (writes) {
    writer = value_of(participant.create_writer(spec, writer_silence));
  } else {
    reader = value_of(participant.create_reader(spec, reader_silence));
  }
  require(participant.poll());
  std::puts("ready");
  std::fflush(stdout);
  while (!input_has_ended()) {
    require(participant.poll());
    if (writer) publish_next(*writer, clock, policies);
    require(participant.wait([] { return false; }, 2ms));
  }
  return 0;
}
