#include "persist_domain.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "interrupt.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/llamanet/transport.hpp"
#include "llamada/service/service.hpp"
#include "llamada/store_sqlite/any_store.hpp"

namespace llamada::tools {
namespace {

using namespace std::chrono_literals;

// As many as the participants of programs have.
constexpr std::uint32_t endpoint_count_max = 8192;
constexpr std::uint32_t match_count_max = 32768;

void say(std::string_view sentence) { fmt::print(stderr, "llamada-persistd: {}\n", sentence); }

int fail(const Error& error) {
  say(error.text());
  return 1;
}

// Four descriptors for each application, and one for each segment of the store.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void tell_ready(int descriptor) {
  if (descriptor < 0) return;
  (void)!::write(descriptor, "r", 1);
  ::close(descriptor);
}

Result<std::unique_ptr<topics::Transport>> join(const PersistOptions& options) {
  llamanet::ApplicationOptions application;
  application.socket_name = options.driver;
  application.name = "llamada-persistd";
  application.arena.endpoint_count_max = endpoint_count_max;
  application.arena.match_count_max = match_count_max;
  application.arena.grant_count_max = match_count_max;
  return llamanet::LlamanetTransport::open(application);
}

Status keep(service::Service& service, const Interrupt& interrupt, int ready_descriptor) {
  // The first round finds what is in the domain already.
  if (auto worked = service.work(); !worked) return worked;
  tell_ready(ready_descriptor);
  while (!interrupt.wait(0s)) {
    // An interrupt does not wake it: it looks again soon.
    if (auto waited = service.wait(100ms); !waited) return waited;
    if (auto worked = service.work(); !worked) return worked;
  }
  return {};
}

}  // namespace

int persist_domain(const PersistOptions& options) {
  raise_descriptor_limit();
  ::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the call, and is said
  const Interrupt interrupt;
  const SystemClock clock;
  store::AnyStoreOptions store_options;
  store_options.say = say;
  if (!options.store_kind.empty()) {
    auto kind = store::store_kind(options.store_kind);
    if (!kind) return fail(kind.error());
    store_options.kind = *kind;
  }
  auto store = store::open_store(options.store, store_options);
  if (!store) return fail(store.error());
  auto transport = join(options);
  if (!transport) return fail(transport.error());
  service::ServiceOptions service_options;
  service_options.domain = options.domain;
  service_options.say = [](const std::string& sentence) { say(sentence); };
  auto service = service::Service::open(service_options, **transport, clock, **store);
  if (!service) return fail(service.error());
  const service::ServiceFigures had = (*service)->figures();
  say(fmt::format(
      "keeps the TRANSIENT and PERSISTENT topics of domain {} in {}; {} samples of {} topics lie there",
      options.domain, options.store, had.samples, had.topics));
  Status kept = keep(**service, interrupt, options.ready_descriptor);
  if (auto synced = (*store)->sync((*store)->figures().written); kept && !synced) kept = synced;
  if (!kept) return fail(kept.error());
  const service::ServiceFigures has = (*service)->figures();
  say(fmt::format("ends; {} samples of {} topics lie in {}, and {} late readers got {} samples", has.samples,
                  has.topics, options.store, has.served_readers, has.served_samples));
  return 0;
}

}  // namespace llamada::tools
