#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
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

  enum Call {
    open_file,
    read_file,
    write_file,
    sync_file,
    allocate_file,
    truncate_file,
    list_names,
    remove_name,
    sync_names
  };
  static constexpr std::size_t call_count = sync_names + 1;

  /// So many further calls of this kind succeed before one fails, having done a part of its work; 0: none
  /// fails.
  std::array<std::uint32_t, call_count> fails_in{};
  /// Dies at so many calls from now; 0: never.
  std::uint64_t dies_in = 0;
  std::uint64_t capacity_bytes = std::uint64_t{1} << 30;

  bool is_dead() const { return dead_; }
  /// How many calls have failed: as wanted, or for want of room.
  std::uint64_t failed_calls() const { return failed_; }
  /// Those after which the disk has forgotten what was written.
  std::uint64_t failed_syncs() const { return failed_syncs_; }
  std::uint64_t used_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, inode] : entries) bytes += inode->now.size();
    return bytes;
  }

  /// From now on all calls fail: what a dying store still tries has no effect.
  void die() { dead_ = true; }
  /// The process has died; the kernel's memory stays.
  void restart() {
    dead_ = false;
    dies_in = 0;
    fails_in = {};
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

  struct Flip {
    std::string name;
    std::size_t at = 0;
    std::byte bit{};
  };
  /// A bit of a file that any later call would find on the disk; an empty name if there is none.
  Flip choose_flip() {
    std::vector<std::string> names;
    for (const auto& [name, inode] : entries)
      if (!inode->durable.empty()) names.push_back(name);
    if (names.empty()) return {};
    Flip flip{.name = names[random.below(names.size())]};
    const Inode& inode = *entries.at(flip.name);
    // Most of a file is zeros that nobody reads.
    for (int tries = 0; tries < 50; ++tries) {
      flip.at = random.below(inode.durable.size());
      if (inode.durable[flip.at] != std::byte{0} && !inode.dirty.contains(flip.at / piece_bytes)) break;
    }
    flip.bit = static_cast<std::byte>(1U << random.below(8));
    if (inode.dirty.contains(flip.at / piece_bytes) || flip.at >= inode.now.size()) return {};
    return flip;
  }
  void apply(const Flip& flip) {
    Inode& inode = *entries.at(flip.name);
    inode.durable[flip.at] ^= flip.bit;
    inode.now[flip.at] ^= flip.bit;
  }

  /// At the beginning of each call.
  enum class Fate { works, fails, is_dead };
  Fate begin(Call call) {
    if (dead_) return Fate::is_dead;
    if (dies_in != 0 && --dies_in == 0) {
      dead_ = true;
      return Fate::fails;
    }
    if (fails_in[call] == 0 || --fails_in[call] != 0) return Fate::works;
    ++failed_;
    if (call == sync_file || call == sync_names) ++failed_syncs_;
    return Fate::fails;
  }
  tl::unexpected<Error> full() {
    ++failed_;
    return failure(Errc::out_of_resources, "the disk is full");
  }
  tl::unexpected<Error> error() const {
    return dead_ ? failure(Errc::system, "the disk is dead") : failure(Errc::system, "an input/output error");
  }

  Random random;
  Entries entries, durable_entries;

 private:
  void lose_pieces(Inode& inode) {
    enum Way { all_old, all_new, mixed };
    const auto way = random.chance(1, 3) ? all_old : random.chance(1, 3) ? all_new : mixed;
    const bool is_long = way == all_new || (way == mixed && random.chance(1, 2));
    std::vector<std::byte> left(is_long ? inode.now.size() : inode.durable.size());
    for (std::size_t piece = 0; piece * piece_bytes < left.size(); ++piece) {
      const bool is_new = way == all_new || (way == mixed && random.chance(1, 2));
      const auto& from = inode.dirty.contains(piece) && is_new ? inode.now : inode.durable;
      for (std::size_t at = piece * piece_bytes; at < std::min((piece + 1) * piece_bytes, left.size()); ++at)
        left[at] = at < from.size() ? from[at] : std::byte{0};
    }
    inode.now = inode.durable = left;
    inode.dirty.clear();
  }

  bool dead_ = false;
  std::uint64_t failed_ = 0;
  std::uint64_t failed_syncs_ = 0;
};

class SimulatedFile final : public store::File {
 public:
  using Disk = SimulatedDisk;
  using Fate = SimulatedDisk::Fate;

  SimulatedFile(SimulatedDisk& disk, std::shared_ptr<SimulatedDisk::Inode> inode)
      : disk_(disk), inode_(std::move(inode)) {}

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (disk_.begin(Disk::read_file) != Fate::works) return disk_.error();
    const auto& bytes = inode_->now;
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t count = std::min<std::uint64_t>(into.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  }

  Status write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const Fate fate = disk_.begin(Disk::write_file);
    if (fate == Fate::is_dead) return disk_.error();
    if (fate == Fate::fails) bytes = bytes.first(part_of(offset, bytes.size()));
    put(offset, bytes);
    if (fate == Fate::fails) return disk_.error();
    return {};
  }

  Status sync() override {
    const Fate fate = disk_.begin(Disk::sync_file);
    if (fate == Fate::is_dead) return disk_.error();
    inode_->durable.resize(inode_->now.size());
    if (fate == Fate::works) {
      for (const std::size_t piece : inode_->dirty) write_back(piece);
      inode_->dirty.clear();
      return {};
    }
    // Of each piece nobody knows whether it is on the disk, and no later call will write it.
    const bool forgets = disk_.random.chance(1, 2);
    for (const std::size_t piece : inode_->dirty) {
      if (disk_.random.chance(1, 2)) write_back(piece);
      if (forgets && !disk_.is_dead()) forget(piece);
    }
    if (!disk_.is_dead()) inode_->dirty.clear();
    return disk_.error();
  }

  Status allocate(std::uint64_t bytes) override {
    if (disk_.begin(Disk::allocate_file) != Fate::works)
      return disk_.is_dead() ? disk_.error() : failure(Errc::out_of_resources, "no space is left");
    if (bytes <= inode_->now.size()) return {};
    if (disk_.used_bytes() - inode_->now.size() + bytes > disk_.capacity_bytes) return disk_.full();
    inode_->now.resize(bytes);
    return {};
  }

  Status truncate(std::uint64_t bytes) override {
    if (disk_.begin(Disk::truncate_file) != Fate::works) return disk_.error();
    inode_->now.resize(bytes);
    // What is written there later lies upon zeros.
    if (inode_->durable.size() > bytes)
      for (std::size_t piece = bytes / Disk::piece_bytes; piece * Disk::piece_bytes < inode_->durable.size();
           ++piece)
        inode_->dirty.insert(piece);
    return {};
  }

  Result<std::uint64_t> size() const override { return inode_->now.size(); }

 private:
  /// How much of a write is done that is not done wholly: up to the end of a piece.
  std::size_t part_of(std::uint64_t offset, std::size_t bytes) {
    const std::uint64_t end =
        (offset + disk_.random.below(bytes + 1)) / Disk::piece_bytes * Disk::piece_bytes;
    return end > offset ? end - offset : 0;
  }

  void put(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    if (inode_->now.size() < offset + bytes.size()) inode_->now.resize(offset + bytes.size());
    std::ranges::copy(bytes, inode_->now.begin() + static_cast<std::ptrdiff_t>(offset));
    for (std::size_t piece = offset / Disk::piece_bytes; piece * Disk::piece_bytes < offset + bytes.size();
         ++piece)
      inode_->dirty.insert(piece);
  }

  void write_back(std::size_t piece) { copy(piece, inode_->now, inode_->durable); }
  void forget(std::size_t piece) { copy(piece, inode_->durable, inode_->now); }
  static void copy(std::size_t piece, const std::vector<std::byte>& from, std::vector<std::byte>& to) {
    const std::size_t end = std::min((piece + 1) * Disk::piece_bytes, to.size());
    for (std::size_t at = piece * Disk::piece_bytes; at < end; ++at) to[at] = from[at];
  }

  SimulatedDisk& disk_;
  std::shared_ptr<SimulatedDisk::Inode> inode_;
};

/// The files of a SimulatedDisk.
class SimulatedFiles final : public store::Files {
 public:
  using Disk = SimulatedDisk;
  using Fate = SimulatedDisk::Fate;

  explicit SimulatedFiles(SimulatedDisk& disk) : disk_(disk) {}

  Result<std::unique_ptr<store::File>> open(const std::string& name, Open how) override {
    if (disk_.begin(Disk::open_file) != Fate::works) return disk_.error();
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
    if (disk_.begin(Disk::list_names) != Fate::works) return disk_.error();
    std::vector<std::string> names;
    for (const auto& [name, inode] : disk_.entries) names.push_back(name);
    return names;
  }
  Status remove(const std::string& name) override {
    if (disk_.begin(Disk::remove_name) != Fate::works) return disk_.error();
    disk_.entries.erase(name);
    return {};
  }
  Status sync_directory() override {
    if (disk_.begin(Disk::sync_names) != Fate::works) return disk_.error();
    disk_.durable_entries = disk_.entries;
    return {};
  }
  Status lock() override { return {}; }
  std::string name() const override { return "disk"; }

 private:
  SimulatedDisk& disk_;
};

}  // namespace llamada::test
