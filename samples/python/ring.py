"""A ring of ranks that pass random numbers on, with mpi4py.

Each round a rank draws a number, sends the sum so far to its right neighbour, and receives from any source. Random
numbers are recorded under rank replacement, so a rank that is killed draws the same numbers again.
"""
import hashlib
import random
import sys

import mpi4py

# A program without threads: MPI_THREAD_MULTIPLE, which mpi4py requests otherwise, would end the protection of the job.
mpi4py.rc.thread_level = "single"
from mpi4py import MPI  # noqa: E402


def main(rounds):
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    total = 0
    for _ in range(rounds):
        drawn = random.randrange(1000)
        request = world.isend((rank, total + drawn), dest=(rank + 1) % size)
        source, received = world.recv(source=MPI.ANY_SOURCE)
        request.wait()
        total = (received * 31 + source) % 1_000_003
    totals = world.allgather(total)
    # Every rank knows all totals. A replacement that had drawn other numbers would know others.
    digests = world.gather(hashlib.sha256(repr(totals).encode()).hexdigest())
    if rank == 0:
        right = len(set(digests)) == 1
        print(f"ring: {rounds} rounds on {size} ranks: {'VERIFIED' if right else 'WRONG'}")
        return 0 if right else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
