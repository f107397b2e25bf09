#pragma once

#include <cstddef>
#include <cstdint>

#include "llamada/base/name_table.hpp"
#include "llamada/llamanet/protocol.hpp"

namespace llamada::llamanet {

/// What applications have published under a name, until they withdraw it. Ports go with their application.
class Names {
 public:
  /// Names of one driver, over all spaces.
  static constexpr std::size_t count_max = NameTable::count_max;

  /// Errors, in Named::code: already_exists, not_found, out_of_resources.
  Named handle(std::uint32_t slot, const Name& request);
  /// The application of this slot is gone: nobody reaches it by its ports any more.
  void application_gone(std::uint32_t slot);

 private:
  NameTable table_;
};

}  // namespace llamada::llamanet
