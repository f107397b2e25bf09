#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "object/datatype.hpp"
#include "object/reference.hpp"

namespace llamada::mpi::io {

/// `length` bytes of a file, from byte `offset` on.
struct FileRun {
  std::uint64_t offset = 0;
  std::size_t length = 0;
  std::uint64_t end() const { return offset + length; }
  bool operator==(const FileRun&) const = default;
};

/// What a process sees of a file (MPI 3.1, 13.3): from byte `displacement` on the file is tiled with file
/// types, and the bytes that they cover, in their order, are the *stream*: what is read and written.
/// Positions in the stream are in bytes. The types are those of the file's representation of data.
class View {
 public:
  /// The whole file as bytes.
  View() = default;
  /// The extents and displacements of `file_type` are not negative.
  View(std::uint64_t displacement, std::size_t etype_bytes, Reference<Datatype> file_type);

  std::uint64_t displacement() const { return displacement_; }
  std::size_t etype_bytes() const { return etype_bytes_; }
  /// Whether the stream is one piece of the file.
  bool is_contiguous() const { return !file_type_; }
  /// Whether the stream goes through the file from its beginning to its end, as the standard wants it.
  bool is_ordered() const { return ordered_; }
  /// Whether the view shows nothing of the file.
  bool is_empty() const { return file_type_ && file_type_->size() == 0; }

  /// Where byte `position` of the stream lies. Not of an empty view.
  std::uint64_t file_offset(std::uint64_t position) const;
  /// How many bytes of the stream lie before byte `file_offset` of the file.
  std::uint64_t bytes_before(std::uint64_t file_offset) const;

 private:
  friend class RunCursor;
  std::uint64_t displacement_ = 0;
  std::size_t etype_bytes_ = 1;
  bool ordered_ = true;
  Reference<Datatype> file_type_;  ///< Null: bytes without gaps.
};

/// Walks over the runs of the file that bytes [position, position + bytes) of a view's stream lie in, in the
/// order of the stream; adjacent bytes are one run.
class RunCursor {
 public:
  RunCursor(const View& view, std::uint64_t position, std::uint64_t bytes);

  /// The run that the cursor stands at, what is left of it; nothing at the end.
  const std::optional<FileRun>& current() const { return current_; }
  /// Goes on by so many bytes, at most the length of the current run.
  void advance(std::size_t bytes);

 private:
  void find_next();
  FileRun block() const;
  void next_block();

  const View& view_;
  std::uint64_t left_;  // bytes behind current_
  std::optional<FileRun> current_;
  // The next block: of which tile, run and repetition, and how much of it is behind.
  std::uint64_t tile_ = 0;
  std::size_t run_ = 0;
  std::size_t repetition_ = 0;
  std::size_t within_ = 0;
};

}  // namespace llamada::mpi::io
