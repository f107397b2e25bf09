#pragma once

#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/recording/records.hpp"

namespace llamada::recording {

/// Writes a recording. What a killed writer leaves can be read up to the last record that was flushed.
///
/// Threads: one.
class RecordingWriter {
 public:
  /// Replaces a file that is there. Errors: system.
  static Result<RecordingWriter> create(const std::string& path, const Start& start);

  /// Errors: system (the disk is full, ...); then the file ends with its last whole record, if it can be cut
  /// there, and nothing more may be added.
  Status add(const Record& record);
  Status add(const Sample& sample, std::span<const std::byte> data);
  /// Gives the file what was added. Errors: as add().
  Status flush();
  /// Adds the end, flushes and closes. Errors: as add().
  Status end(const End& end);

 private:
  RecordingWriter(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Status append(std::vector<std::byte> record);
  Status write_all(std::span<const std::byte> bytes);

  FileDescriptor file_;
  std::string path_;
  std::vector<std::byte> pending_;   // whole records
  std::uint64_t written_bytes_ = 0;  // whole records that the file has
};

}  // namespace llamada::recording
