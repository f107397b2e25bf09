#include "llamada/launcher/last_word.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "process_watch.hpp"

namespace llamada::launcher {

Result<LastWord> LastWord::make() {
  FileDescriptor descriptor(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!descriptor) return system_failure("eventfd");
  return LastWord(std::move(descriptor));
}

void LastWord::say(std::string_view text) const {
  eventfd_t count = 0;
  // Whoever reads the 1 leaves a 0, which cannot be read.
  if (eventfd_read(descriptor_.get(), &count) == 0) launcher::say(text);
}

LastWord LastWord::copy() const {
  return LastWord(FileDescriptor(fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 3)));
}

}  // namespace llamada::launcher
