#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llamada/launcher/options.hpp"

namespace llamada::launcher {

/// What an option does with its values.
using Apply = Status (*)(Options&, const std::vector<std::string>& values);

/// One option of mpirun. Names stand without their dashes: "-np" and "--np" are the same.
struct Spec {
  std::vector<std::string_view> names;
  std::size_t value_count;
  Apply apply;
  bool is_application_file = false;  ///< its value is a file with the programs of the job
};

/// Null when there is no such option.
const Spec* find_spec(std::string_view name);

}  // namespace llamada::launcher
