#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "llamada/base/random.hpp"
#include "llamada/store/files.hpp"

namespace llamada::test {

/// A disk in memory that loses what was not synced, as a seed says: in pieces of 512 bytes, each old or new.
/// It outlives the stores on it. A call that "dies" has done a part of its work; from then on all calls fail,
/// until the disk is started again.
class SimulatedDisk {
 public:
  explicit SimulatedDisk(std::uint64_t seed) : random(seed) {}

  struct Inode {
    std::vector<std::byte> now, durable;
    std::set<std::size_t> dirty;  ///< Pieces of `now` that a sync would write.
  };
  using Entries = std::map<std::string, std::shared_ptr<Inode>>;
  static constexpr std::size_t piece_bytes = 512;

  /// The next of these calls fails, and does a part of its work.
  bool fails_write = false, fails_sync = false;
  /// Dies at so many calls from now; 0: never.
  std::uint64_t dies_in = 0;
  std::uint64_t capacity_bytes = std::uint64_t{1} << 30;

  bool is_dead() const { return dead_; }
  std::uint64_t used_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, inode] : entries) bytes += inode->now.size();
    return bytes;
  }

  /// The process dies; the kernel's memory stays.
  void restart() {
    dead_ = false;
    dies_in = 0;
    fails_write = fails_sync = false;
  }
  /// The machine dies.
  void lose_power() {
    Entries all = durable_entries;
    for (const auto& [name, inode] : entries)
      if (!durable_entries.contains(name) && random.chance(1, 2)) all[name] = inode;
    std::erase_if(all,
                  [&](const auto& each) { return !entries.contains(each.first) && random.chance(1, 2); });
    for (const auto& [name, inode] : all) lose_pieces(*inode);
    entries = durable_entries = all;
    restart();
  }
  /// One bit of a file that has any; false if there is none.
  bool flip() {
    std::vector<Inode*> inodes;
    for (const auto& [name, inode] : entries)
      if (!inode->durable.empty()) inodes.push_back(inode.get());
    if (inodes.empty()) return false;
    Inode& inode = *inodes[random.below(inodes.size())];
    // Most of a file is zeros that nobody reads.
    std::size_t at = random.below(inode.durable.size());
    for (int tries = 0; tries < 50 && inode.durable[at] == std::byte{0}; ++tries)
      at = random.below(inode.durable.size());
    const auto bit = static_cast<std::byte>(1U << random.below(8));
    inode.durable[at] ^= bit;
    if (at < inode.now.size()) inode.now[at] = inode.durable[at];
    return true;
  }

  /// At the beginning of each call; false if it must fail.
  bool may_go_on() {
    if (dead_) return false;
    return dies_in == 0 || --dies_in > 0 || !(dead_ = true);
  }

  Random random;
  Entries entries, durable_entries;

 private:
  void lose_pieces(Inode& inode) {
    std::vector<std::byte> left(random.chance(1, 2) ? inode.now.size() : inode.durable.size());
    for (std::size_t piece = 0; piece * piece_bytes < left.size(); ++piece) {
      const auto& from = inode.dirty.contains(piece) && random.chance(1, 2) ? inode.now : inode.durable;
      for (std::size_t at = piece * piece_bytes; at < std::min((piece + 1) * piece_bytes, left.size()); ++at)
        left[at] = at < from.size() ? from[at] : std::byte{0};
    }
    inode.now = inode.durable = left;
    inode.dirty.clear();
  }

  bool dead_ = false;
};

class SimulatedFile final : public store::File {
 public:
  SimulatedFile(SimulatedDisk& disk, std::shared_ptr<SimulatedDisk::Inode> inode)
      : disk_(disk), inode_(std::move(inode)) {}

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (!disk_.may_go_on()) return failure(Errc::system, "the disk is dead");
    const auto& bytes = inode_->now;
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t count = std::min<std::uint64_t>(into.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  }

  Status write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (disk_.is_dead()) return failure(Errc::system, "the disk is dead");
    const bool goes_on = disk_.may_go_on() && !std::exchange(disk_.fails_write, false);
    if (!goes_on) bytes = bytes.first(part_of(offset, bytes.size()));
    put(offset, bytes);
    if (!goes_on) return failure(Errc::system, "an input/output error");
    return {};
  }

  Status sync() override {
    if (disk_.is_dead()) return failure(Errc::system, "the disk is dead");
    if (disk_.may_go_on() && !std::exchange(disk_.fails_sync, false)) {
      inode_->durable = inode_->now;
      inode_->dirty.clear();
      return {};
    }
    // Of each piece nobody knows whether it is on the disk, and no later call will write it.
    inode_->durable.resize(inode_->now.size());
    const bool forgets = disk_.random.chance(1, 2);
    for (const std::size_t piece : inode_->dirty) {
      const std::size_t begin = piece * SimulatedDisk::piece_bytes;
      const std::size_t end = std::min(begin + SimulatedDisk::piece_bytes, inode_->now.size());
      const bool written = disk_.random.chance(1, 2);
      for (std::size_t at = begin; at < end; ++at) {
        if (written) inode_->durable[at] = inode_->now[at];
        if (forgets) inode_->now[at] = inode_->durable[at];
      }
    }
    if (!disk_.is_dead()) inode_->dirty.clear();
    return failure(Errc::system, "an input/output error");
  }

  Status allocate(std::uint64_t bytes) override {
    if (!disk_.may_go_on()) return failure(Errc::system, "the disk is dead");
    if (bytes <= inode_->now.size()) return {};
    if (disk_.used_bytes() - inode_->now.size() + bytes > disk_.capacity_bytes)
      return failure(Errc::out_of_resources, "the disk is full");
    inode_->now.resize(bytes);
    return {};
  }

  Status truncate(std::uint64_t bytes) override {
    if (!disk_.may_go_on()) return failure(Errc::system, "the disk is dead");
    inode_->now.resize(bytes);
    // What is written there later lies upon zeros.
    if (inode_->durable.size() > bytes)
      for (std::size_t piece = bytes / SimulatedDisk::piece_bytes;
           piece * SimulatedDisk::piece_bytes < inode_->durable.size(); ++piece)
        inode_->dirty.insert(piece);
    return {};
  }

  Result<std::uint64_t> size() const override { return inode_->now.size(); }

 private:
  /// How much of a write is done that is not done wholly: up to the end of a piece.
  std::size_t part_of(std::uint64_t offset, std::size_t bytes) {
    const std::uint64_t end =
        (offset + disk_.random.below(bytes + 1)) / SimulatedDisk::piece_bytes * SimulatedDisk::piece_bytes;
    return end > offset ? end - offset : 0;
  }

  void put(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (inode_->now.size() < offset + bytes.size()) inode_->now.resize(offset + bytes.size());
    std::ranges::copy(bytes, inode_->now.begin() + static_cast<std::ptrdiff_t>(offset));
    for (std::size_t piece = offset / SimulatedDisk::piece_bytes;
         piece * SimulatedDisk::piece_bytes < offset + bytes.size(); ++piece)
      inode_->dirty.insert(piece);
  }

  SimulatedDisk& disk_;
  std::shared_ptr<SimulatedDisk::Inode> inode_;
};

/// The files of a SimulatedDisk.
class SimulatedFiles final : public store::Files {
 public:
  explicit SimulatedFiles(SimulatedDisk& disk) : disk_(disk) {}

  Result<std::unique_ptr<store::File>> open(const std::string& name, Open how) override {
    if (!disk_.may_go_on()) return failure(Errc::system, "the disk is dead");
    auto found = disk_.entries.find(name);
    if (how == Open::to_create && found != disk_.entries.end())
      return failure(Errc::already_exists, "{} exists", name);
    if (how != Open::to_create && found == disk_.entries.end())
      return failure(Errc::not_found, "{} does not exist", name);
    if (how == Open::to_create)
      found = disk_.entries.emplace(name, std::make_shared<SimulatedDisk::Inode>()).first;
    return std::make_unique<SimulatedFile>(disk_, found->second);
  }
  Result<std::vector<std::string>> list() const override {
    if (!disk_.may_go_on()) return failure(Errc::system, "the disk is dead");
    std::vector<std::string> names;
    for (const auto& [name, inode] : disk_.entries) names.push_back(name);
    return names;
  }
  Status remove(const std::string& name) override {
    if (!disk_.may_go_on()) return failure(Errc::system, "the disk is dead");
    disk_.entries.erase(name);
    return {};
  }
  Status sync_directory() override {
    if (!disk_.may_go_on()) return failure(Errc::system, "the disk is dead");
    disk_.durable_entries = disk_.entries;
    return {};
  }
  Status lock() override { return {}; }
  std::string name() const override { return "disk"; }

 private:
  SimulatedDisk& disk_;
};

}  // namespace llamada::test
