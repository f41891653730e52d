"""What reading an archive may fail with: enum rfn_error of refrain/error.h."""
import enum
from typing import Optional


class ErrorCode(enum.IntEnum):
    """What kind of failure it was."""

    NOMEM = -99
    IO = -98
    CORRUPT = -97
    INCOMPLETE = -96
    VERSION = -95
    NOTFOUND = -94
    EXISTS = -93
    RANGE = -92
    EXCHANGE = -91
    UNSUPPORTED = -90
    USAGE = -89


class Error(Exception):
    """An archive, or the library, cannot be used.

    code: the kind. file: the archive. offset: the byte in the file, rank: the rank of MPI_COMM_WORLD; each is None
    where it does not apply.
    """

    def __init__(self, text: str, code: int, file: Optional[str] = None, offset: Optional[int] = None,
                 rank: Optional[int] = None) -> None:
        super().__init__(f"{file}: {text}" if file else text)
        self.code = ErrorCode(code) if code in ErrorCode.__members__.values() else code
        self.file, self.offset, self.rank = file, offset, rank


class IncompleteWarning(UserWarning):
    """The archive was cut short, or misses ranks: tables have the rest."""
