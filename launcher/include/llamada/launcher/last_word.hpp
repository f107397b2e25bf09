#pragma once

#include <string_view>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// Who of mpirun, its guardian and llamanetd says why a job has ended before its time: whoever comes first,
/// once. Shared by inheriting its descriptor.
class LastWord {
 public:
  static Result<LastWord> make();
  explicit LastWord(FileDescriptor descriptor) : descriptor_(std::move(descriptor)) {}

  /// Writes the text to standard error, unless another process has had the last word.
  void say(std::string_view text) const;
  /// The same one for another owner in this process.
  LastWord copy() const;
  int descriptor() const { return descriptor_.get(); }

 private:
  FileDescriptor descriptor_;
};

}  // namespace llamada::launcher
