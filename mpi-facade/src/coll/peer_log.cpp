#include "coll/peer_log.hpp"

namespace llamada::mpi::coll {

Result<bool> PeerLog::find(World& world, const log::LogKey& key, int world_rank) {
  const World::Source source = world.source(world_rank, key);
  if (!source.arena.ready()) return false;
  auto index = log::find_log(source.arena, source.key, scan_);
  if (!index) return false;
  auto cursor = world.arena().cursor(key, world_rank);
  if (!cursor) return propagate(cursor);
  reader_ = log::LogReader::open(source.arena, *index, *cursor);
  sleeping_ = world.sleeping_word(world_rank);
  found_ = true;
  return true;
}

Status PeerLog::take_over(World& world, const log::LogKey& key, int world_rank) {
  (void)world.source_behind(world_rank, key, reader_.records_before());
  *this = {};
  auto found = find(world, key, world_rank);
  if (!found) return propagate(found);
  // Enters the chunk that says how many records came before it.
  if (*found) (void)reader_.peek();
  return {};
}

bool PeerLog::release() {
  if (!has_left_chunk()) return false;
  released_ = reader_.position_chunk();
  reader_.release(released_);
  return true;
}

}  // namespace llamada::mpi::coll
