#pragma once

#include <cstdint>

#include "llamada/dcps/instance_handle.hpp"
#include "llamada/dcps/time.hpp"

namespace llamada::dcps {

/// The states by which samples are chosen (DDS 1.4, 2.2.2.5.1.1 to 2.2.2.5.1.4), with the values of the
/// standard's IDL. A mask is the sum of some.
using StateMask = std::uint32_t;

namespace sample_state {
inline constexpr StateMask read = 1;
inline constexpr StateMask not_read = 2;
inline constexpr StateMask any = 0xffff;
}  // namespace sample_state

namespace view_state {
inline constexpr StateMask new_view = 1;
inline constexpr StateMask not_new = 2;
inline constexpr StateMask any = 0xffff;
}  // namespace view_state

namespace instance_state {
inline constexpr StateMask alive = 1;
inline constexpr StateMask not_alive_disposed = 2;
inline constexpr StateMask not_alive_no_writers = 4;
inline constexpr StateMask not_alive = 6;
inline constexpr StateMask any = 0xffff;
}  // namespace instance_state

/// Which samples a read, a take or a condition is about.
struct DataState {
  StateMask sample = sample_state::any;
  StateMask view = view_state::any;
  StateMask instance = instance_state::any;

  bool operator==(const DataState&) const = default;
};

/// What a reader says of a sample (DDS 1.4, 2.2.2.5.5), as it was when the sample was read or taken.
struct SampleInfo {
  StateMask sample_state = sample_state::not_read;
  StateMask view_state = view_state::new_view;
  StateMask instance_state = instance_state::alive;
  /// How often the instance had come to life again when the sample arrived, after a dispose and after the
  /// loss of its last writer.
  std::int32_t disposed_generation_count = 0;
  std::int32_t no_writers_generation_count = 0;
  /// How many samples of the instance follow in the same collection.
  std::int32_t sample_rank = 0;
  /// Generations between this sample and the instance's last in the collection; and its last in the reader.
  std::int32_t generation_rank = 0;
  std::int32_t absolute_generation_rank = 0;
  Timestamp source_timestamp{0};
  Timestamp reception_timestamp{0};
  InstanceHandle instance_handle;
  InstanceHandle publication_handle;
  /// False: there is no data, the sample tells a change of the instance's state.
  bool valid_data = true;
  /// Which one of its writer, from 1; 0 if no one sample of a writer stands behind it.
  std::uint64_t sequence_number = 0;
  /// The number of the coherent set of its publisher or writer; 0: none.
  std::uint32_t coherent_set = 0;
};

}  // namespace llamada::dcps
