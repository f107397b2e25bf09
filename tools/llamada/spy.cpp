#include "spy.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "domain.hpp"
#include "interrupt.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/llamanet/transport.hpp"
#include "sample_printer.hpp"
#include "topic_tap.hpp"

namespace llamada::tools {
namespace {

using namespace std::chrono_literals;

class Spy final : public TapEvents {
 public:
  Spy(const SpyOptions& options, topics::Transport& transport, const Clock& clock, std::uint32_t domain)
      : options_(options),
        printer_(options),
        tap_({domain, "llamada spy", {options.topic}, options.with_history}, transport, clock, *this) {}

  Status run() {
    const Interrupt interrupt;
    while (!is_done() && printer_.error().empty() && !interrupt.wait(0s)) {
      if (auto status = tap_.poll(); !status) return status;
      std::fflush(stdout);
      if (is_done()) break;
      // What ends it does not wake it: it looks again soon.
      if (auto status = tap_.wait(100ms); !status) return status;
    }
    if (!printer_.error().empty()) return failure(Errc::invalid_argument, "{}", printer_.error());
    if (lost_ > 0) fmt::print(stderr, "llamada: {} samples came too fast to be shown\n", lost_);
    return {};
  }

  void on_writer(const topics::EndpointInfo& writer, const std::string&) override {
    printer_.add_writer(writer);
  }
  void on_writer_changed(const topics::EndpointInfo&) override {}
  void on_sample(const topics::EndpointId& writer, const topics::Sample& sample) override {
    if (!is_done() && printer_.print(writer, tap_.participant_of(writer), sample)) ++shown_;
  }
  void on_samples_lost(const topics::EndpointId&, std::uint64_t count) override { lost_ += count; }
  void on_writer_gone(const topics::EndpointId& writer, bool died) override {
    fmt::print(stderr, "llamada: writer {} of {} {}\n", to_string(writer), tap_.participant_of(writer),
               died ? "has died" : "is gone");
  }

 private:
  bool is_done() const { return options_.count != 0 && shown_ >= options_.count; }

  const SpyOptions& options_;
  SamplePrinter printer_;
  std::uint64_t shown_ = 0;
  std::uint64_t lost_ = 0;
  TopicTap tap_;
};

}  // namespace

int spy(const SpyOptions& options) {
  auto drivers = view_drivers();
  if (!drivers) {
    fmt::print(stderr, "llamada: {}\n", drivers.error().text());
    return 1;
  }
  const TopicPlace where = find_topics(*drivers, {options.topic}, options.domain);
  if (!where.found)
    fmt::print(stderr, "llamada: {}; waiting for one\n", no_such_topic(*drivers, options.topic));
  llamanet::ApplicationOptions application;
  application.socket_name = where.driver;
  application.name = "llamada spy";
  auto transport = llamanet::LlamanetTransport::open(application);
  if (!transport) {
    fmt::print(stderr, "llamada: {}\n", transport.error().text());
    return 1;
  }
  const SystemClock clock;
  Spy spy(options, **transport, clock, where.domain);
  if (auto status = spy.run(); !status) {
    fmt::print(stderr, "llamada: {}\n", status.error().text());
    return status.error().code() == Errc::invalid_argument ? 2 : 1;
  }
  return 0;
}

}  // namespace llamada::tools
