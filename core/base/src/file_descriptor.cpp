#include "llamada/base/file_descriptor.hpp"

#include <cerrno>

namespace llamada {

void FileDescriptor::reset() {
  if (descriptor_ < 0) return;
  int saved = errno;
  ::close(std::exchange(descriptor_, -1));
  errno = saved;
}

}  // namespace llamada
