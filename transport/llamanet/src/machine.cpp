#include "machine.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <span>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/siphash.hpp"

namespace llamada::llamanet {

std::uint64_t this_machine() {
  const FileDescriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  std::array<std::byte, 64> text{};
  const ssize_t size_bytes = ::read(file.get(), text.data(), text.size());
  if (size_bytes <= 0) return 0;
  return siphash_2_4(std::span(text).first(static_cast<std::size_t>(size_bytes)), {});
}

}  // namespace llamada::llamanet
