#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/open_files.hpp"
#include "coll/context_ids.hpp"
#include "llamada/base/result.hpp"
#include "replay/determinants.hpp"
#include "world/world.hpp"

namespace llamada::mpi::checkpoint {

/// What of the library's own state belongs to a checkpoint of one rank.
struct ImageState {
  std::uint32_t number = 0;
  std::uint64_t calls = 0;  ///< MPI calls that the rank has begun
  WrittenOutput written{};
  std::vector<replay::Determinants::ToldClock> clocks;
  coll::ContextIds::Seen contexts;
  std::vector<OpenFile> files;
};

using Region = std::span<std::byte>;

/// The file of a rank's checkpoint in the job's directory for them.
std::string image_path(const std::string& directory, std::uint32_t number, int rank);

/// Writes the state and the memory to a file, durably. Errors: those of the system, with the file's name.
Status write_image(const std::string& path, const ImageState& state, std::span<const Region> memory);

/// Reads what write_image() has written. The memory is undefined after an error. Errors: those of the
/// system; parse_error, the file is damaged, or of a program that had registered other memory.
Result<ImageState> read_image(const std::string& path, std::span<const Region> memory);

/// Nothing happens if there is none.
void remove_image(const std::string& directory, std::uint32_t number, int rank);
/// Those of this rank with a lower number, but for the last `kept_count` of them.
void remove_images_before(const std::string& directory, std::uint32_t number, int rank,
                          std::size_t kept_count);

}  // namespace llamada::mpi::checkpoint
