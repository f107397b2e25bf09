#pragma once

// The name that the ISO C++ PSM has for this header.

#include "dds/domain/domain.hpp"
#include "dds/domain/find.hpp"
#include "dds/domain/listener.hpp"
