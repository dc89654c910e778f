"""A self-contained HTML page of a result."""

import pathlib

from .document import document


def write(result, path):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document(result), encoding="utf-8")
