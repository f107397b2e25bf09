#pragma once

// The name that the ISO C++ PSM has for this header.

#include "dds/core/cond.hpp"
#include "dds/sub/find.hpp"
#include "dds/sub/manipulators.hpp"
#include "dds/sub/sub.hpp"
