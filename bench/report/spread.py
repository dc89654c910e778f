"""Median and quartiles of repetitions."""

import statistics


def spread(times):
    """The keys that every measured row has."""
    if len(times) == 1:
        first = median = third = times[0]
    else:
        first, median, third = statistics.quantiles(times, n=4, method="inclusive")
    return {"median_ns": median, "q1_ns": first, "q3_ns": third, "repetitions": len(times)}


def without_events(row):
    """A row that others are compared with: these have no GPU events."""
    return {key: value for key, value in row.items() if key != "gpu_ns"}
