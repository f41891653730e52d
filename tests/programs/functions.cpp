// C++ functions, to be compiled with -finstrument-functions: members, templates, exceptions.
#include <mpi.h>

namespace solver {

template <typename T> class Field {
  public:
    explicit Field(T start) : value(start) {}
    __attribute__((noinline)) void relax(int n)
    {
        for (int i = 0; i < n; i++)
            add(static_cast<T>(i));
    }
    __attribute__((noinline)) void add(T what) { value += what; }
    T value;
};

__attribute__((noinline)) static void give_up(int depth)
{
    if (depth == 0)
        throw depth;
    give_up(depth - 1);
}

__attribute__((noinline)) static bool attempt()
{
    try {
        give_up(3);
    } catch (int) {
        return false;
    }
    return true;
}

} // namespace solver

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    solver::Field<double> field(1);
    for (int i = 0; i < 6; i++) {
        field.relax(4);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 5; i++)
        solver::attempt();
    MPI_Finalize();
    return field.value > 1 ? 0 : 1;
}
