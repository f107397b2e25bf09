#pragma once

#include "dds/core/types.hpp"
#include "llamada/dcps/sample_info.hpp"

// The states by which samples are chosen (DDS 1.4, 2.2.2.5.1; ISO C++ PSM, 7.5.13).
namespace dds::sub::status {

namespace detail {
/// A set of states of one kind: `a | b`.
template <typename Tag>
class Mask {
 public:
  constexpr Mask() = default;
  constexpr explicit Mask(llamada::dcps::StateMask bits) : bits_(bits) {}
  constexpr llamada::dcps::StateMask native() const { return bits_; }
  constexpr bool operator==(const Mask&) const = default;
  friend constexpr Mask operator|(Mask a, Mask b) { return Mask(a.bits_ | b.bits_); }
  friend constexpr Mask operator&(Mask a, Mask b) { return Mask(a.bits_ & b.bits_); }
  constexpr Mask& operator|=(Mask other) { return *this = *this | other; }
  constexpr Mask& operator&=(Mask other) { return *this = *this & other; }

 private:
  llamada::dcps::StateMask bits_ = 0;
};
}  // namespace detail

struct SampleState : detail::Mask<SampleState> {
  using Mask::Mask;
  constexpr SampleState(Mask mask) : Mask(mask) {}  // NOLINT: implicit by intent
  static constexpr SampleState read() { return SampleState(llamada::dcps::sample_state::read); }
  static constexpr SampleState not_read() { return SampleState(llamada::dcps::sample_state::not_read); }
  static constexpr SampleState any() { return SampleState(llamada::dcps::sample_state::any); }
};

struct ViewState : detail::Mask<ViewState> {
  using Mask::Mask;
  constexpr ViewState(Mask mask) : Mask(mask) {}  // NOLINT: implicit by intent
  static constexpr ViewState new_view() { return ViewState(llamada::dcps::view_state::new_view); }
  static constexpr ViewState not_new_view() { return ViewState(llamada::dcps::view_state::not_new); }
  static constexpr ViewState any() { return ViewState(llamada::dcps::view_state::any); }
};

struct InstanceState : detail::Mask<InstanceState> {
  using Mask::Mask;
  constexpr InstanceState(Mask mask) : Mask(mask) {}  // NOLINT: implicit by intent
  static constexpr InstanceState alive() { return InstanceState(llamada::dcps::instance_state::alive); }
  static constexpr InstanceState not_alive_disposed() {
    return InstanceState(llamada::dcps::instance_state::not_alive_disposed);
  }
  static constexpr InstanceState not_alive_no_writers() {
    return InstanceState(llamada::dcps::instance_state::not_alive_no_writers);
  }
  static constexpr InstanceState not_alive_mask() {
    return InstanceState(llamada::dcps::instance_state::not_alive);
  }
  static constexpr InstanceState any() { return InstanceState(llamada::dcps::instance_state::any); }
};

class DataState {
 public:
  DataState() : DataState(llamada::dcps::DataState{}) {}
  explicit DataState(const llamada::dcps::DataState& native) : native_(native) {}
  // The PSM converts each of the three states implicitly. NOLINTBEGIN(google-explicit-constructor)
  DataState(const SampleState& sample) : DataState() { sample_state(sample); }
  DataState(const ViewState& view) : DataState() { view_state(view); }
  DataState(const InstanceState& instance) : DataState() { instance_state(instance); }
  // NOLINTEND(google-explicit-constructor)
  DataState(const SampleState& sample, const ViewState& view, const InstanceState& instance)
      : native_{sample.native(), view.native(), instance.native()} {}

  static DataState any() { return {}; }
  static DataState new_data() { return {SampleState::not_read(), ViewState::any(), InstanceState::alive()}; }
  static DataState any_data() { return {SampleState::any(), ViewState::any(), InstanceState::alive()}; }
  static DataState new_instance() {
    return {SampleState::any(), ViewState::new_view(), InstanceState::alive()};
  }

  SampleState sample_state() const { return SampleState(native_.sample); }
  ViewState view_state() const { return ViewState(native_.view); }
  InstanceState instance_state() const { return InstanceState(native_.instance); }
  void sample_state(const SampleState& state) { native_.sample = state.native(); }
  void view_state(const ViewState& state) { native_.view = state.native(); }
  void instance_state(const InstanceState& state) { native_.instance = state.native(); }
  DataState& operator<<(const SampleState& state) { return sample_state(state), *this; }
  DataState& operator<<(const ViewState& state) { return view_state(state), *this; }
  DataState& operator<<(const InstanceState& state) { return instance_state(state), *this; }

  const llamada::dcps::DataState& native() const { return native_; }
  bool operator==(const DataState&) const = default;

 private:
  llamada::dcps::DataState native_;
};

}  // namespace dds::sub::status
