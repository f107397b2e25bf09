#pragma once

// The log: what one writer has published, in order, in its arena, with any number of readers. It is the
// transport's buffer and the history at once: keeping a sample means only not yet reusing its memory.
// Byte layout: docs/internals/arena.md.

#include "llamada/topics/arena_writer.hpp"
#include "llamada/topics/log_reader.hpp"
#include "llamada/topics/log_writer.hpp"
#include "llamada/topics/memory.hpp"
