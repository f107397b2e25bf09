#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// The directory in which the ranks of one job write their checkpoints. It is there from the first one on.
class CheckpointDirectory {
 public:
  CheckpointDirectory() = default;
  /// `path` ends in checkpoint_suffix; empty: there is none.
  explicit CheckpointDirectory(std::string path) : path_(std::move(path)) {}

  /// Makes it, unless it is there, and keeps others from removing it. Also removes those of jobs that are
  /// gone. Errors: those of the system.
  Status make();
  /// The job has come to its end.
  void remove();

  /// The last checkpoint up to `last` of which the files of all ranks are there; 0: of none. Their contents
  /// are not looked at.
  std::uint32_t newest_whole(std::uint32_t last, std::size_t rank_count) const;
  /// Removes the files of all ranks for this checkpoint. Whether there were any.
  bool remove_checkpoint(std::uint32_t number) const;

 private:
  std::string path_;
  FileDescriptor lock_;
};

/// Behind the name of the job's directory (job_directory.hpp), which need not be there.
inline constexpr const char* checkpoint_suffix = ".checkpoints";

/// Those of the job that is, or was, kept in `directory`.
void remove_checkpoints_of(const std::string& directory);

}  // namespace llamada::launcher
