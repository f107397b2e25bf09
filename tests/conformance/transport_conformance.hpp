#pragma once

// What every implementation of topics::Transport must do, as test cases. Include it in one source per
// implementation, after defining what conformance_peers.hpp says.

#include "discovery_conformance.hpp"
#include "log_conformance.hpp"
#include "slot_conformance.hpp"
