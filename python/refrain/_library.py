"""librefrain by ctypes: its functions, and the structures of refrain/columns.h.

The library is looked for where REFRAIN_LIBRARY says, else where `make install` put it, else where the system looks.
Text of the library is UTF-8; bytes of it that are none become \\xNN, as `refrain dump` has them.
"""
import ctypes
import os
import threading
from ctypes import POINTER, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Optional

from ._errors import Error, ErrorCode

NAME = "librefrain.so.0"
COLUMNS_VERSION = 1  # RFN_COLUMNS_VERSION


class Diag(ctypes.Structure):
    _fields_ = [("text", c_char * 512), ("file_offset", c_int64), ("rank", c_int)]


class Column(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("names", c_int)]


class Fact(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("text", c_char_p), ("number", c_int64), ("real", c_double)]


class Location(ctypes.Structure):
    _fields_ = [("function", c_char_p), ("file", c_char_p), ("line", c_uint32), ("module", c_char_p),
                ("offset", c_uint64)]


class Path(ctypes.Structure):
    _fields_ = [("frames", POINTER(c_uint32)), ("n_frames", c_uint32)]


class Text(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("n", c_size_t), ("capacity", c_size_t), ("failed", c_bool)]


class EventChoice(ctypes.Structure):
    _fields_ = [("ranks", POINTER(c_uint32)), ("n_ranks", c_size_t), ("from_given", c_bool), ("to_given", c_bool),
                ("from_ns", c_int64), ("to_ns", c_int64)]


# The address of the arrays for what follows, or None to end.
Take = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_size_t)

_DIAG = POINTER(Diag)
_PROTOTYPES = {
    "rfn_columns_version": (c_int,),
    "rfn_error_text": (c_char_p, c_int),
    "rfn_archive_open": (c_int, c_char_p, POINTER(c_void_p), _DIAG),
    "rfn_archive_close": (None, c_void_p),
    "rfn_archive_complete": (c_bool, c_void_p, POINTER(c_char_p)),
    "rfn_archive_path": (Path, c_void_p, c_uint32),
    "rfn_archive_location": (Location, c_void_p, c_uint32),
    "rfn_call_path_full": (None, POINTER(Text), c_void_p, c_uint32),
    "rfn_text_release": (None, POINTER(Text)),
    "rfn_columns_of": (c_uint32, c_int, POINTER(POINTER(Column))),
    "rfn_columns_codes": (c_uint32, c_void_p, c_int),
    "rfn_columns_name": (c_char_p, c_void_p, c_int, c_uint32),
    "rfn_run_fact": (c_bool, c_void_p, c_uint32, POINTER(Fact)),
    "rfn_thread_rows": (None, c_void_p, c_void_p),
    "rfn_event_rows_open": (c_int, c_void_p, POINTER(EventChoice), POINTER(c_void_p), _DIAG),
    "rfn_event_rows_next": (c_int, c_void_p, c_void_p, c_size_t, _DIAG),
    "rfn_event_rows_close": (None, c_void_p),
    "rfn_message_rows": (c_int, c_void_p, c_void_p, c_size_t, Take, c_void_p, _DIAG),
    "rfn_result_rows_new": (c_int, c_void_p, c_char_p, POINTER(c_void_p), _DIAG),
    "rfn_result_rows_error": (c_int, c_void_p, _DIAG),
    "rfn_result_rows_count": (c_size_t, c_void_p, c_int),
    "rfn_result_rows_fill": (None, c_void_p, c_int, c_void_p),
    "rfn_result_rows_free": (None, c_void_p),
}

_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def _place() -> str:
    given = os.environ.get("REFRAIN_LIBRARY")
    if given:
        return given
    try:
        from . import _installed  # type: ignore[attr-defined]  # pylint: disable=import-outside-toplevel
    except ImportError:
        return NAME
    return os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), _installed.LIBRARY))


def _load() -> ctypes.CDLL:
    place = _place()
    try:
        loaded = ctypes.CDLL(place)
        for name, (result, *arguments) in _PROTOTYPES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise Error(f"cannot load Refrain's library: {error}; set REFRAIN_LIBRARY to the path of {NAME}",
                    ErrorCode.NOTFOUND) from error
    version = loaded.rfn_columns_version()
    if version != COLUMNS_VERSION:
        raise Error(f"{place} has tables of version {version}, this module needs {COLUMNS_VERSION}; install both from "
                    "the same sources", ErrorCode.VERSION)
    return loaded


def library() -> ctypes.CDLL:
    """Loads it when it is needed first."""
    global _loaded  # pylint: disable=global-statement
    with _lock:
        if _loaded is None:
            _loaded = _load()
        return _loaded


def decoded(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode("utf-8", "backslashreplace")


def failure(error: int, diag: Diag, file: Optional[str]) -> Error:
    """The exception for a negative result."""
    text = decoded(diag.text) or decoded(library().rfn_error_text(error)) or "unknown error"
    return Error(text, error, file, diag.file_offset if diag.file_offset >= 0 else None,
                 diag.rank if diag.rank >= 0 else None)


def new_diag() -> Diag:
    return Diag(b"", -1, -1)
