#pragma once

#include <cstdint>
#include <string>

/// Where the files are now that a replacement did not find under the names by which its predecessor had
/// opened them: the rank's own renames, links and removals tell.
///
/// Threads: the rank's.
namespace llamada::mpi::interpose {

/// A new file has this number (see file_at). Another one may have had it that was removed just before: the
/// time of birth is coarse.
void note_created(std::uint64_t file);
/// The file with this number had this name when it was opened, or got it by link().
void note_name(std::uint64_t file, int folder, const char* path);
/// A file or a directory was renamed.
void note_rename(int from, const char* old_path, int to, const char* path);
/// The file lost its last name.
void note_removed(std::uint64_t file);

bool is_removed(std::uint64_t file);

/// What stands for the file is no longer all that is in it: it was opened twice, or changed by its name.
void note_changed(std::uint64_t file);
void note_changed(int folder, const char* path);
bool is_changed(std::uint64_t file);

/// Whether a file stands for this one already.
bool has_name(std::uint64_t file);
/// The name under which the file is to be found now; empty if none is known.
std::string name_of(std::uint64_t file);
/// The first name that was noted, for messages.
std::string first_name_of(std::uint64_t file);

}  // namespace llamada::mpi::interpose
