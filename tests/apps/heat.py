"""Heat in a plate: rows on ranks, of which rank 0 has twice as many as each other rank.

    mpirun -n 4 python3 heat.py SIZE STEPS

Rank 0 therefore computes longest, in relax(); the others wait for it in swap_rows(), and in change()
every tenth step. The sums that are printed do not depend on time.
"""
import sys

import numpy as np
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


def rows_of(rank, size):
    """Rank 0 has two shares, every other rank one."""
    share = size // (WORLD.size + 1)
    return size - (WORLD.size - 1) * share if rank == 0 else share


def swap_rows(plate):
    above = WORLD.rank - 1 if WORLD.rank > 0 else MPI.PROC_NULL
    below = WORLD.rank + 1 if WORLD.rank + 1 < WORLD.size else MPI.PROC_NULL
    WORLD.Sendrecv(plate[1], dest=above, recvbuf=plate[-1], source=below)
    WORLD.Sendrecv(plate[-2], dest=below, recvbuf=plate[0], source=above)


def relax(plate):
    new = plate.copy()
    new[1:-1, 1:-1] = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
    return new


def change(old, new):
    """The largest change of any rank; pickled, as lower-case methods of mpi4py do."""
    return WORLD.allreduce(float(np.abs(new - old).max()), op=MPI.MAX)


def main(size, steps):
    plate = np.zeros((rows_of(WORLD.rank, size) + 2, size))
    plate[:, 0] = 1
    largest = 0.0
    for step in range(steps):
        swap_rows(plate)
        new = relax(plate)
        if step % 10 == 0:
            largest = change(plate, new)
        plate = new
    sums = WORLD.gather(float(plate[1:-1].sum()), root=0)
    if WORLD.rank == 0:
        print(f"{steps} steps on {WORLD.size} ranks, change {largest:.6e}")
        print("\n".join(f"rank {rank}: {value:.6e}" for rank, value in enumerate(sums)))


main(int(sys.argv[1]), int(sys.argv[2]))
