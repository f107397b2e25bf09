#pragma once

// The one way into Catch2, so that a test file does not depend on its version.
#include <catch2/catch.hpp>

#include <cstdio>

namespace llamada {

/// Says that this machine cannot run a test, or a part of it, and why. ./dev check lists these lines at its
/// end.
inline void say_skipped(const char* what_and_why) { std::printf("SKIPPED: %s\n", what_and_why); }

}  // namespace llamada
