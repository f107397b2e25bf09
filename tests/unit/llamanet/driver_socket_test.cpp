#include "driver_socket.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>

#include "bell_owner.hpp"
#include "llamada/llamanet/protocol.hpp"
#include "node.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Writes down what it is told. A datagram "refuse" it refuses.
class Scribe final : public DriverSocket::Host {
 public:
  Status on_datagram(std::uint64_t connection, Datagram datagram) override {
    last_connection = connection;
    received.push_back(
        std::string(reinterpret_cast<const char*>(datagram.bytes.data()), datagram.bytes.size()));
    if (received.back() == "refuse") return failure(Errc::not_found, "the host refuses");
    return {};
  }
  void on_close(const Caller& caller) override { closed.push_back(caller.pid); }
  void on_refused(const Caller&, const std::string& why) override { refusals.push_back(why); }
  void on_process_end(std::uint32_t slot) override { ended.push_back(slot); }
  void on_bell() override {}
  void on_links() override {}

  std::uint64_t last_connection = 0;
  std::vector<std::string> received;
  std::vector<std::uint32_t> closed;
  std::vector<std::string> refusals;
  std::vector<std::uint32_t> ended;
};

struct Ends {
  explicit Ends(Scribe& scribe) : name("llamada/" + unique_name()) {
    auto listener = bind_at(name);
    REQUIRE(listener);
    REQUIRE(start_listening(listener->get()));
    auto opened = DriverSocket::open(std::move(*listener), scribe);
    REQUIRE(opened);
    driver = std::make_unique<DriverSocket>(std::move(*opened));
  }
  FileDescriptor connect() const {
    auto socket = connect_to(name);
    REQUIRE(socket);
    return std::move(*socket);
  }
  template <typename Condition>
  void poll_until(const Condition& condition) {
    while (!condition()) driver->poll(std::chrono::milliseconds(1));
  }

  std::string name;
  std::unique_ptr<DriverSocket> driver;
};

}  // namespace

TEST_CASE("driver socket: hands over what comes, and says whose it is", "[llamanet]") {
  Scribe scribe;
  Ends ends(scribe);
  auto socket = ends.connect();
  REQUIRE(send_datagram(socket.get(), bytes_of("one")));
  REQUIRE(send_datagram(socket.get(), bytes_of("two")));
  ends.poll_until([&] { return scribe.received.size() == 2; });
  CHECK(scribe.received == std::vector<std::string>{"one", "two"});
  REQUIRE(ends.driver->has(scribe.last_connection));
  const Caller& caller = ends.driver->caller(scribe.last_connection);
  CHECK(caller.pid == static_cast<std::uint32_t>(::getpid()));
  CHECK_FALSE(caller.slot);
  CHECK_FALSE(caller.greeted);
  CHECK(ends.driver->process_of(scribe.last_connection));
  CHECK(scribe.closed.empty());
  socket.reset();
  ends.poll_until([&] { return !scribe.closed.empty(); });
  CHECK(scribe.closed == std::vector<std::uint32_t>{static_cast<std::uint32_t>(::getpid())});
  CHECK_FALSE(ends.driver->has_connections());
  CHECK(scribe.refusals.empty());
}

TEST_CASE("driver socket: an error of its host ends the connection with a last word", "[llamanet]") {
  Scribe scribe;
  Ends ends(scribe);
  auto socket = ends.connect();
  REQUIRE(send_datagram(socket.get(), bytes_of("refuse")));
  ends.poll_until([&] { return !scribe.closed.empty(); });
  CHECK(scribe.received == std::vector<std::string>{"refuse"});
  CHECK(scribe.refusals == std::vector<std::string>{"the host refuses"});
  auto word = receive_datagram(socket.get(), true, 0);
  REQUIRE(word);
  auto message = decode(word->bytes);
  REQUIRE(message);
  CHECK(std::get<ErrorMessage>(message->message).code == Errc::not_found);
  CHECK(receive_datagram(socket.get(), true, 0).error().code() == Errc::closed);
}

TEST_CASE("driver socket: answers that the kernel does not take at once wait, and come in their order",
          "[llamanet]") {
  Scribe scribe;
  Ends ends(scribe);
  auto socket = ends.connect();
  REQUIRE(send_datagram(socket.get(), bytes_of("question")));
  ends.poll_until([&] { return scribe.received.size() == 1; });
  const auto connection = scribe.last_connection;
  auto passenger = create_eventfd();
  REQUIRE(passenger);
  std::size_t answers = 0, waiting = 0;
  while (waiting < DriverSocket::unsent_answers_max) {
    Answer answer;
    answer.bytes.assign(message_size_bytes_max, static_cast<std::byte>(answers++));
    answer.board = [&](Passengers& passengers) {
      passengers.descriptors.push_back(passenger->get());
      return Status();
    };
    ends.driver->answer(connection, std::move(answer));
    waiting += ends.driver->has_unsent() ? 1 : 0;
  }
  // From whoever takes no answers nothing more is read.
  REQUIRE(send_datagram(socket.get(), bytes_of("more")));
  for (int i = 0; i < 5; ++i) ends.driver->poll(std::chrono::milliseconds(1));
  CHECK(scribe.received.size() == 1);
  for (std::size_t i = 0; i < answers; ++i) {
    auto datagram = receive_datagram(socket.get(), false, 1);
    while (!datagram && datagram.error().code() == Errc::would_block) {
      ends.driver->poll(std::chrono::milliseconds(1));
      datagram = receive_datagram(socket.get(), false, 1);
    }
    REQUIRE(datagram);
    REQUIRE(datagram->bytes.size() == message_size_bytes_max);
    CHECK(datagram->bytes.back() == static_cast<std::byte>(i));
    CHECK(datagram->descriptors.size() == 1);
  }
  ends.poll_until([&] { return scribe.received.size() == 2; });
  CHECK_FALSE(ends.driver->has_unsent());
}

TEST_CASE("driver socket: an answer whose descriptors cannot be had ends the connection", "[llamanet]") {
  Scribe scribe;
  Ends ends(scribe);
  auto socket = ends.connect();
  REQUIRE(send_datagram(socket.get(), bytes_of("question")));
  ends.poll_until([&] { return scribe.received.size() == 1; });
  ends.driver->answer(scribe.last_connection, {bytes_of("answer"), [](Passengers&) -> Status {
                                                 return failure(Errc::out_of_resources, "no descriptors");
                                               }});
  CHECK(scribe.refusals == std::vector<std::string>{"no descriptors"});
  CHECK_FALSE(ends.driver->has(scribe.last_connection));
}

TEST_CASE("driver socket: tells of the end of a process that is watched", "[llamanet]") {
  Scribe scribe;
  Ends ends(scribe);
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  REQUIRE(process);
  REQUIRE(ends.driver->watch_process(process.get(), 7));
  ends.driver->poll(std::chrono::milliseconds(0));
  CHECK(scribe.ended.empty());
  ::kill(child, SIGKILL);
  ends.poll_until([&] { return !scribe.ended.empty(); });
  CHECK(scribe.ended.front() == 7);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("driver socket: who drives it can sleep on a bell for its messages and for other processes",
          "[llamanet]") {
  Scribe scribe;
  Ends ends(scribe);
  struct Drive final : Bell::Source {
    explicit Drive(DriverSocket& socket) : socket(socket) {}
    int descriptor() const override { return socket.descriptor(); }
    Status on_ready() override {
      socket.poll(std::chrono::milliseconds(0));
      return {};
    }
    DriverSocket& socket;
  } drive(*ends.driver);
  BellOwner owner, other;
  owner.bell->add(drive);
  const Seen seen(owner);
  auto socket = ends.connect();
  REQUIRE(send_datagram(socket.get(), bytes_of("message")));
  while (scribe.received.empty()) REQUIRE(owner.bell->sleep([] { return false; }));
  std::atomic<bool> committed{false};
  std::thread waker([&] {
    while (!owner.is_asleep()) std::this_thread::yield();
    committed.store(true, std::memory_order_release);
    other.bell->wake(seen.doorbell);
  });
  const auto has_come = [&] { return committed.load(std::memory_order_acquire); };
  while (!has_come()) REQUIRE(owner.bell->sleep(has_come));
  waker.join();
}

TEST_CASE("driver socket: nobody connects once it no longer listens", "[llamanet]") {
  Scribe scribe;
  Ends ends(scribe);
  auto waiting = ends.connect();
  ends.driver->accept_all();
  CHECK(ends.driver->has_connections());
  ends.driver->stop_listening();
  CHECK(connect_to(ends.name).error().code() == Errc::closed);
}
