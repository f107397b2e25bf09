#include "dds/core/types.hpp"

#include <ostream>

#include <fmt/format.h>

#include "dds/core/exception.hpp"
#include "dds/core/status.hpp"

namespace dds::core {

Duration operator/(const Duration& span, std::int64_t divisor) {
  if (divisor == 0) throw InvalidArgumentError("a Duration cannot be divided by 0");
  if (span == Duration::infinite()) return span;
  return divisor == -1 ? Duration() - span : Duration(span.to_chrono() / divisor);
}

std::ostream& operator<<(std::ostream& out, const InstanceHandle& handle) {
  if (handle.is_nil()) return out << "nil";
  return out << fmt::format("{:x}:{:x}", handle.native().high, handle.native().low);
}

namespace status {

namespace {
llamada::dcps::StatusMask mask_of(std::size_t bit) {
  if (bit >= StatusMask().size())
    throw InvalidArgumentError(
        fmt::format("a StatusMask has the bits 0 to {}, there is no bit {}", StatusMask().size() - 1, bit));
  return llamada::dcps::StatusMask{1} << bit;
}
}  // namespace

bool StatusMask::test(std::size_t bit) const { return (bits_ & mask_of(bit)) != 0; }

StatusMask& StatusMask::set(std::size_t bit, bool value) {
  bits_ = value ? bits_ | mask_of(bit) : bits_ & ~mask_of(bit);
  return *this;
}

}  // namespace status

}  // namespace dds::core
