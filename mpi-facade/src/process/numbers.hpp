#pragma once

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

// Numbers in what a launcher says.

namespace llamada::mpi {

/// Whether the text is a number and nothing else.
template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// The same of the value of an environment variable.
template <typename Number>
bool read_variable(const char* name, Number& number) {
  const char* const text = std::getenv(name);
  return text != nullptr && read_number(text, number);
}

}  // namespace llamada::mpi
