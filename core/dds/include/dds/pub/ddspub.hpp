#pragma once

// The name that the ISO C++ PSM has for this header.

#include "dds/pub/find.hpp"
#include "dds/pub/pub.hpp"
