"""Calls MPI on many kinds of call paths, and logs what the interpreter itself says of each.

    frames.py LIBRARY LOG

A line of the log is one call: function, file and line of the frames from the outermost on, with tabs
between. Functions that the interpreter contains, as those that import, are left out. Functions of MPI
are fetched from the library, as bindings exist for one MPI only.
"""
import asyncio
import ctypes
import functools
import os
import runpy
import sys
import threading

MPI = ctypes.CDLL(sys.argv[1])
ANSWERS = [ctypes.byref(ctypes.c_int()), ctypes.byref(ctypes.c_int())]
LOG = []


def note(frame):
    path = []
    while frame:
        code = frame.f_code
        if not code.co_filename.startswith("<frozen "):
            path += [str(frame.f_lineno), code.co_filename, code.co_qualname]
        frame = frame.f_back
    LOG.append("\t".join(reversed(path)))


def ask():
    note(sys._getframe()), MPI.MPI_Get_version(*ANSWERS)


def two_lines():
    ask()
    ask()


def one_statement():
    return [ask(),
            ask(), (lambda: ask())(),
            ask()]


def down(n):
    if n:
        down(n - 1)
    ask()


def numbers(n):
    for i in range(n):
        ask()
        yield i
        ask()


def delegating():
    yield from numbers(2)


class Solver:
    def __init__(self):
        self.step = functools.partial(self.measured, self.inner)

    @staticmethod
    def measured(function):
        return function()

    def inner(self):
        def nested():
            ask()
        nested()

    def __del__(self):
        ask()


def größe():
    ask()


def измерить():
    größe()


def 𠀀():
    измерить()


async def waits():
    ask()
    await asyncio.sleep(0)
    ask()


def several():
    two_lines()
    one_statement()
    down(4)
    alive = [numbers(2), delegating(), numbers(3)]
    for generator in alive:
        next(generator)
    for generator in alive:
        list(generator)
    sorted([2, 1], key=lambda number: ask() or number)
    [ask() for _ in range(2)]
    list(map(down, range(3)))
    Solver().step()
    𠀀()
    try:
        raise ValueError
    except ValueError:
        ask()


def made():
    """Code that is gone makes room for other code of the same size."""
    for i in range(20):
        scope = {"ask": ask}
        exec(f"{chr(10) * (i % 3)}def made_{chr(65 + i)}():\n ask()\nmade_{chr(65 + i)}()", scope)
    for name in ("straße.py", "файл.py", "\U00020000.py", "other/\udcff.py"):
        exec(compile("ask()", name, "exec"), {"ask": ask})
    for i in range(20):
        exec(compile("ask()", f"cells/cell_{i}.py", "exec"), {"ask": ask})


def deep(n):
    return deep(n - 1) if n else MPI.MPI_Query_thread(ANSWERS[0])


MPI.MPI_Init_thread(None, None, 3, ANSWERS[0])
for turn in range(3):
    several()
    made()
    sys.modules.pop("imported", None)
    import imported
    runpy.run_path(imported.__file__)
for turn in range(2):
    asyncio.run(waits())
threads = [threading.Thread(target=several) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.setrecursionlimit(3000)
for turn in range(2):
    deep(1500)
MPI.MPI_Finalize()
with open(sys.argv[2], "wb") as log:
    log.write(os.fsencode("\n".join(LOG)))
