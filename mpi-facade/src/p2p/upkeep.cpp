#include "p2p/upkeep.hpp"

#include <fmt/format.h>

#include <string>

#include "p2p/describe_rank.hpp"

namespace llamada::mpi {

bool Upkeep::ends_keeping() {
  if (!keeps_ || world_.is_protected()) return false;
  keeps_ = false;
  return true;
}

void Upkeep::look_around() {
  for (auto& hook : hooks_) hook();
  look_for_damage();
}

void Upkeep::look_for_damage() {
  const auto now = clock_.monotonic();
  if (now < next_damage_look_) return;
  // The first look is for who has waited a while.
  if (std::exchange(next_damage_look_, now + between_damage_looks).count() == 0) return;
  if (const std::string own = world_.arena().find_damage(); !own.empty()) world_.damaged(world_.rank(), own);
  incoming_.look_for_damage();
}

void Upkeep::no_memory(const Error& error) {
  if (error.code() == Errc::parse_error) world_.damaged(world_.rank(), error.text());
  if (keeps_) {
    if (!used_up_) world_.log_used_up();
    used_up_ = true;
    return;
  }
  const auto now = clock_.monotonic();
  // What is waiting for room is tried again soon. After a longer time without a word there was room.
  if (now - no_memory_last_ > between_tries_max) no_memory_since_ = now;
  no_memory_last_ = now;
  if (now - no_memory_since_ > no_memory_patience)
    world_.aborted(
        1, fmt::format("{}: there is no memory for messages: {}", describe_rank(world_), error.text()));
}

}  // namespace llamada::mpi
