"""Sections of a result besides the expressions: {name: function that measures it}."""

from . import compile_time, first, growth, hits, start

SECTIONS = {
    "hits": hits.measure,
    "first": first.measure,
    "start": start.measure,
    "growth": growth.measure,
    "compile": compile_time.measure,
}
