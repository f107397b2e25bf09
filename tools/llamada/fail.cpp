#include "fail.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace llamada::tools {

int fail(const Error& error) {
  fmt::print(stderr, "llamada: {}\n", error.text());
  return 1;
}

}  // namespace llamada::tools
