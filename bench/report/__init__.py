"""Runs the benchmarks, writes the result as JSON, and presents it: as a table, a page, a comparison."""
