#pragma once

/// What libc and the dynamic linker leave on the stack and in the vector registers before main() has words
/// that are others in each process (libc's guard words among them), and main() finds it where its variables
/// are: a program that sends an array of which it has filled a part sends it, too. A replacement has to send
/// the same bytes as its predecessor, so ranks under rank_replacement REBUILD begin with zeros on the stack,
/// and with vector registers that are the same in each process.
namespace llamada::mpi::interpose {

/// In a constructor, the last thing: what is called before main() after it is as before. Calls malloc() once,
/// for that reads files and compares strings when it is called first.
void clear_what_is_left_for_main();

}  // namespace llamada::mpi::interpose
