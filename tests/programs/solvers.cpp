/* Functions with long names: rank 1 is late in Foam::PCG::scalarSolve, a template's instance calls
 * it, and a lambda in it calls MPI_Barrier. With -DLIBRARY this is the library, else the program. */
#include <mpi.h>
#include <vector>

#define KEPT __attribute__((noinline))

namespace Foam {
template <class Type> struct Field {
    std::vector<Type> values;
};

struct PCG {
    double scalarSolve(Field<double> &field, int late) const;
};

double run(int rank);
}

#ifdef LIBRARY
namespace Foam {
KEPT double PCG::scalarSolve(Field<double> &field, int late) const
{
    const auto meet = [&](double value) KEPT {
        MPI_Barrier(MPI_COMM_WORLD);
        return value + field.values.size();
    };
    double value = meet(field.values[0]), all;
    for (int i = 0; i < 5; i++) {
        for (volatile long k = 0; k < (late ? 10000000 : 10000); k = k + 1)
            continue;
        MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        value = all / 2 + 1;
    }
    return value;
}

namespace {
template <class Type, class Solver> KEPT double solveAll(Field<Type> &field, const Solver &solver, int rank)
{
    return solver.scalarSolve(field, rank == 1) * 2;
}
}

KEPT double run(int rank)
{
    Field<double> field{{1, 2, 3}};
    return solveAll(field, PCG(), rank) + 1;
}
}
#else
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double value = Foam::run(rank);
    MPI_Finalize();
    return value < 0;
}
#endif
