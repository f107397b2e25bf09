/* Large memory of a program, whether from malloc or static, is asked to lie in huge pages (the flag "hg" in
 * /proc/self/smaps) where the kernel has any; "huge_pages off": none. */

#include "check.h"

#define BYTES ((size_t)16 << 20)

static char array[16 << 20];

/* Of the mapping that holds this address. */
static int asks_for_huge_pages(const void* address) {
  char line[1024];
  int is_here = 0, asks = 0;
  FILE* maps = fopen("/proc/self/smaps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
      is_here = begin <= (uintptr_t)address && (uintptr_t)address < end;
    else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
      asks = strstr(line, " hg") != NULL;
  }
  if (maps) fclose(maps);
  return asks;
}

/* What the system does is one of always, madvise and never. */
static int system_has(const char* setting) {
  char line[100] = "";
  FILE* file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
  if (file && !fgets(line, sizeof line, file)) line[0] = 0;
  if (file) fclose(file);
  return strstr(line, setting) != NULL;
}

int main(int argc, char** argv) {
  begin("huge_pages", &argc, &argv);
  const int off = argc > 1 && strcmp(argv[1], "off") == 0;
  char* memory = malloc(BYTES);
  memset(memory, 1, BYTES);
  memset(array, 1, BYTES);
  if (system_has("madvise") && is_strict()) {
    CHECK(asks_for_huge_pages(array + BYTES / 2) == !off);
#ifndef __SANITIZE_ADDRESS__ /* has a malloc of its own */
    if (system_has("[madvise]")) CHECK(asks_for_huge_pages(memory + BYTES / 2) == !off);
#endif
  }
  free(memory);
  return finish();
}
