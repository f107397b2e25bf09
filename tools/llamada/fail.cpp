#include "fail.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace llamada::tools {

int fail(const Error& error) {
  fmt::print(stderr, "llamada: {}\n", error.text());
  return 1;
}

int refuse(int exit_code, const std::string& why) {
  fmt::print(stderr, "llamada: {}\n", why);
  return exit_code;
}

}  // namespace llamada::tools
