#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::store {

/// An open file; closed with its owner. sync() may run in a second thread at the same time as the others.
class File {
 public:
  virtual ~File() = default;
  /// Reads from this place; fewer bytes than asked for only at the end of the file. The number of bytes.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const = 0;
  /// Writes all of it, or says why not; then an unknown part is written.
  virtual Status write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// fdatasync(). After an error nothing is known of what was written since the last success, and a second
  /// call may succeed without it.
  virtual Status sync() = 0;
  /// Makes the file at least this long, with room on the disk; what was not written reads as zeros. Errors:
  /// out_of_resources (the disk is full), system.
  virtual Status allocate(std::uint64_t bytes) = 0;
  virtual Status truncate(std::uint64_t bytes) = 0;
  virtual Result<std::uint64_t> size() const = 0;
};

/// What a store of segments needs of a file system: one directory.
class Files {
 public:
  enum class Open { to_read, to_write, to_create };

  virtual ~Files() = default;
  /// A file of the directory. to_create: a new one. Errors: not_found, already_exists, out_of_resources,
  /// system.
  virtual Result<std::unique_ptr<File>> open(const std::string& name, Open how) = 0;
  virtual Result<std::vector<std::string>> list() const = 0;
  virtual Status remove(const std::string& name) = 0;
  /// Makes durable which files there are.
  virtual Status sync_directory() = 0;
  /// Takes the lock of the directory, until the end of this object. Errors: already_exists (somebody else
  /// has it), system.
  virtual Status lock() = 0;
  /// How messages name the directory.
  virtual std::string name() const = 0;
};

/// The files of a directory. With `create` it is made, with mode 0700, if it is not there; else the error is
/// not_found.
Result<std::unique_ptr<Files>> open_files(const std::string& directory, bool create);

}  // namespace llamada::store
