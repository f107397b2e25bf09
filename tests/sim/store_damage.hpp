#pragma once

#include "simulated_files.hpp"
#include "store_model.hpp"

namespace llamada::sim {

/// What this flip may destroy of a store, judged by the format: the disk is as it was before. `whole_batch`:
/// a batch that is damaged and whose sync fails, too, is lost as a whole.
StoreDamage damage_of(test::SimulatedDisk& disk, const test::SimulatedDisk::Flip& flip, bool whole_batch);

/// The id of a store, as its files tell it.
class StoreName {
 public:
  /// Before anything is damaged.
  void remember(const test::SimulatedDisk& disk);
  /// Neither the file `store` nor a header of a segment has it any longer, and there are segments.
  bool is_lost(const test::SimulatedDisk& disk) const;
  /// Damages it wherever it is.
  void lose(test::SimulatedDisk& disk, Random& random);
  /// As a person who has a copy of the file.
  void restore(test::SimulatedDisk& disk);
  bool is_back() const { return is_back_; }

 private:
  std::vector<std::byte> header_;
  bool is_back_ = false;
};

}  // namespace llamada::sim
