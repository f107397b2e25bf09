#pragma once

#include <string>
#include <string_view>

namespace llamada::launcher {

/// The pattern with %r for the rank, %h for the host (empty: this one), %g and %p (the process group and the
/// proxy: there is one of each) for 0, and %% for a percent sign; other letters stay as they are. As
/// mpiexec's of MPICH.
std::string fill_pattern(std::string_view pattern, std::string_view rank, std::string_view host = {});

}  // namespace llamada::launcher
