#include "driver_connection.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "node.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

/// Listens under a name of its own, as a driver does.
struct Listener {
  Listener() : name("llamada/" + unique_name()) {
    auto bound = bind_at(name);
    REQUIRE(bound);
    socket = std::move(*bound);
    REQUIRE(start_listening(socket.get()));
  }
  FileDescriptor accept() const {
    auto accepted = accept_from(socket.get());
    while (!accepted && accepted.error().code() == Errc::would_block) accepted = accept_from(socket.get());
    REQUIRE(accepted);
    return std::move(*accepted);
  }

  std::string name;
  FileDescriptor socket;
};

/// Both ends of a connection.
struct Connected {
  explicit Connected(bool is_outlived = false) {
    auto opened = DriverConnection::open(listener.name, is_outlived);
    REQUIRE(opened);
    application = std::move(*opened);
    driver = listener.accept();
  }
  /// Waits for it.
  Envelope next() const {
    auto datagram = receive_datagram(driver.get(), false, 0);
    while (!datagram && datagram.error().code() == Errc::would_block)
      datagram = receive_datagram(driver.get(), false, 0);
    REQUIRE(datagram);
    auto envelope = decode(datagram->bytes);
    REQUIRE(envelope);
    return std::move(*envelope);
  }
  void say(const Envelope& envelope, std::span<const int> descriptors = {}) const {
    REQUIRE(send_datagram(driver.get(), encode(envelope), descriptors));
  }

  Listener listener;
  std::unique_ptr<DriverConnection> application;
  FileDescriptor driver;
};

}  // namespace

TEST_CASE("driver connection: opening one fails where nobody listens", "[llamanet]") {
  const auto opened = DriverConnection::open("llamada/" + unique_name(), false);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code() == Errc::closed);
}

TEST_CASE("driver connection: a question gets its answer, with the descriptors that come along",
          "[llamanet]") {
  Connected ends;
  std::thread driver([&] {
    for (const std::uint64_t bytes : {4096, 8192}) {
      const Envelope question = ends.next();
      CHECK(question.message == Message(Share{7, bytes}));
      auto memory = create_eventfd();
      REQUIRE(memory);
      const int descriptor = memory->get();
      ends.say({question.request, Shared{}}, std::span(&descriptor, 1));
    }
  });
  for (const std::uint64_t bytes : {4096, 8192}) {
    std::vector<FileDescriptor> descriptors;
    CHECK(ends.application->ask<Shared>(Share{7, bytes}, descriptors, 1));
    CHECK(descriptors.size() == 1);
  }
  driver.join();
  CHECK(ends.application->check());
}

TEST_CASE(
    "driver connection: a question fails with what the driver refuses it with, or if the answer is wrong",
    "[llamanet]") {
  struct Wrong {
    std::uint32_t request_change;
    Message answer;
    Errc expected;
  };
  const Wrong wrong =
      GENERATE(Wrong{0, ErrorMessage{Errc::not_found, "no such slot"}, Errc::not_found},
               Wrong{1, Lengthened{}, Errc::parse_error}, Wrong{0, Released{}, Errc::parse_error});
  Connected ends;
  std::thread driver([&] { ends.say({ends.next().request + wrong.request_change, wrong.answer}); });
  const auto answer = ends.application->ask<Lengthened>(Lengthen{});
  driver.join();
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == wrong.expected);
}

TEST_CASE("driver connection: what it tells goes out as it is, in one step or in two", "[llamanet]") {
  const Connected ends;
  const Say note{SayKind::note, 3, "text"};
  REQUIRE(ends.application->tell(note));
  const auto prepared = ends.application->prepare(Bye{});
  CHECK(receive_datagram(ends.driver.get(), true, 0)->bytes == encode({1, note}));
  CHECK(receive_datagram(ends.driver.get(), false, 0).error().code() == Errc::would_block);
  REQUIRE(ends.application->send(prepared));
  CHECK(ends.next().message == Message(Bye{}));
}

TEST_CASE("driver connection: it is lost once the driver is gone or says what it was not asked for",
          "[llamanet]") {
  Connected ends;
  CHECK(ends.application->check());
  CHECK_FALSE(ends.application->is_lost());
  std::string why;
  SECTION("gone") {
    ends.driver.reset();
    why = "the driver is gone";
  }
  SECTION("closed for a reason") {
    ends.say({0, ErrorMessage{Errc::parse_error, "bad magic"}});
    why = "the driver closed the connection: bad magic";
  }
  SECTION("unasked") {
    ends.say({0, Lengthened{}});
    why = "the driver sent a message that nobody had asked for";
  }
  const Status checked = ends.application->on_ready();
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code() == Errc::closed);
  CHECK(checked.error().text() == why);
  CHECK(ends.application->is_lost());
}

TEST_CASE("driver connection: a check leaves the answer to the thread that asks", "[llamanet]") {
  Connected ends;
  std::atomic<bool> has_answer{false};
  std::thread asker([&] {
    CHECK(ends.application->ask<Lengthened>(Lengthen{}));
    has_answer = true;
  });
  const Envelope question = ends.next();  // so the other thread is asking
  CHECK(ends.application->check());
  ends.say({question.request, Lengthened{}});
  while (!has_answer) CHECK(ends.application->check());
  asker.join();
  CHECK_FALSE(ends.application->is_lost());
}

TEST_CASE("driver connection: an application that outlives its driver no longer sleeps on a lost connection",
          "[llamanet]") {
  const bool is_outlived = GENERATE(true, false);
  const Connected ends(is_outlived);
  const int number = ends.application->socket();
  CHECK(ends.application->descriptor() == number);
  ends.application->lose();
  CHECK(ends.application->is_lost());
  CHECK(ends.application->descriptor() == (is_outlived ? -1 : number));
}

TEST_CASE("driver connection: the next driver takes its place, under the same number", "[llamanet]") {
  Connected ends;
  const int number = ends.application->socket();
  ends.driver.reset();
  CHECK_FALSE(ends.application->check());
  const Listener next;
  auto socket = connect_to(next.name);
  REQUIRE(socket);
  bool was_lost = false;
  REQUIRE(ends.application->replace(*socket, [&] { was_lost = ends.application->is_lost(); }));
  socket->reset();
  CHECK(was_lost);  // the application takes over before anybody else can ask
  CHECK_FALSE(ends.application->is_lost());
  CHECK(ends.application->socket() == number);
  ends.driver = next.accept();
  REQUIRE(ends.application->tell(Bye{}));
  CHECK(ends.next().message == Message(Bye{}));
  CHECK(ends.application->check());
}

TEST_CASE("driver connection: it notices that the program has closed its socket", "[llamanet]") {
  const Connected ends;
  const int number = ends.application->socket();
  CHECK(ends.application->is_open());
  const FileDescriptor kept(::fcntl(number, F_DUPFD_CLOEXEC, 0));
  REQUIRE(kept);
  ::close(number);
  CHECK_FALSE(ends.application->is_open());
  REQUIRE(::dup2(kept.get(), number) == number);
  CHECK(ends.application->is_open());
}
