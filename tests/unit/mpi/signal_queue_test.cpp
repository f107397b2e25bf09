#include "interpose/signal_queue.hpp"

#include <catch2/catch.hpp>

namespace llamada::mpi::interpose {
namespace {

siginfo_t sent(int number, int value) {
  siginfo_t info{};
  info.si_signo = number;
  info.si_value.sival_int = value;
  return info;
}

TEST_CASE("signal queue: signals come out in their order, one below SIGRTMIN once") {
  SignalQueue queue;
  REQUIRE(queue.is_empty());
  REQUIRE(queue.add(sent(SIGRTMIN, 1)));
  REQUIRE(queue.add(sent(SIGUSR1, 2)));
  REQUIRE(queue.add(sent(SIGRTMIN, 3)));
  REQUIRE(queue.add(sent(SIGUSR1, 4)));
  REQUIRE(queue.take()->si_value.sival_int == 1);
  REQUIRE(queue.take()->si_signo == SIGUSR1);
  REQUIRE(queue.add(sent(SIGUSR1, 5)));
  REQUIRE(queue.take()->si_value.sival_int == 3);
  REQUIRE(queue.take()->si_value.sival_int == 5);
  REQUIRE_FALSE(queue.take());
  REQUIRE(queue.is_empty());
}

TEST_CASE("signal queue: a full queue refuses one more") {
  SignalQueue queue;
  for (std::size_t i = 0; i < SignalQueue::capacity; i++)
    REQUIRE(queue.add(sent(SIGRTMIN, static_cast<int>(i))));
  REQUIRE_FALSE(queue.add(sent(SIGRTMIN, 0)));
  REQUIRE(queue.take()->si_value.sival_int == 0);
  REQUIRE(queue.add(sent(SIGRTMIN, 0)));
}

}  // namespace
}  // namespace llamada::mpi::interpose
