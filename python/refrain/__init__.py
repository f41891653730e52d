"""Reads archives of Refrain: events, messages and results of analyses as tables.

    import refrain

    with refrain.open("app.64.rfn") as run:
        events = run.events(ranks=[0, 1]).to_pandas()
        print(events.groupby("function", observed=True).inside_ns.sum())

Importing needs the standard library only. Table.to_numpy needs numpy, Table.to_pandas needs pandas. doc/python.md is
the guide.
"""
from ._errors import Error, ErrorCode, IncompleteWarning
from ._run import Frame, Run, open  # pylint: disable=redefined-builtin
from ._table import Table

__all__ = ["Error", "ErrorCode", "Frame", "IncompleteWarning", "Run", "Table", "open"]
