#pragma once

#include <compare>
#include <cstdint>

namespace llamada::topics {

/// Names a writer for good: no other writer ever has the same, in no domain and after no restart. (An
/// EndpointId is used again once all processes of a domain have ended.)
struct Guid {
  std::uint64_t participant = 0;  ///< 0: unknown, its participant is of an older release.
  std::uint64_t endpoint = 0;

  auto operator<=>(const Guid&) const = default;
};

/// The writer that wrote a sample first, and the sample's sequence number there.
struct Origin {
  Guid writer;
  std::uint64_t number = 0;

  /// The last sample that a service gives a late reader has this origin and says that nothing is missing.
  static constexpr Origin end_of_past() { return {}; }

  auto operator<=>(const Origin&) const = default;
};

/// A service also tells a late reader what is known of EXCLUSIVE writers, by samples without data and of kind
/// coherent_end. SampleHeader::coherent_set says what: the samples of the origin's writer up to the number
/// were judged, those that are to be heard have come; or the writer writes SampleHeader::instance.
inline constexpr std::uint32_t origin_known = 1;
inline constexpr std::uint32_t origin_claims = 2;

}  // namespace llamada::topics
