#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>

#include "llamada/recording/records.hpp"

namespace llamada::recording {

/// Reads a recording from its beginning to its end. Anybody may have written it: each record is checked by
/// itself, and against those before it. Memory: one record, and no more than the file has bytes.
///
/// Threads: one.
class RecordingReader {
 public:
  /// Of a regular file. Errors: system, invalid_argument (not a regular file), and as below.
  static Result<std::unique_ptr<RecordingReader>> open(const std::string& path);
  /// `name` is for messages. Errors: parse_error (not a recording), unsupported (of another version).
  static Result<std::unique_ptr<RecordingReader>> open(std::unique_ptr<std::istream> bytes, std::string name);

  /// The next record; nothing at the end of the file. The first one is a Start. Errors: parse_error or
  /// unsupported, with the name and the offset of the record; what was read before holds, and more cannot be
  /// read.
  Result<std::optional<Record>> next();

  /// Whether the last record was an End: the recorder has ended in good order.
  bool has_ended() const { return has_ended_; }
  /// Of the next record.
  std::uint64_t offset_bytes() const { return offset_bytes_; }

 private:
  RecordingReader(std::unique_ptr<std::istream> bytes, std::string name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {}

  Status read_file_head();
  Result<std::vector<std::byte>> read_body(std::uint64_t size_bytes);
  std::size_t read(std::span<std::byte> into);
  Status check_order(const Record& record);
  Status check_writer(std::uint32_t number, const char* what) const;

  std::unique_ptr<std::istream> bytes_;
  std::string name_;
  std::uint64_t offset_bytes_ = 0;
  bool has_started_ = false;
  bool has_ended_ = false;
  std::vector<bool> writers_;  // by number - 1: whether it is not gone
};

}  // namespace llamada::recording
