#pragma once

/// What a program does with the numbers of descriptors: dup, dup2, dup3, close, closefrom and close_range.
/// The library's own descriptors make room where the program wants their numbers, and stay open when it
/// closes numbers that it does not know.
namespace llamada::mpi::interpose {

/// To be called when `copy` has become a copy of a descriptor: what is written to the copy is written to the
/// file. Gives `copy`; nothing happens if it is negative.
int follow_copy(int descriptor, int copy, const void* caller);

}  // namespace llamada::mpi::interpose
