#pragma once

#include <string>

#include "llamada/waits/report.hpp"

namespace llamada::mpi {

class Communicator;
struct Request;

/// What a call waits for. It is asked only when somebody wants to know, so a wait pays for two stores.
///
/// Threads: the one that waits.
class Awaits {
 public:
  /// Adds to `report.awaited`, and says whether one of these suffices.
  virtual void describe(waits::Report& report) const = 0;

 protected:
  ~Awaits() = default;
};

/// One request. Borrows it.
class AwaitsRequest final : public Awaits {
 public:
  explicit AwaitsRequest(const Request& request) : request_(request) {}
  void describe(waits::Report& report) const override;

 private:
  const Request& request_;
};

/// A message that a probe waits for: `source` is a rank of the job, or any_source.
class AwaitsMessage final : public Awaits {
 public:
  AwaitsMessage(const Communicator& communicator, int source, int tag)
      : communicator_(communicator), source_(source), tag_(tag) {}
  void describe(waits::Report& report) const override;

 private:
  const Communicator& communicator_;
  int source_;
  int tag_;
};

/// Adds what this request, which is not complete, waits for.
void describe_request(waits::Report& report, const Request& request);
/// The name of the communicator that this process uses with this context; a text that says so if it has none.
std::string name_of_context(std::uint32_t context);

}  // namespace llamada::mpi
