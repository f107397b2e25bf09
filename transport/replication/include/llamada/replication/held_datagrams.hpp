#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace llamada::replication {

/// Memory for datagrams that came ahead of another one, shared by all sessions of a process. Allocated by the
/// constructor.
class DatagramPool {
 public:
  DatagramPool(std::size_t count, std::size_t datagram_bytes_max);

  /// A copy of the datagram, or nothing when all places are taken.
  std::optional<std::uint16_t> keep(std::span<const std::byte> datagram);
  std::span<const std::byte> bytes(std::uint16_t place) const;
  void give_back(std::uint16_t place) { free_.push_back(place); }
  std::size_t free_count() const { return free_.size(); }

 private:
  std::size_t datagram_bytes_max_;
  std::vector<std::byte> memory_;
  std::vector<std::uint32_t> sizes_bytes_;
  std::vector<std::uint16_t> free_;
};

/// What one session holds back until its turn: at most 64 datagrams, as many as an acknowledgement can name.
class HeldDatagrams {
 public:
  static constexpr std::size_t count_max = 64;

  explicit HeldDatagrams(DatagramPool& pool) : pool_(&pool) {}
  HeldDatagrams(const HeldDatagrams&) = delete;
  HeldDatagrams& operator=(const HeldDatagrams&) = delete;
  ~HeldDatagrams() { clear(); }

  /// Whether there was room for it. `applied` is the number of the last datagram that was applied.
  bool hold(std::uint64_t number, std::uint64_t applied, std::span<const std::byte> datagram);
  /// The datagram of this number if it is held; in place until give_back().
  std::optional<std::span<const std::byte>> find(std::uint64_t number) const;
  void give_back(std::uint64_t number);
  void clear();

 private:
  struct Held {
    std::uint64_t number = 0;  // 0: free
    std::uint16_t place = 0;
  };
  DatagramPool* pool_;
  std::array<Held, count_max> held_{};
};

}  // namespace llamada::replication
