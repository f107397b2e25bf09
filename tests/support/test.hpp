#pragma once

// The one way into Catch2, so that a test file does not depend on its version.
#include <catch2/catch.hpp>
