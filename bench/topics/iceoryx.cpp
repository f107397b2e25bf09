#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <optional>
#include <string>

#include "measure.hpp"

// iceoryx, with a publisher that waits for its subscriber, so that nothing is lost; iox-roudi must be
// running.

namespace {

using namespace llamada;

/// RouDi, as it comes, has 30 chunks of a MiB and 200 of 128 KiB.
std::uint64_t queue_capacity(std::size_t size) { return size > 100'000 ? 16 : size > 10'000 ? 64 : 256; }

struct Runtime {
  Runtime() {
    const std::string name = "llamada-bench-" + std::to_string(getpid());
    iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name));
  }
};

iox::popo::PublisherOptions publisher_options() {
  iox::popo::PublisherOptions options;
  options.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
  return options;
}

iox::popo::SubscriberOptions subscriber_options(std::size_t size) {
  iox::popo::SubscriberOptions options;
  options.queueCapacity = queue_capacity(size);
  options.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
  return options;
}

class Node {
 public:
  Node(int number, int, bool sleeps) : first_(number == 0), sleeps_(sleeps) {}

  void prepare(std::size_t size) {
    wait_set_.reset();
    const iox::capro::IdString_t instance(iox::cxx::TruncateToCapacity,
                                          bench::name_of_run() + "-" + std::to_string(size));
    publisher_.emplace(iox::capro::ServiceDescription{"llamada", instance, first_ ? "ping" : "pong"},
                       publisher_options());
    subscriber_.emplace(iox::capro::ServiceDescription{"llamada", instance, first_ ? "pong" : "ping"},
                        subscriber_options(size));
    if (sleeps_)
      wait_set_.emplace().attachState(*subscriber_, iox::popo::SubscriberState::HAS_DATA).or_else([](auto&) {
        bench::give_up("the WaitSet takes no subscriber");
      });
    while (!publisher_->hasSubscribers() ||
           subscriber_->getSubscriptionState() != iox::SubscribeState::SUBSCRIBED)
      usleep(1000);
    usleep(300'000);  // all the others, too: iceoryx looks for them each 100 ms
  }

  void send(const std::byte* data, std::size_t size) {
    for (bool sent = false; !sent;)
      publisher_->loan(static_cast<std::uint32_t>(size)).and_then([&](void*& payload) {
        std::memcpy(payload, data, size);
        publisher_->publish(payload);
        sent = true;
      });
  }

  void send_in_place(std::size_t size) {
    for (bool sent = false; !sent;)
      publisher_->loan(static_cast<std::uint32_t>(size)).and_then([&](void*& payload) {
        auto* bytes = static_cast<std::byte*>(payload);
        bytes[0] = bytes[size - 1] = std::byte{7};
        publisher_->publish(payload);
        sent = true;
      });
  }

  void receive(std::byte* ends) {
    const auto* bytes = next();
    ends[0] = bytes[0];
    ends[1] = bytes[size_of(bytes) - 1];
    subscriber_->release(bytes);
  }

  void hold(int count) {
    for (int i = 0; i < count; ++i) {
      const auto* bytes = next();
      for (std::size_t at = 0; at < size_of(bytes); ++at)
        if (bytes[at] != std::byte{7}) bench::give_up("a sample is not what was sent");
    }  // not released
  }

 private:
  static std::size_t size_of(const std::byte* bytes) {
    return iox::mepoo::ChunkHeader::fromUserPayload(bytes)->userPayloadSize();
  }

  const std::byte* next() {
    const std::byte* bytes = nullptr;
    while (bytes == nullptr) {
      if (!subscriber_->hasData()) {
        if (sleeps_) wait_set_->wait();
        continue;
      }
      subscriber_->take().and_then(
          [&](const void* payload) { bytes = static_cast<const std::byte*>(payload); });
    }
    return bytes;
  }

  Runtime runtime_;
  std::optional<iox::popo::UntypedPublisher> publisher_;
  std::optional<iox::popo::UntypedSubscriber> subscriber_;
  std::optional<iox::popo::WaitSet<1>> wait_set_;
  const bool first_;
  const bool sleeps_;
};

}  // namespace

int main(int argc, char** argv) { return llamada::bench::measure<Node>(argc, argv); }
