#!/usr/bin/env python3
"""Tests of how tests/apps.py compares outputs: filters let times differ, and nothing that the program computes.

    apps_test.py [--build DIR]
"""
import contextlib
import io
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "apps")]
import applications  # noqa: E402
import apps  # noqa: E402

# Application: a line of its output, the same from another run, and one with another result.
LINES = {
    "nwchem": [("                 3     -152.0148486756  6.07D-02  2.52D-02      0.5",
                "                 3     -152.0148486759  6.07D-02  2.52D-02      1.7",
                "                 3     -152.0148587756  6.07D-02  2.52D-02      0.5"),
               ("              MO Center=  4.9D-21, -4.9D-17, -1.2D-01, r^2= 2.3D+00",
                "              MO Center= -1.1D-19, -2.8D-16, -1.2D-01, r^2= 2.3D+00",
                "              MO Center=  4.9D-21, -4.9D-17, -1.3D-01, r^2= 2.3D+00"),
               ("      2   0 1 1     -0.000000      0.100000", "      2   0 1 1      0.000000      0.100000",
                "      2   0 1 1      0.000000      0.100001")],
    "cp2k": [("     4 OT DIIS     0.80E-01   11.3     0.03056685      -136.9625388123 -1.25E+00",
              "     4 OT DIIS     0.80E-01    2.3     0.03056685      -136.9625388129 -1.25E+00",
              "     4 OT DIIS     0.80E-01   11.3     0.03056685      -136.9625398123 -1.25E+00")],
    "lammps": [("Loop time of 1.2 on 4 procs", "Loop time of 2.2 on 4 procs", "  100   1.6 -4.7 0 -2.2 5.9")],
    "hpcc": [("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0059 ...... PASSED",
              "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0059 ...... PASSED",
              "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0059 ...... FAILED"),
             ("Success=1", "Success=1", "Success=0")],
    "netpipe": [("     128 840.128213   0.00000116", "     128 640.128213   0.00000152", "     131 840.128213   0.00000116")],
    "interfoam": [("ExecutionTime = 2.87 s  ClockTime = 18 s", "ExecutionTime = 9.9 s  ClockTime = 21 s",
                   "DICPCG:  Solving for p_rgh, Initial residual = 0.05, Final residual = 0.0004, No Iterations 1")],
    "heat": [("rank 0: 1.5e+02", "rank 0: 1.5e+02", "rank 0: 1.6e+02")],
}


class Filters(unittest.TestCase):
    def test_other_times_are_the_same(self):
        for name, cases in LINES.items():
            for line, again, _ in cases:
                self.assertEqual(applications.ALL[name].filter(line), applications.ALL[name].filter(again), name)

    def test_other_results_are_not(self):
        for name, cases in LINES.items():
            for line, _, other in cases:
                self.assertNotEqual(applications.ALL[name].filter(line), applications.ALL[name].filter(other), name)


class Counting(unittest.TestCase):
    def setUp(self):
        self.checks = apps.Checks("x", ("known to be wrong",))

    def add(self, what, fine):
        with contextlib.redirect_stdout(io.StringIO()):
            self.checks.add(what, fine, "something else")

    def test_failures_count(self):
        self.add("fine", True)
        self.add("wrong", False)
        self.assertEqual((self.checks.passed, self.checks.failures), (1, ["wrong"]))

    def test_known_faults_are_told_only(self):
        self.add("known to be wrong", False)
        self.assertEqual((self.checks.passed, self.checks.failures, self.checks.faults), (0, [], ["known to be wrong"]))


class Truths(unittest.TestCase):
    SCREEN = "x ran for 2 s. {} 1. 40 % of all ranks' time is lost: {}. Others wait. 2. 3 % is lost: rank 1 is moving data."

    def facts(self, second, finding, share=0.6):
        report = {"ranks": 4, "hosts": [{"cores": 2}], "cores": {"share": share}, "efficiency": {"max_outside_rank": 0}}
        screen = self.SCREEN.format(second, finding)
        return [fine for _, fine, _ in [*applications.shares_cores(report, screen),
                                        *applications.rank_0_is_late(report, screen, "relax()")]]

    def test_right_screen(self):
        self.assertEqual(self.facts("Ranks had cores for 60 % of the time.", "mainly rank 0 computes longer in relax() [h.py:3]"),
                         [True] * 5)

    def test_wrong_screen(self):
        self.assertEqual(self.facts("All is well.", "rank 1 computes longer in relax()"), [True, False, True, False, False])
        self.assertEqual(self.facts("All is well.", "rank 1 computes longer", 0.9)[:2], [False, False])

    def test_who_computes_longest_is_unknown_without_cores(self):
        self.assertEqual(self.facts("Ranks had cores for 40 % of the time.", "rank 1 computes longer", 0.4), [True, True])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
