#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

// A replacement repeats what its predecessor did only if it runs the same code: the same files, unchanged.

namespace llamada::launcher {

/// What tells one content of a file from another without reading it.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  std::int64_t size_bytes = 0, modified_ns = 0;

  static FileIdentity of(const struct stat& found);
  bool operator==(const FileIdentity&) const = default;
};

/// The files whose code a process has mapped (program and libraries), by their paths.
class MappedCode {
 public:
  /// As the process has them now. Empty when it is gone, or may not be looked at.
  static MappedCode of(pid_t pid);

  /// Adds those of `later` that are not here yet: libraries that have been opened since.
  void add(const MappedCode& later);
  std::vector<std::string> paths() const;
  /// The path of a file that `other` has mapped, too, but with another identity.
  std::optional<std::string> changed_in(const MappedCode& other) const;

 private:
  std::map<std::string, FileIdentity> files_;
};

/// "PATH\tSIZE CRC32C": equal lines name files of one content. Nothing: it cannot be read.
std::optional<std::string> describe_code(const std::string& path);

/// "x86_64 GenuineIntel Xeon …": programs may do otherwise on another one.
std::string describe_processor();

/// A program's file, held open, so that a later start executes the same file even if another has been moved
/// over its name.
class KeptProgram {
 public:
  /// `path` is absolute. A file that cannot be read is not held; path_to_execute() then gives its path.
  static KeptProgram open(const std::string& path);

  /// What to execute: the path itself while the file behind it is the one that was held; else, if that file
  /// is unchanged, its descriptor, by a name as long as the path (it lies on the new process's stack).
  /// Errors: not_found when the file was overwritten, or when it is a script or has a very short path.
  Result<std::string> path_to_execute() const;

 private:
  bool is_unchanged() const;

  std::string path_;
  FileDescriptor file_;
  FileIdentity identity_;
  bool is_elf_ = false;
};

}  // namespace llamada::launcher
