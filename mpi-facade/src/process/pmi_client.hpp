#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "llamada/base/result.hpp"
#include "process/pmi_lines.hpp"

namespace llamada::mpi {

/// The process manager that has started this process, over the socket of PMI_FD (PMI-1). One request at a
/// time. All errors: parse_error for what is no answer, closed when the manager has ended, those of the
/// system.
///
/// Threads: any one.
class PmiClient {
 public:
  /// Whether the request may be waited for; false ends the wait with would_block.
  using MayWait = std::function<bool()>;

  /// Says hello. The descriptor stays the caller's.
  static Result<PmiClient> open(int descriptor);

  /// Neither has blanks in it.
  Status put(std::string_view key, std::string_view value);
  /// What any process has put before a barrier that is over. Errors: not_found.
  Result<std::string> get(std::string_view key);
  std::size_t value_bytes_max() const { return value_bytes_max_; }

  /// Returns when all processes have called it. `may_wait` is asked now and then.
  Status barrier(const MayWait& may_wait);
  /// The same in two steps.
  Status enter_barrier() { return send(pmi_line("barrier_in", {})); }
  /// Whether it is over: waits at most so long.
  Result<bool> look_at_barrier(std::chrono::milliseconds longest);

  /// The manager ends all processes of the job.
  void abort(int exit_code);
  /// Nothing more follows.
  Status finish();

 private:
  using Fields = std::map<std::string, std::string, std::less<>>;
  explicit PmiClient(int descriptor) : descriptor_(descriptor) {}

  Result<Fields> ask(std::string_view command, const std::vector<PmiField>& fields, std::string_view answer);
  Status send(std::string_view line) const;
  Result<std::string> read_line();
  Result<Fields> take(std::string_view expected);

  int descriptor_;
  std::string read_;   ///< what has come behind the last line
  std::string space_;  ///< the name of the job's key-value space
  std::size_t value_bytes_max_ = 0;
};

}  // namespace llamada::mpi
