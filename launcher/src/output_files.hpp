#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/launcher/options.hpp"

namespace llamada::launcher {

/// The files that ranks' output goes to (-outfile-pattern, -errfile-pattern, --output-filename). Two ranks
/// whose pattern gives the same name share the file. Files are made anew by each mpirun, in its working
/// directory, unless the job is resumed.
class OutputFiles {
 public:
  /// `hosts` are those of the ranks; a rank that is not among them is on this one.
  explicit OutputFiles(const Options& options, std::vector<std::string> hosts = {});

  /// Makes the files of all ranks, so that one that says nothing has an empty one.
  Status open_all() { return open_for(0, options_.rank_count); }
  /// The same for ranks that were spawned, on these hosts; none: on this one.
  Status add_ranks(std::uint32_t first, std::uint32_t count, const std::vector<std::string>& hosts);
  /// Of a job that is resumed, before open_all(): so many bytes of each stream stay, by 2 rank + stream. A
  /// file of several streams stays whole.
  void keep(std::map<std::uint64_t, std::uint64_t> kept) { kept_ = std::move(kept); }
  /// Writes to the files of this rank's stream (1 standard output, 2 standard error).
  Status write(std::uint32_t rank, int stream, std::string_view bytes);
  /// Whether mpirun shows the stream, too.
  bool is_shown(int stream) const;

 private:
  Status open_for(std::uint32_t first, std::uint32_t count);
  std::string file_name(std::uint32_t rank, int stream) const;
  std::optional<std::uint64_t> kept_size(const std::string& name) const;

  const Options& options_;
  std::vector<std::string> hosts_;  ///< by rank
  std::map<std::string, FileDescriptor> files_;
  std::optional<std::map<std::uint64_t, std::uint64_t>> kept_;  ///< of a job that is resumed
};

}  // namespace llamada::launcher
