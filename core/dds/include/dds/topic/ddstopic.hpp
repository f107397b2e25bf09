#pragma once

// The name that the ISO C++ PSM has for this header.

#include "dds/topic/builtin.hpp"
#include "dds/topic/find.hpp"
#include "dds/topic/instance.hpp"
#include "dds/topic/topic.hpp"
