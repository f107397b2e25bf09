#pragma once

namespace llamada::mpi {

/// Asks for huge pages beneath the program's large static arrays, as mpirun does for what malloc gives: large
/// messages are copied between programs' own memory by the kernel, page by page. What has been written before
/// stays as it is. Nothing where GLIBC_TUNABLES has glibc.malloc.hugetlb=0.
void ask_for_huge_static_memory();

}  // namespace llamada::mpi
