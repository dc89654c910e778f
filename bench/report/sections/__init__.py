"""Sections of a result beside the expressions: name, what it measures."""

from . import compile_time, first, growth, hits, start

SECTIONS = {
    "hits": hits.measure,
    "first": first.measure,
    "start": start.measure,
    "growth": growth.measure,
    "compile": compile_time.measure,
}
