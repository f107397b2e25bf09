#include "llamada/base/file_descriptor.hpp"

#include <fcntl.h>

#include <cerrno>

namespace llamada {

void FileDescriptor::reset() {
  if (descriptor_ < 0) return;
  int saved = errno;
  ::close(std::exchange(descriptor_, -1));
  errno = saved;
}

FileDescriptor moved_up(FileDescriptor descriptor) {
  FileDescriptor moved(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, moved_descriptor_min));
  return moved ? std::move(moved) : std::move(descriptor);
}

}  // namespace llamada
