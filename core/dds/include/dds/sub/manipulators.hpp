#pragma once

#include "dds/sub/sub.hpp"

// Manipulators for `reader >> … >> samples` (ISO C++ PSM, 7.5.13): each calls the method of its name of a
// DataReader<T>::Selector. Only the last, a LoanedSamples<T>, reads or takes.
namespace dds::sub {

namespace detail {
struct Mode {
  bool takes = false;
  template <typename Selector>
  requires requires(Selector& selector, bool takes) { selector.mode(takes); }
  void operator()(Selector& selector) const { selector.mode(takes); }
};
}  // namespace detail

inline constexpr detail::Mode read{false};
inline constexpr detail::Mode take{true};

inline auto max_samples(std::int32_t count) {
  return [count](auto& selector) { selector.max_samples(count); };
}
inline auto state(const status::DataState& state) {
  return [state](auto& selector) { selector.state(state); };
}
inline auto instance(const core::InstanceHandle& instance) {
  return [instance](auto& selector) { selector.instance(instance); };
}
inline auto next_instance(const core::InstanceHandle& instance) {
  return [instance](auto& selector) { selector.next_instance(instance); };
}
inline auto content(const Query& query) {
  return [query](auto& selector) { selector.content(query); };
}
/// A ReadCondition or a QueryCondition.
template <typename ReadCondition>
auto condition(const ReadCondition& condition) {
  return [condition](auto& selector) { selector.condition(condition); };
}

}  // namespace dds::sub
