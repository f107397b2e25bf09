#pragma once

#include "llamada/links/udp_link.hpp"

namespace llamada::llamanet {

/// Of the two links that each rank of a job on several nodes has.
inline const links::UdpOptions small_link_options{};
inline const links::UdpOptions bulk_link_options{.has_trains = true};

}  // namespace llamada::llamanet
