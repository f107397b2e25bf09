#pragma once

// The format is for tools, too.
#include "llamada/mpi/message_record.hpp"
