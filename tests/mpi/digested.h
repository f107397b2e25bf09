/* A program whose output says at its end what the FNV-1a of all of it is. */
#pragma once

#include <stdarg.h>
#include <unistd.h>

#include "check.h"

#define DIGEST_BEGIN 2166136261u

/* Prints to standard output, appends the same to the file, and adds it to the digest. */
static void print_digested(uint32_t* digest, int appended, const char* format, ...) {
  char line[200];
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  for (int i = 0; i < length; i++) *digest = (*digest ^ (unsigned char)line[i]) * 16777619u;
  CHECK(fwrite(line, 1, (size_t)length, stdout) == (size_t)length && fflush(stdout) == 0);
  CHECK(write(appended, line, (size_t)length) == length);
}
