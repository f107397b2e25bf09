#pragma once

// The whole API: DDS 1.4 with the idioms of the ISO/IEC C++ PSM. docs/guide.md begins with a program.

#include "dds/core/cond.hpp"
#include "dds/core/qos_provider.hpp"
#include "dds/domain/domain.hpp"
#include "dds/domain/find.hpp"
#include "dds/domain/listener.hpp"
#include "dds/pub/find.hpp"
#include "dds/pub/pub.hpp"
#include "dds/sub/find.hpp"
#include "dds/sub/manipulators.hpp"
#include "dds/sub/sub.hpp"
#include "dds/topic/builtin.hpp"
#include "dds/topic/find.hpp"
#include "dds/topic/topic.hpp"
