"""An open archive.

Threads: any number of threads may use a Run at once. Each call holds the archive open while it lasts; close() takes
effect for calls that come later, and the archive is freed with the last one that is under way.
"""
import contextlib
import ctypes
import numbers
import os
import sys
import threading
import warnings
import weakref
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Union

from ._errors import Error, ErrorCode, IncompleteWarning
from ._library import EventChoice, Fact, Take, Text, decoded, failure, library, new_diag
from ._table import Filling, Layout, Names, Table

Ranks = Union[int, Iterable[int]]
Window = Tuple[Optional[int], Optional[int]]

# enum rfn_column_table
EVENTS, MESSAGES, THREADS, PATHS, FUNCTIONS, RANKS, REGIONS, PAIRS, WAITS, WAITS_BY_RANK, CAUSES = range(11)
NO_NAMES, PATH_NAMES, REGION_NAMES = 0, 2, 3  # enum rfn_column_names
TEXT, NUMBER, TRUTH, REAL = range(4)  # enum rfn_fact_type

# Rows that the library writes before it comes back: more and more, as small tables should take little memory, and not
# too many, as Ctrl-C should work.
FIRST_BATCH, LAST_BATCH, MESSAGE_BATCH = 1 << 12, 1 << 18, 1 << 14


class Frame(NamedTuple):
    """A frame of a call path."""

    function: Optional[str]
    file: Optional[str]
    line: int
    module: Optional[str]
    offset: int


class _Archive:
    """The library's archive, and results of its analysis by region. It is freed when it is closed and nobody uses
    it."""

    def __init__(self, file: str) -> None:
        pointer, diag = ctypes.c_void_p(), new_diag()
        self.file, self.closed, self._users = file, False, 0
        self._lock, self._analysis = threading.Lock(), threading.Lock()
        self._results: Dict[Optional[bytes], ctypes.c_void_p] = {}
        error = library().rfn_archive_open(os.fsencode(file), ctypes.byref(pointer), ctypes.byref(diag))
        if error < 0:
            raise failure(error, diag, file)
        self.pointer = pointer

    def __enter__(self) -> ctypes.c_void_p:
        with self._lock:
            if self.closed:
                raise Error("the archive is closed; open it again", ErrorCode.USAGE, self.file)
            self._users += 1
        return self.pointer

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            last = self.closed and self._users == 0
        if last:
            self._free()

    def close(self) -> None:
        with self._lock:
            last = not self.closed and self._users == 0
            self.closed = True
        if last:
            self._free()

    def _free(self) -> None:
        for rows in self._results.values():
            library().rfn_result_rows_free(rows)
        library().rfn_archive_close(self.pointer)

    def results(self, region: Optional[bytes]) -> ctypes.c_void_p:
        """Analyzes the run, once per region; for those who use the archive."""
        with self._analysis:
            if region not in self._results:
                rows, diag = ctypes.c_void_p(), new_diag()
                error = library().rfn_result_rows_new(self.pointer, region, ctypes.byref(rows), ctypes.byref(diag))
                if error < 0:
                    raise failure(error, diag, self.file)
                self._results[region] = rows
            return self._results[region]


class Run:
    """A recorded run: refrain.open makes it. Ranks are ranks of MPI_COMM_WORLD, times are ns since its start.

    info: facts about the run, by the names of struct rfn_run (refrain/archive.h). complete: everything that was
    recorded is there; if not, incomplete_because says why.
    """

    def __init__(self, file: Union[str, "os.PathLike[str]"]) -> None:
        self.file = os.fsdecode(file)
        self._archive = _Archive(self.file)
        self._finalizer = weakref.finalize(self, self._archive.close)
        self._names: Dict[int, Names] = {}
        with self._archive as archive:
            self.info = _facts(archive)
            why = ctypes.c_char_p()
            self.complete: bool = library().rfn_archive_complete(archive, ctypes.byref(why))
            self.incomplete_because = None if self.complete else decoded(why.value)
        if not self.complete:
            self._warn(self.incomplete_because or "the file is incomplete")

    def close(self) -> None:
        """Frees the archive; tables stay. Further calls raise refrain.Error, closing again does nothing."""
        self._finalizer()

    @property
    def closed(self) -> bool:
        return self._archive.closed

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<refrain.Run {self.file}: {self.program} on {self.ranks} ranks>"

    def _warn(self, text: str) -> None:
        warnings.warn(f"{self.file}: {text}", IncompleteWarning, stacklevel=_depth())

    # ---- the run ----

    @property
    def ranks(self) -> int:
        return self.info["ranks"]

    @property
    def program(self) -> Optional[str]:
        return self.info["program"]

    @property
    def command(self) -> Optional[str]:
        return self.info["command"]

    @property
    def mpi(self) -> Optional[str]:
        return self.info["mpi"]

    @property
    def times(self) -> bool:
        """Whether events have times."""
        return self.info["times"]

    def frames(self, path: int) -> List[Frame]:
        """The frames of a call path by its code, innermost first."""
        with self._archive as archive:
            if not 0 <= path < library().rfn_columns_codes(archive, PATH_NAMES):
                raise IndexError(f"no call path {path}")
            found = library().rfn_archive_path(archive, path)
            return [_frame(archive, found.frames[i]) for i in range(found.n_frames)]

    # ---- tables ----

    def events(self, ranks: Optional[Ranks] = None, window: Optional[Window] = None,
               columns: Optional[Iterable[str]] = None, limit: Optional[int] = None) -> Table:
        """The events, in order of rank, thread and time.

        ranks: only of these. window: (from_ns, to_ns), either may be None; of each thread, from the first event that
        ends at from_ns or later to the last that begins at to_ns or earlier. columns: only these, which is faster.
        limit: at most so many.
        """
        most = sys.maxsize if limit is None else limit
        tables = self._event_tables(self._choice(ranks, window), Filling(Layout(EVENTS), columns), most)
        with contextlib.closing(tables):
            return next(tables)

    def event_batches(self, rows: int = 1 << 20, ranks: Optional[Ranks] = None, window: Optional[Window] = None,
                      columns: Optional[Iterable[str]] = None) -> Iterator[Table]:
        """The same as tables of at most `rows` rows, for archives whose events do not fit into memory."""
        if rows < 1:
            raise ValueError("a batch needs at least one row")
        tables = self._event_tables(self._choice(ranks, window), Filling(Layout(EVENTS), columns), rows)
        return (table for table in tables if len(table))

    def messages(self, columns: Optional[Iterable[str]] = None) -> Table:
        """Messages that both ends have completed, in the order in which they did. In an archive without times, times
        are numbers of events."""
        with self._archive as archive:
            filling = Filling(Layout(MESSAGES), columns)
            self._match(archive, filling)
            return self._table("messages", archive, filling)

    def threads(self) -> Table:
        """Threads that called MPI: rank, host, numbers of events and calls."""
        with self._archive as archive:
            filling = Filling(Layout(THREADS), None)
            filling.reserve(self.info["streams"])
            library().rfn_thread_rows(archive, filling.pointers())
            filling.n = self.info["streams"]
            return self._table("threads", archive, filling)

    def call_paths(self, region: Optional[str] = None) -> Table:
        """Calls, times and bytes by function and call path. region: only what happens in this region of the program,
        also below."""
        return self._results("call_paths", PATHS, region)

    def functions(self, region: Optional[str] = None) -> Table:
        """The same by function."""
        return self._results("functions", FUNCTIONS, region)

    def per_rank(self, region: Optional[str] = None) -> Table:
        """Time inside and outside of MPI, waiting, messages by rank."""
        return self._results("per_rank", RANKS, region)

    def regions(self) -> Table:
        """Visits and times of the program's regions."""
        return self._results("regions", REGIONS, None)

    def pairs(self, region: Optional[str] = None) -> Table:
        """Messages and bytes by sender and receiver."""
        return self._results("pairs", PAIRS, region)

    def waits(self, by_rank: bool = False, region: Optional[str] = None) -> Table:
        """Waiting by pattern, function and call path; by_rank: and by rank."""
        return self._results("waits", WAITS_BY_RANK if by_rank else WAITS, region)

    def causes(self, region: Optional[str] = None) -> Table:
        """Activities that others waited for, costliest first."""
        return self._results("causes", CAUSES, region)

    # ---- how tables are made ----

    def _names_of(self, archive: ctypes.c_void_p, kind: int) -> Names:
        if kind not in self._names:
            codes = range(library().rfn_columns_codes(archive, kind))
            self._names[kind] = [_path_text(archive, code) if kind == PATH_NAMES else
                                 decoded(library().rfn_columns_name(archive, kind, code)) for code in codes]
        return self._names[kind]

    def _table(self, name: str, archive: ctypes.c_void_p, filling: Filling) -> Table:
        filling.resize(filling.n)
        layout, columns, names = filling.layout, {}, {}
        for column, values, kind in zip(layout.names, filling.arrays, layout.codes_of):
            if values is None:
                continue
            columns[column] = values
            if kind != NO_NAMES:
                names[column] = self._names_of(archive, kind)
        return Table(name, columns, names, filling.n)

    def _raise_or_warn(self, error: int, diag: Any) -> None:
        """A table lacks missing parts, with a warning; damaged parts raise an error."""
        if error == ErrorCode.INCOMPLETE:
            self._warn(str(failure(error, diag, None)))
        elif error < 0:
            raise failure(error, diag, self.file)

    def _choice(self, ranks: Optional[Ranks], window: Optional[Window]) -> EventChoice:
        choice = EventChoice()
        if ranks is not None:
            chosen = sorted({int(rank) for rank in ([ranks] if isinstance(ranks, numbers.Integral) else ranks)})
            wrong = [rank for rank in chosen if not 0 <= rank < self.ranks]
            if wrong:
                raise ValueError(f"no rank {wrong[0]}; the run has ranks 0 to {self.ranks - 1}")
            choice.ranks = (ctypes.c_uint32 * max(len(chosen), 1))(*chosen)  # kept by the structure
            choice.n_ranks = len(chosen)
        from_ns, to_ns = window or (None, None)
        if from_ns is not None:
            choice.from_given, choice.from_ns = True, from_ns
        if to_ns is not None:
            choice.to_given, choice.to_ns = True, to_ns
        return choice

    def _event_tables(self, choice: EventChoice, filling: Filling, most: int) -> Iterator[Table]:
        """Tables of at most `most` events; the last one may be empty."""
        rows, diag = ctypes.c_void_p(), new_diag()
        with self._archive as archive:
            error = library().rfn_event_rows_open(archive, ctypes.byref(choice), ctypes.byref(rows),
                                                  ctypes.byref(diag))
            if error < 0:
                raise failure(error, diag, self.file)
            try:
                more = True
                while more:
                    with self._archive:  # raises if it has been closed meanwhile
                        more = self._fill_events(rows, filling, most)
                    table, filling = self._table("events", archive, filling), filling.again()
                    yield table
            finally:
                library().rfn_event_rows_close(rows)

    def _fill_events(self, rows: ctypes.c_void_p, filling: Filling, most: int) -> bool:
        """Fills until there are `most` events; False: there are no more."""
        while filling.n < most:
            diag, batch = new_diag(), min(max(FIRST_BATCH, filling.n), LAST_BATCH, most - filling.n)
            filling.reserve(batch)
            got = library().rfn_event_rows_next(rows, filling.pointers(), batch, ctypes.byref(diag))
            if got == 0:
                return False
            self._raise_or_warn(got, diag)
            filling.n += max(got, 0)
        return True

    def _match(self, archive: ctypes.c_void_p, filling: Filling) -> None:
        """Has the library call back whenever a batch is full. An exception there ends the walk."""
        raised: List[BaseException] = []

        def take(_context: Any, n: int) -> Optional[int]:
            try:
                filling.n += n
                filling.reserve(MESSAGE_BATCH)
                return filling.pointers()
            except BaseException as error:  # pylint: disable=broad-except
                raised.append(error)
                return None

        diag = new_diag()
        filling.reserve(MESSAGE_BATCH)
        error = library().rfn_message_rows(archive, filling.pointers(), MESSAGE_BATCH, Take(take), None,
                                           ctypes.byref(diag))
        if raised:
            raise raised[0]
        self._raise_or_warn(error, diag)

    def _results(self, name: str, table: int, region: Optional[str]) -> Table:
        diag = new_diag()
        with self._archive as archive:
            rows = self._archive.results(self._region(archive, region))
            self._raise_or_warn(library().rfn_result_rows_error(rows, ctypes.byref(diag)), diag)
            filling = Filling(Layout(table), None)
            n = library().rfn_result_rows_count(rows, table)
            filling.reserve(n)
            library().rfn_result_rows_fill(rows, table, filling.pointers())
            filling.n = n
            return self._table(name, archive, filling)

    def _region(self, archive: ctypes.c_void_p, name: Optional[str]) -> Optional[bytes]:
        """The name of a region as the archive has it."""
        if name is None:
            return None
        names = self._names_of(archive, REGION_NAMES)
        if name not in names:
            raise ValueError(f"no region {name!r}; the run has {', '.join(map(repr, names)) or 'none'}")
        return library().rfn_columns_name(archive, REGION_NAMES, names.index(name))


def _depth() -> int:
    """For warnings: how many frames from the caller on belong to this package."""
    depth, frame = 0, sys._getframe(1)  # pylint: disable=protected-access
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        depth, frame = depth + 1, frame.f_back
    return depth + 1


def _facts(archive: ctypes.c_void_p) -> Dict[str, Any]:
    facts, fact = {}, Fact()
    while library().rfn_run_fact(archive, len(facts), ctypes.byref(fact)):
        value = {TEXT: decoded(fact.text), NUMBER: fact.number, TRUTH: bool(fact.number), REAL: fact.real}[fact.type]
        facts[fact.name.decode("ascii")] = value
    return facts


def _frame(archive: ctypes.c_void_p, number: int) -> Frame:
    found = library().rfn_archive_location(archive, number)
    return Frame(decoded(found.function), decoded(found.file), found.line, decoded(found.module), found.offset)


def _path_text(archive: ctypes.c_void_p, path: int) -> str:
    text = Text()
    library().rfn_call_path_full(ctypes.byref(text), archive, path)
    try:
        if text.failed:
            raise MemoryError("no memory for the text of a call path")
        return ctypes.string_at(text.data, text.n).decode("utf-8", "backslashreplace") if text.n else ""
    finally:
        library().rfn_text_release(ctypes.byref(text))


def open(file: Union[str, "os.PathLike[str]"]) -> Run:  # pylint: disable=redefined-builtin
    """Opens an archive. A file that is none, or is damaged, raises refrain.Error; one that was cut short, or misses
    ranks, gives refrain.IncompleteWarning and the rest."""
    return Run(file)
