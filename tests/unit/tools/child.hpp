#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::test {

/// A process of a test, which ends when its standard input does; at the latest with this object.
class Child {
 public:
  /// Returns when it has said "ready" on its standard output. Aborts the test's process if it never does.
  explicit Child(std::vector<std::string> arguments);
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;

  /// Reads what it says until it has said this line; false if it does not within a minute.
  bool says(const std::string& line);

 private:
  pid_t pid_ = 0;
  FileDescriptor input_;
  FileDescriptor output_;
  std::string said_;  // the beginning of a line
  std::vector<std::string> arguments_;
};

}  // namespace llamada::test
