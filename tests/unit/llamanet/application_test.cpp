#include "llamada/llamanet/application.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "node.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

log::LogOptions keep_all() {
  log::LogOptions options;
  options.retention = log::Retention::keep_all;
  return options;
}

int exit_status_of(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

std::unique_ptr<Application> attach(Node& node) {
  auto application = Application::attach(node.options());
  REQUIRE(application);
  return std::move(*application);
}

}  // namespace

TEST_CASE("application: no driver is an error that says where", "[llamanet]") {
  ApplicationOptions options;
  options.socket_name = "llamada/0/nobody-" + unique_name();
  auto application = Application::attach(options);
  REQUIRE_FALSE(application);
  CHECK(application.error().code() == Errc::closed);
  CHECK(application.error().text().find(options.socket_name) != std::string::npos);
}

TEST_CASE("application: the ranks of a job see all arenas from the start", "[llamanet]") {
  DriverOptions options;
  options.profile = "the profile";
  Node node(options, 3);
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    node.driver().set_identity(slot, fmt::format("rank={}\n", slot));
    node.driver().expect(slot, 100 + slot, 1);
  }
  node.start();
  auto first = Application::attach(node.options(1, 101));
  REQUIRE(first);
  CHECK((*first)->profile() == "the profile");
  CHECK((*first)->identity() == "rank=1\n");
  for (std::uint32_t slot = 0; slot < 3; ++slot) CHECK((*first)->roster().peer(slot).base != nullptr);
  CHECK((*first)->roster().peer(1).ready());
  CHECK_FALSE((*first)->roster().peer(2).ready());
  auto second = Application::attach(node.options(2, 102));
  REQUIRE(second);
  CHECK((*first)->roster().peer(2).ready());
  CHECK((*first)->roster().peer(7).base == nullptr);
}

TEST_CASE("application: what one publishes the other reads", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto writer = attach(node), reader = attach(node);
  auto log = log::LogWriter::create(writer->arena(), {1, 2}, {});
  REQUIRE(log);
  std::array<std::byte, 3> text{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  REQUIRE(log->publish(log::kind_data, 0, 9, text));
  std::uint32_t scanned = 0;
  auto index = log::find_log(reader->roster().peer(writer->slot()), {1, 2}, scanned);
  REQUIRE(index);
  auto stream = log::LogReader::open(reader->roster().peer(writer->slot()), *index);
  auto record = stream.peek();
  REQUIRE(record);
  CHECK(record->label == 9);
  CHECK(std::equal(record->payload.begin(), record->payload.end(), text.begin(), text.end()));
}

TEST_CASE("application: a write to a peer's arena is a fault", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto one = attach(node), other = attach(node);
  REQUIRE(one->roster().refresh());
  auto* byte = const_cast<std::byte*>(one->roster().peer(other->slot()).base);
  REQUIRE(byte != nullptr);
  auto child = node.fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    ::signal(SIGBUS, SIG_DFL);
    *static_cast<volatile std::byte*>(byte) = std::byte{1};
    ::_exit(0);
  }
  auto status = exit_status_of(child);
#if defined(__SANITIZE_ADDRESS__)
  CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
#else
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
#endif
  CHECK(::mprotect(byte, 4096, PROT_READ | PROT_WRITE) != 0);
}

TEST_CASE("application: a wake ends the sleep, whenever it comes", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto sleeper = attach(node), waker = attach(node);
  auto reader_slot = sleeper->slot();
  std::atomic<int> turn{0};
  constexpr int turns = 2000;
  std::thread other([&] {
    REQUIRE(waker->roster().refresh());
    for (int i = 0; i < turns; ++i) {
      while (turn.load(std::memory_order_acquire) != 2 * i + 1)
        REQUIRE(waker->bell().sleep([&] { return turn.load(std::memory_order_acquire) == 2 * i + 1; }));
      turn.store(2 * i + 2, std::memory_order_release);
      waker->wake(reader_slot);
    }
  });
  REQUIRE(sleeper->roster().refresh());
  for (int i = 0; i < turns; ++i) {
    turn.store(2 * i + 1, std::memory_order_release);
    sleeper->wake(waker->slot());
    while (turn.load(std::memory_order_acquire) != 2 * i + 2)
      REQUIRE(sleeper->bell().sleep([&] { return turn.load(std::memory_order_acquire) == 2 * i + 2; }));
  }
  other.join();
}

TEST_CASE("application: notices that the driver is gone", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto application = attach(node);
  REQUIRE(application->check_driver());
  node.end_driver();
  auto checked = application->check_driver();
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code() == Errc::closed);
  auto slept = application->bell().sleep([] { return false; });
  REQUIRE_FALSE(slept);
  CHECK(slept.error().code() == Errc::closed);
  CHECK_FALSE(application->say(SayKind::note, 0, "nobody hears it"));
}

TEST_CASE("application: a forked child ends without a word to the driver", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto application = attach(node);
  auto child = node.fork();
  if (child == 0) {
    application.reset();
    ::_exit(0);
  }
  CHECK(exit_status_of(child) == 0);
  REQUIRE(application->check_driver());
  node.stop();
  CHECK(node.driver().state(application->slot()) == SlotState::attached);
  node.start();
}

TEST_CASE("application: a log grows no further than log_bytes_max for all together", "[llamanet]") {
  DriverOptions options;
  options.log_bytes_max = 4 << 20;
  options.arena_size_bytes = 64 << 20;
  Node node(options, 2);
  node.driver().expect(0, 1, 1);
  node.driver().expect(1, 1, 1);
  node.start();
  auto first = Application::attach(node.options(0, 1));
  auto second = Application::attach(node.options(1, 1));
  REQUIRE((first && second));
  std::vector<std::byte> payload(16 << 10);
  std::uint64_t published = 0;
  auto fill = [&](Application& application) {
    auto log = log::LogWriter::open(application.arena(), {1, 1}, keep_all());
    REQUIRE(log);
    for (;;) {
      auto done = log->publish(log::kind_data, 0, 0, payload);
      if (!done) return done.error().code();
      published += payload.size();
      if (published > options.arena_size_bytes / 2) return Errc::invalid_argument;
    }
  };
  CHECK(fill(**first) == Errc::out_of_resources);
  CHECK(published <= options.log_bytes_max);
  CHECK(published >= options.log_bytes_max / 4);
  CHECK(fill(**second) == Errc::out_of_resources);
  CHECK(published <= options.log_bytes_max);
  node.stop();
  node.driver().set_unprotected();
  node.start();
  CHECK_FALSE((*first)->roster().is_protected());
}

TEST_CASE("application: memory is prepared ahead without harm to what is written", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto application = Application::attach(node.options());
  REQUIRE(application);
  auto log = log::LogWriter::create((*application)->arena(), {1, 1}, keep_all());
  REQUIRE(log);
  std::vector<std::byte> payload(4 << 10);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    std::fill(payload.begin(), payload.end(), static_cast<std::byte>(i));
    REQUIRE(log->publish(log::kind_data, 0, i, payload));
    (*application)->own_arena().prepare_ahead();
  }
  auto stream = log::LogReader::open((*application)->arena().reading(), log->index());
  for (std::uint64_t i = 0; i < 4000; ++i) {
    auto record = stream.peek();
    REQUIRE(record);
    REQUIRE(record->label == i);
    REQUIRE(record->payload.front() == static_cast<std::byte>(i));
    REQUIRE(record->payload.back() == static_cast<std::byte>(i));
    stream.advance();
  }
}

TEST_CASE("application: memory that was prepared at the start is there and is written to", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto application = Application::attach(node.options());
  REQUIRE(application);
  constexpr std::uint64_t prepared_bytes = 16 << 20;
  REQUIRE((*application)->own_arena().prepare_next(prepared_bytes));
  const auto next = (*application)->arena().ahead(prepared_bytes);
  std::vector<unsigned char> resident(next.size() / 4096);
  REQUIRE(::mincore(next.data(), next.size(), resident.data()) == 0);
  CHECK(std::all_of(resident.begin(), resident.end(), [](unsigned char page) { return (page & 1) != 0; }));
  auto log = log::LogWriter::create((*application)->arena(), {1, 1}, keep_all());
  REQUIRE(log);
  // Beyond what was prepared, too.
  std::vector<std::byte> payload(1 << 20);
  for (std::uint64_t i = 0; i < 24; ++i) {
    std::fill(payload.begin(), payload.end(), static_cast<std::byte>(i + 1));
    REQUIRE(log->publish(log::kind_data, 0, i, payload));
  }
  auto stream = log::LogReader::open((*application)->arena().reading(), log->index());
  for (std::uint64_t i = 0; i < 24; ++i) {
    auto record = stream.peek();
    REQUIRE(record);
    CHECK(std::all_of(record->payload.begin(), record->payload.end(),
                      [i](std::byte byte) { return byte == static_cast<std::byte>(i + 1); }));
    stream.advance();
  }
  // All that is left, and no more.
  CHECK((*application)->own_arena().prepare_next(std::uint64_t{1} << 40));
}

TEST_CASE("application: payloads that begin in memory that was made and end in memory that was not are whole",
          "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto application = Application::attach(node.options());
  REQUIRE(application);
  auto log = log::LogWriter::create((*application)->arena(), {1, 1}, keep_all());
  REQUIRE(log);
  const std::size_t sizes[] = {40'000, 1 << 20, 100, 3'000'001, 70'000, 5'000, 2 << 20, 300'000};
  const auto byte_at = [](std::uint64_t number, std::size_t at) {
    return static_cast<std::byte>(number * 31 + at + at / 4096);
  };
  for (std::uint64_t number = 0; number < 3 * std::size(sizes); ++number) {
    std::vector<std::byte> payload(sizes[number % std::size(sizes)]);
    for (std::size_t at = 0; at < payload.size(); ++at) payload[at] = byte_at(number, at);
    REQUIRE(log->publish(log::kind_data, 0, number, payload));
    if (number % 3 == 0) (*application)->own_arena().prepare_ahead();
  }
  auto stream = log::LogReader::open((*application)->arena().reading(), log->index());
  for (std::uint64_t number = 0; number < 3 * std::size(sizes); ++number) {
    auto record = stream.peek();
    REQUIRE(record);
    REQUIRE(record->payload.size() == sizes[number % std::size(sizes)]);
    bool whole = true;
    for (std::size_t at = 0; at < record->payload.size(); ++at)
      whole = whole && record->payload[at] == byte_at(number, at);
    CHECK(whole);
    stream.advance();
  }
}

TEST_CASE("application: a payload that is longer than the kernel writes at once is stored in pieces",
          "[llamanet]") {
  DriverOptions options = on_demand();
  options.arena_size_bytes = std::uint64_t{3} << 30;
  Node node(options);
  node.start();
  auto application = Application::attach(node.options());
  REQUIRE(application);
  constexpr std::size_t size = (std::size_t{2} << 30) + (std::size_t{16} << 20);
  // Not a page of it is made: all are the one of zeros.
  void* const nothing = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(nothing != MAP_FAILED);
  const std::span from(static_cast<const std::byte*>(nothing), size);
  auto log = log::LogWriter::create((*application)->arena(), {1, 1}, keep_all());
  REQUIRE(log);
  auto room = log->reserve(size, log::LogWriter::Filling::by_fill);
  REQUIRE(room);
  std::size_t pieces = 0;
  for (std::size_t stored = 0; stored < size; ++pieces)
    stored += (*application)->arena().store(room->payload().subspan(stored), from.subspan(stored));
  CHECK(pieces < size / (256 << 10));
  CHECK(room->payload().back() == std::byte{0});
  ::munmap(nothing, size);
}

namespace {

/// Whether a process with a limit on the size of files can keep and read more than its file had room for at
/// first.
bool keeps_within_limit(const ApplicationOptions& options) {
  auto application = Application::attach(options);
  if (!application) return false;
  auto log = log::LogWriter::create((*application)->arena(), {1, 1}, keep_all());
  if (!log) return false;
  const rlimit small{4096, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return false;
  const std::vector<std::byte> payload(1 << 20, std::byte{7});
  constexpr std::uint64_t count = 2 * arena_bytes_at_first >> 20;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!log->publish(log::kind_data, 0, i, payload)) return false;
    (*application)->own_arena().prepare_ahead();
  }
  auto stream = log::LogReader::open((*application)->arena().reading(), log->index());
  for (std::uint64_t i = 0; i < count; ++i) {
    auto record = stream.peek();
    if (!record || !std::ranges::equal(record->payload, payload)) return false;
    stream.advance();
  }
  return true;
}

}  // namespace

TEST_CASE("application: a limit on the size of files does not end who keeps what it publishes",
          "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto child = node.fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_DFL);
    ::_exit(keeps_within_limit(node.options()) ? 0 : 1);
  }
  auto status = exit_status_of(child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("application: those who name the same shared memory share it", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto one = attach(node), other = attach(node);
  auto here = one->shared_segment(42, 100), there = other->shared_segment(42, 100);
  auto elsewhere = one->shared_segment(43, 100);
  REQUIRE(here);
  REQUIRE(there);
  REQUIRE(elsewhere);
  CHECK(there->data()[99] == std::byte{0});
  here->data()[99] = std::byte{7};
  CHECK(there->data()[99] == std::byte{7});
  CHECK(elsewhere->data()[99] == std::byte{0});
}

TEST_CASE("application: shared memory of another size, or of none, is refused and all goes on",
          "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto one = attach(node);
  REQUIRE(one->shared_segment(42, 100));
  auto larger = one->shared_segment(42, 101);
  REQUIRE_FALSE(larger);
  CHECK(larger.error().code() == Errc::invalid_argument);
  CHECK_FALSE(one->shared_segment(44, 0));
  CHECK(one->shared_segment(42, 100));
}

TEST_CASE("application: shared memory is zeroed anew once all have let go of it", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto one = attach(node), other = attach(node);
  one->shared_segment(42, 8)->data()[0] = std::byte{1};
  REQUIRE(other->shared_segment(42, 8));
  REQUIRE(one->release_segment(42));
  CHECK(other->shared_segment(42, 8)->data()[0] == std::byte{1});
  REQUIRE(other->release_segment(42));
  REQUIRE(other->release_segment(42));  // once more does no harm
  CHECK(one->shared_segment(42, 8)->data()[0] == std::byte{0});
}

TEST_CASE("application: who leaves a driver on demand lets go of shared memory", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto stays = attach(node);
  {
    auto leaves = attach(node);
    leaves->shared_segment(42, 8)->data()[0] = std::byte{1};
  }
  auto gone = [&] { return stays->roster().slot_state(1) == SlotState::free; };
  while (!gone()) REQUIRE(stays->bell().sleep(gone));
  CHECK(stays->shared_segment(42, 8)->data()[0] == std::byte{0});
}

TEST_CASE("application: the successor of a rank that died finds the shared memory as it was", "[llamanet]") {
  Node node({}, 2);
  node.driver().expect(0, 1, 1);
  node.start();
  auto child = node.fork();
  if (child == 0) {
    auto rank = Application::attach(node.options(0, 1));
    if (!rank) ::_exit(1);
    auto memory = (*rank)->shared_segment(42, 4096);
    if (!memory) ::_exit(2);
    memory->data()[4095] = std::byte{5};
    ::_exit(0);  // without bye
  }
  CHECK(exit_status_of(child) == 0);
  node.expect_successor(0, 2);
  auto successor = Application::attach(node.options(0, 2));
  REQUIRE(successor);
  auto memory = (*successor)->shared_segment(42, 4096);
  REQUIRE(memory);
  CHECK(memory->data()[4095] == std::byte{5});
}

namespace {

constexpr std::size_t kept_bytes = 700'000;

std::vector<std::byte> kept(std::uint64_t number) {
  return std::vector<std::byte>(kept_bytes, static_cast<std::byte>(number + 1));
}

/// What a rank that dies leaves: so many records, and room that is filled in part at most.
bool leaves(const ApplicationOptions& options, std::uint64_t count) {
  auto rank = Application::attach(options);
  if (!rank) return false;
  auto log = log::LogWriter::create((*rank)->arena(), {1, 1}, keep_all());
  if (!log) return false;
  for (std::uint64_t i = 0; i < count; ++i)
    if (!log->publish(log::kind_data, 0, i, kept(i))) return false;
  auto room = log->reserve(5'000'000, log::LogWriter::Filling::by_fill);
  if (!room) return false;
  const auto part = kept(count);
  if (count % 2 == 1) (*rank)->arena().store(room->payload().first(part.size()), part);
  ::_exit(0);  // without bye
}

}  // namespace

TEST_CASE("application: a successor goes on where the file of its predecessor ended", "[llamanet]") {
  for (std::uint64_t count = 0; count < 40; count += 3) {
    Node node({}, 2);
    node.driver().expect(0, 1, 1);
    node.driver().expect(1, 7, 1);
    node.start();
    auto child = node.fork();
    if (child == 0) ::_exit(leaves(node.options(0, 1), count) ? 0 : 1);
    REQUIRE(exit_status_of(child) == 0);
    node.expect_successor(0, 2);
    auto successor = Application::attach(node.options(0, 2));
    auto peer = Application::attach(node.options(1, 7));
    REQUIRE(successor);
    REQUIRE(peer);
    auto log = log::LogWriter::open((*successor)->arena(), {1, 1}, keep_all());
    REQUIRE(log);
    REQUIRE(log->published() == count);
    for (std::uint64_t i = count; i < count + 20; ++i)
      REQUIRE(log->publish(log::kind_data, 0, i, kept(i)).has_value());
    auto stream = log::LogReader::open((*peer)->roster().peer(0), log->index());
    bool as_published = true;
    for (std::uint64_t i = 0; i < count + 20; ++i, stream.advance()) {
      auto record = stream.peek();
      as_published = as_published && record && std::ranges::equal(record->payload, kept(i));
    }
    CHECK(as_published);
  }
}
