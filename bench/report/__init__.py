"""Runs the benchmarks, writes their result as JSON, and shows it: a table, a page, a comparison."""
