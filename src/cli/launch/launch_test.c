/* Each case is a launcher's command line as it would be typed and the word that is its program. */
#include "cli/launch/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 64, TEXT = 512 };

struct line {
    char text[TEXT];
    char *argv[WORDS];
    int argc;
    struct rfn_launch launch;
    enum rfn_launch_fault fault;
};

static void parse(struct line *line, enum rfn_launcher launcher, const char *text)
{
    memset(line, 0, sizeof *line);
    assert_true(strlen(text) < TEXT);
    strcpy(line->text, text);
    for (char *word = strtok(line->text, " "); word; word = strtok(NULL, " "))
        line->argv[line->argc++] = word;
    line->fault = rfn_launch_parse(launcher, line->argc, line->argv, &line->launch);
}

static void expect(enum rfn_launcher launcher, const char *text, const char *program)
{
    struct line line;
    parse(&line, launcher, text);
    if (line.fault != RFN_LAUNCH_OK || strcmp(line.argv[line.launch.program], program) != 0)
        print_error("%s\n", text);
    assert_int_equal(line.fault, RFN_LAUNCH_OK);
    assert_string_equal(line.argv[line.launch.program], program);
}

static void test_open_mpi(void **state)
{
    (void)state;
    enum rfn_launcher kind = RFN_LAUNCHER_OPENMPI;
    expect(kind, "mpirun ./app", "./app");
    expect(kind, "mpirun -n 8 ./app -n 3", "./app");
    expect(kind, "mpirun --np 8 --oversubscribe --allow-run-as-root ./app x", "./app");
    expect(kind, "mpirun -np 8 --mca btl self,vader ./app", "./app");
    expect(kind, "mpirun -gmca a b -x PATH -x A=1 --host a,b:2 ./app", "./app");
    expect(kind, "mpirun --map-by ppr:2:node --bind-to core --rank-by slot -q ./app", "./app");
    expect(kind, "mpirun --hostfile hosts --tag-output --timeout 30 -H a ./app", "./app");
    expect(kind, "mpirun -wdir /tmp --output-filename out:nojobid ./app", "./app");
    expect(kind, "mpirun --display-map -V -s ./app", "./app");
    expect(kind, "mpirun --prtemca a b --pmixmca c d --runtime-options x ./app", "./app");
}

static void test_hydra(void **state)
{
    (void)state;
    enum rfn_launcher kind = RFN_LAUNCHER_HYDRA;
    expect(kind, "mpiexec -n 8 ./app", "./app");
    expect(kind, "mpiexec -np 8 -ppn 4 -f hosts -genv A 1 -genvall ./app", "./app");
    expect(kind, "mpiexec -env A 1 -bind-to core -map-by socket -l ./app -env", "./app");
    expect(kind, "mpiexec -launcher ssh -iface eth0 -prepend-rank -wdir /tmp ./app", "./app");
    expect(kind, "mpiexec -hosts a,b -perhost 1 -rmk slurm -verbose ./app", "./app");
    expect(kind, "mpiexec -disable-auto-cleanup -usize SYSTEM -gpus-per-proc 1 ./app", "./app");
}

static void test_srun(void **state)
{
    (void)state;
    enum rfn_launcher kind = RFN_LAUNCHER_SLURM;
    expect(kind, "srun ./app", "./app");
    expect(kind, "srun -n 8 ./app -n 2", "./app");
    expect(kind, "srun -n8 -N2 ./app", "./app");
    expect(kind, "srun --ntasks=8 --mpi=pmix ./app", "./app");
    expect(kind, "srun --ntasks 8 --mpi pmix ./app", "./app");
    expect(kind, "srun -ln 8 -u ./app", "./app");
    expect(kind, "srun -luK1 --exclusive --overlap -c 2 ./app", "./app");
    expect(kind, "srun --label -p debug --time 5 -t 3 --cpu-bind=cores ./app", "./app");
    expect(kind, "srun -I -O -s -w node1 ./app", "./app");
    expect(kind, "srun --pty --unbuffered -J name ./app", "./app");
}

/* mpirun of nobody knows whom: what takes a value for either takes one. */
static void test_either(void **state)
{
    (void)state;
    enum rfn_launcher kind = RFN_LAUNCHER_EITHER;
    expect(kind, "mpirun -n 8 --oversubscribe --mca a b ./app", "./app");
    expect(kind, "mpirun -n 8 -genv A 1 -ppn 4 -f hosts ./app", "./app");
}

static void test_mark(void **state)
{
    (void)state;
    struct line line;
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun -n 8 -- ./app -- x");
    assert_int_equal(line.fault, RFN_LAUNCH_OK);
    assert_true(line.launch.marked);
    assert_int_equal(line.launch.program, 4);

    /* An option that no table knows, with a value that is no program. */
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun --novel no-such-program-here -n 8 -- ./app");
    assert_int_equal(line.fault, RFN_LAUNCH_OK);
    assert_true(line.launch.marked);
    assert_string_equal(line.argv[line.launch.program], "./app");

    /* A mark of the program's own, behind a program that exists. */
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun -n 8 /bin/sh -- x");
    assert_false(line.launch.marked);
    assert_string_equal(line.argv[line.launch.program], "/bin/sh");
}

static void test_faults(void **state)
{
    (void)state;
    struct line line;
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun");
    assert_int_equal(line.fault, RFN_LAUNCH_NO_PROGRAM);
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun -n 8");
    assert_int_equal(line.fault, RFN_LAUNCH_NO_PROGRAM);
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun -n"); /* the value is missing */
    assert_int_equal(line.fault, RFN_LAUNCH_NO_PROGRAM);
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun --mca a");
    assert_int_equal(line.fault, RFN_LAUNCH_NO_PROGRAM);
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun -n 8 --");
    assert_int_equal(line.fault, RFN_LAUNCH_NO_PROGRAM);
    parse(&line, RFN_LAUNCHER_HYDRA, "mpiexec -n 1 ./a : -n 2 ./b");
    assert_int_equal(line.fault, RFN_LAUNCH_MPMD);
    parse(&line, RFN_LAUNCHER_HYDRA, "mpiexec -configfile list");
    assert_int_equal(line.fault, RFN_LAUNCH_FILE);
    assert_string_equal(line.launch.option, "-configfile");
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun --app list");
    assert_int_equal(line.fault, RFN_LAUNCH_FILE);
    parse(&line, RFN_LAUNCHER_SLURM, "srun -n 2 --multi-prog list");
    assert_int_equal(line.fault, RFN_LAUNCH_FILE);
}

static void test_elsewhere(void **state)
{
    (void)state;
    struct line line;
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun -n 8 ./app -wdir x");
    assert_false(line.launch.elsewhere);
    parse(&line, RFN_LAUNCHER_OPENMPI, "mpirun -n 8 -wdir x ./app");
    assert_true(line.launch.elsewhere);
    parse(&line, RFN_LAUNCHER_SLURM, "srun --chdir=/tmp ./app");
    assert_true(line.launch.elsewhere);
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(rfn_launcher_of("orterun"), RFN_LAUNCHER_OPENMPI);
    assert_int_equal(rfn_launcher_of("/opt/bin/mpirun.openmpi"), RFN_LAUNCHER_OPENMPI);
    assert_int_equal(rfn_launcher_of("mpiexec.hydra"), RFN_LAUNCHER_HYDRA);
    assert_int_equal(rfn_launcher_of("mpirun.mpich"), RFN_LAUNCHER_HYDRA);
    assert_int_equal(rfn_launcher_of("/usr/bin/srun"), RFN_LAUNCHER_SLURM);
    assert_int_equal(rfn_launcher_of("/no/such/place/mpirun"), RFN_LAUNCHER_EITHER);
    assert_int_equal(rfn_launcher_of("./mpirun_test"), RFN_LAUNCHER_NONE);
    assert_int_equal(rfn_launcher_of("./app"), RFN_LAUNCHER_NONE);
}

static const char *drops(const char *text)
{
    struct line line;
    parse(&line, RFN_LAUNCHER_EITHER, text);
    const char *word = rfn_launch_drops_preload(line.argv);
    return word ? text + (word - line.text) : NULL;
}

static void test_env(void **state)
{
    static const char *const dropping[][2] = {{"env -i ./app", "-i"},
                                              {"/usr/bin/env - A=b ./app", "- A"},
                                              {"env -0i ./app", "-0i"},
                                              {"env --ignore-env ./app", "--ignore-env"},
                                              {"env -C / -u LD_PRELOAD ./app", "-u"},
                                              {"env -uLD_PRELOAD ./app", "-uLD_PRELOAD"},
                                              {"env --unset LD_PRELOAD ./app", "--unset"},
                                              {"env -- LD_PRELOAD=x ./app", "LD_PRELOAD=x"},
                                              {"env A=b LD_PRELOAD= ./app", "LD_PRELOAD="}};
    static const char *const others[] = {"env",
                                         "env ./app -i",
                                         "env A=b ./app LD_PRELOAD=x",
                                         "env -u i a",
                                         "env -u A -C -i a",
                                         "env -- -i",
                                         "./env.sh -i a",
                                         "app -i",
                                         "env A=-i ./app",
                                         "env --unset=A ./app"};
    (void)state;
    for (size_t i = 0; i < sizeof dropping / sizeof *dropping; i++)
        assert_ptr_equal(drops(dropping[i][0]), strstr(dropping[i][0], dropping[i][1]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(drops(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_mpi),  cmocka_unit_test(test_hydra),
        cmocka_unit_test(test_srun),      cmocka_unit_test(test_either),
        cmocka_unit_test(test_mark),      cmocka_unit_test(test_faults),
        cmocka_unit_test(test_elsewhere), cmocka_unit_test(test_names),
        cmocka_unit_test(test_env),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
