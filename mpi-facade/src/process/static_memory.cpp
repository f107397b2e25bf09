#include "process/static_memory.hpp"

#include <link.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::mpi {
namespace {

/// Shorter memory need not hold a huge page.
constexpr std::uintptr_t bytes_min = 4 << 20;

/// Of the program itself, which comes first: what lies behind the contents of its file.
int ask(dl_phdr_info* object, std::size_t, void*) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    const std::uintptr_t begin = rounded_up(start + segment.p_filesz, page_bytes);
    const std::uintptr_t end = (start + segment.p_memsz) / page_bytes * page_bytes;
    if (end >= begin + bytes_min) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
  return 1;
}

}  // namespace

void ask_for_huge_static_memory() {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  if (tunables != nullptr && std::strstr(tunables, "glibc.malloc.hugetlb=0") != nullptr) return;
  dl_iterate_phdr(&ask, nullptr);
}

}  // namespace llamada::mpi
