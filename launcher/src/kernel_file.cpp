#include "kernel_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::launcher {

bool read_kernel_file(const std::string& path, std::string& text) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  text.clear();
  char part[4096];
  ssize_t count;
  while ((count = read(file.get(), part, sizeof part)) > 0)
    text.append(part, static_cast<std::size_t>(count));
  return count == 0;
}

}  // namespace llamada::launcher
