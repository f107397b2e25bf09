#pragma once

// The name that the ISO C++ PSM has for this header.

#include "dds/core/cond.hpp"
#include "dds/core/entity.hpp"
#include "dds/core/qos_provider.hpp"
