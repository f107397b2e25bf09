#pragma once

#include "llamada/base/result.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/llamanet/shared_memory.hpp"

namespace llamada::llamanet {

/// A driver's page, mapped read-only. Move-only; of a default one nothing may be asked.
class MappedPage {
 public:
  MappedPage() = default;
  /// Errors: parse_error (no page that this version of Llamada knows), those of the system.
  static Result<MappedPage> map(int file);

  const DriverPage& operator*() const { return *reinterpret_cast<const DriverPage*>(mapping_.data()); }
  const DriverPage* operator->() const { return &**this; }
  const PageSlot& slot(std::uint32_t slot) const { return page_slots(&**this)[slot]; }

 private:
  Mapping mapping_;
};

}  // namespace llamada::llamanet
