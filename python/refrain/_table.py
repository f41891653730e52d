"""Tables: columns of numbers; some are codes of names."""
import array
import ctypes
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from ._library import Column, library

TYPECODES = {0: "i", 1: "q"}  # enum rfn_column_type: 32 and 64 bits
assert [array.array(code).itemsize for code in TYPECODES.values()] == [4, 8]

Names = Sequence[Optional[str]]


class Layout:
    """The columns of a table, as the library describes them: names, widths, what codes are of."""

    def __init__(self, table: int) -> None:
        columns = ctypes.POINTER(Column)()
        n = library().rfn_columns_of(table, ctypes.byref(columns))
        self.names = [columns[i].name.decode("ascii") for i in range(n)]
        self.types = [TYPECODES[columns[i].type] for i in range(n)]
        self.codes_of = [columns[i].names for i in range(n)]

    def wanted(self, columns: Optional[Iterable[str]]) -> List[bool]:
        if columns is None:
            return [True] * len(self.names)
        chosen = {columns} if isinstance(columns, str) else set(columns)
        unknown = sorted(chosen - set(self.names))
        if unknown:
            raise ValueError(f"no column {unknown[0]!r}; there are {', '.join(self.names)}")
        return [name in chosen for name in self.names]


class Filling:
    """Arrays that grow while the library fills them."""

    def __init__(self, layout: Layout, columns: Optional[Iterable[str]]) -> None:
        self.layout = layout
        self.arrays = [array.array(code) if wanted else None
                       for code, wanted in zip(layout.types, layout.wanted(columns))]
        self.n = self.capacity = 0
        self._pointers = (ctypes.c_void_p * len(layout.names))()

    def again(self) -> "Filling":
        """Empty arrays for the same columns."""
        return Filling(self.layout, [name for name, column in zip(self.layout.names, self.arrays)
                                     if column is not None])

    def reserve(self, more: int) -> None:
        """Room for so many rows behind those that there are."""
        if self.capacity - self.n < more:
            self.resize(max(self.n + more, self.capacity + self.capacity // 2))

    def resize(self, capacity: int) -> None:
        for column in self.arrays:
            if column is not None and capacity > self.capacity:
                column.frombytes(bytes((capacity - self.capacity) * column.itemsize))
            elif column is not None:
                del column[capacity:]
        self.capacity = capacity

    def pointers(self) -> int:
        """The address of the addresses behind the rows that there are, valid until the next call or resize."""
        for i, column in enumerate(self.arrays):
            self._pointers[i] = None if column is None else column.buffer_info()[0] + self.n * column.itemsize
        return ctypes.addressof(self._pointers)


class Table:
    """Rows of columns. The numbers are in arrays of the standard library, which numpy and pandas use without a copy.

    A column that stands for names has their codes; -1: there is none. Tables stay when the run is closed.
    """

    def __init__(self, name: str, columns: Dict[str, "array.array[int]"], names: Dict[str, Names], rows: int) -> None:
        self.name = name
        self.names = names
        self._columns, self._rows = columns, rows

    @property
    def columns(self) -> Tuple[str, ...]:
        return tuple(self._columns)

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<refrain.Table {self.name}: {self._rows} rows of {', '.join(self._columns)}>"

    def __getitem__(self, column: str) -> "array.array[int]":
        """The numbers of a column: of names their codes."""
        return self._columns[column]

    def decoded(self, column: str) -> List[Any]:
        """The values of a column: of names the names, None without one."""
        values = self._columns[column]
        if column not in self.names:
            return list(values)
        names = self.names[column]
        return [names[code] if 0 <= code < len(names) else None for code in values]

    def to_dict(self) -> Dict[str, List[Any]]:
        """Lists of values by column, with names in place of codes."""
        return {column: self.decoded(column) for column in self._columns}

    def rows(self) -> Iterator[Dict[str, Any]]:
        """The rows, one after the other, with names in place of codes."""
        columns = self.to_dict()
        for values in zip(*columns.values()):
            yield dict(zip(columns, values))

    def to_numpy(self) -> Dict[str, Any]:
        """Arrays of numpy by column, which share memory with the table; of names their codes."""
        numpy = _numpy("to_numpy")
        return {column: numpy.asarray(values) for column, values in self._columns.items()}

    def to_records(self) -> Any:
        """One structured array of numpy, a copy; of names their codes."""
        numpy, columns = _numpy("to_records"), self.to_numpy()
        records = numpy.empty(self._rows, dtype=[(column, values.dtype) for column, values in columns.items()])
        for column, values in columns.items():
            records[column] = values
        return records

    def to_pandas(self) -> Any:
        """A data frame, whose numbers share memory with the table. Names are categories; codes of equal names, and
        of names that are not known, become one."""
        try:
            import pandas  # type: ignore[import]  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise ImportError("Table.to_pandas needs pandas (python3-pandas); Table.to_dict needs nothing") from error
        columns = self.to_numpy()
        for column, names in self.names.items():
            categories, codes = _distinct(names, columns[column])
            columns[column] = pandas.Categorical.from_codes(codes, categories=categories)
        return pandas.DataFrame(columns, copy=False)


def _numpy(method: str) -> Any:
    try:
        import numpy  # type: ignore[import]  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError(f"Table.{method} needs numpy (python3-numpy); Table.to_dict needs nothing") from error
    return numpy


def _distinct(names: Names, codes: Any) -> Tuple[List[str], Any]:
    """Categories, which are to be distinct, and the codes of an array for them."""
    numbers: Dict[Optional[str], int] = {None: -1}
    renumbered = [numbers.setdefault(name, len(numbers) - 1) for name in names]
    categories = [name for name in numbers if name is not None]
    if renumbered == list(range(len(names))):
        return categories, codes
    numpy = _numpy("to_pandas")
    return categories, numpy.array([*renumbered, -1], dtype=codes.dtype)[codes]
