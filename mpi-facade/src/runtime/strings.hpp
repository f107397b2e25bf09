#pragma once

#include <mpi.h>

#include <cstring>
#include <string>
#include <string_view>

namespace llamada::mpi {

/// Copies a text with its NUL to the program; the length is without it.
inline void give_string(std::string_view text, char* out, int* length) {
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  *length = static_cast<int>(text.size());
}

/// A name of an object as it is kept: cut to what MPI_MAX_OBJECT_NAME has room for.
inline std::string object_name(const char* name) { return {name, strnlen(name, MPI_MAX_OBJECT_NAME - 1)}; }

}  // namespace llamada::mpi
