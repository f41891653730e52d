#!/usr/bin/env python3
"""Runs a command of many processes so that other tests can go on beside it.

    gently.py COMMAND [WORD...]

At the lowest priority, all of them together weigh less than one process of another test, also where the
system weighs processes one by one. And sleeps may last some milliseconds longer (timer slack): Open MPI's
ranks sleep for 0.1 ms at a time while they wait for each other in MPI_Init and MPI_Finalize, and 64 of them
do little more than wake up, half a million times in all.
"""
import ctypes
import os
import sys

PR_SET_TIMERSLACK = 29
SLACK_NS = 5_000_000

if __name__ == "__main__":
    os.nice(19)
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(SLACK_NS))
    os.execvp(sys.argv[1], sys.argv[1:])
