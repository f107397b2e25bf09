#pragma once

#include <cstdint>
#include <memory>

#include "llamada/topics/transport.hpp"

namespace llamada::topics {

/// A domain within one process, for tests and for programs that need no other: each Transport that attach()
/// gives is an application, in whatever thread.
///
/// Threads: any may call attach(). The domain must outlive its Transports.
class Loopback {
 public:
  /// Each application's arena has `arena_bytes`, taken as it is written.
  explicit Loopback(std::uint64_t arena_bytes = std::uint64_t{256} << 20);
  ~Loopback();
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  /// A new application in the first free slot. Destroying it frees the slot. Errors: out_of_resources.
  Result<std::unique_ptr<Transport>> attach(log::ArenaOptions options = {});

 private:
  struct Domain;
  class Application;
  std::unique_ptr<Domain> domain_;
};

}  // namespace llamada::topics
