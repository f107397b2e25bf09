#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/image.hpp"
#include "llamada/base/result.hpp"
#include "runtime/runtime.hpp"
#include "world/past_log.hpp"

namespace llamada::mpi::checkpoint {

/// The checkpoints of one rank (docs/decisions/0050-checkpoints.md): all ranks write their registered memory
/// to files of their own, agree that all have done so, and then leave their histories behind. What they send,
/// decide and do from then on lies in other logs and another part of their journals. So a rank that begins
/// anew repeats what it did up to its first checkpoint, takes its memory from the last one, and repeats what
/// follows that.
///
/// Threads: the one that called MPI_Init.
class Course {
 public:
  explicit Course(Runtime& runtime) : runtime_(runtime) {}

  /// Errors: invalid_argument, the first checkpoint has been taken.
  Status add(Region memory);

  /// How it was taken.
  struct Taken {
    bool is_taken = false;
    bool is_restarted = false;  ///< the memory is that of a later one
  };
  /// Collective over MPI_COMM_WORLD. Errors: those of collectives.
  Result<Taken> take();

 private:
  /// Objects of MPI, which are not in an image: they have to be those of the first checkpoint.
  struct Objects {
    std::vector<std::uint64_t> handles;
    std::vector<OpenFile> files;
    std::uint64_t inputs_read = 0;
  };
  Objects objects() const;
  std::string obstacle_in_mpi() const;
  std::string obstacle(const Objects& now) const;
  std::string write(const Objects& now) const;
  void write_again(const Objects& now) const;
  std::string look_for_directory() const;
  bool agrees(const std::function<std::string()>& find_obstacle);
  Result<bool> agree(bool is_written);
  Status restore(std::uint32_t number);
  bool pass(std::uint32_t number, bool is_restarted);
  void give_back_logs();
  void give_back_records();

  Runtime& runtime_;
  std::vector<Region> memory_;
  std::uint32_t number_ = 0;                    // of the last call
  Objects first_;                               // of the first that was taken
  std::vector<std::unique_ptr<PastLog>> past_;  // until all ranks have passed; of before the first for good
  std::uint32_t left_ = 0;                      // the checkpoint behind which it was before the present one
  std::string told_;                            // why one was not taken, last
};

/// The process's, made at the first use.
Course& course();

}  // namespace llamada::mpi::checkpoint
