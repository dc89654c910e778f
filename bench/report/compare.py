"""Two results, row by row: faster, slower, or the same within their noise.

A row has changed where three things hold. The medians differ by more than `LEAST`. They differ by more than `SIGMAS`
standard errors, as estimated from the quartiles and the number of repetitions. And the ranges between the quartiles do
not overlap. The first keeps out what nobody would notice, the others what repetitions of one program do by themselves.
"""

import dataclasses
import math

from . import read

LEAST = 0.03
SIGMAS = 4.0
# Of a normal distribution: the distance of its quartiles in standard deviations, and the standard error of a median.
QUARTILE_DISTANCE, MEDIAN_ERROR = 1.349, 1.2533
FEW = 3  # repetitions from which no spread can be told


@dataclasses.dataclass
class Change:
    key: tuple
    old: float
    new: float
    verdict: str
    error: float  # of the logarithm of the ratio

    @property
    def ratio(self):
        return self.new / self.old


def relative_error(row):
    """The standard error of the median's logarithm."""
    sigma = (row["q3_ns"] - row["q1_ns"]) / QUARTILE_DISTANCE
    return MEDIAN_ERROR * sigma / math.sqrt(row["repetitions"]) / row["median_ns"]


def verdict(old, new):
    """(verdict, error) of two rows."""
    error = math.hypot(relative_error(old), relative_error(new))
    change = math.log(new["median_ns"] / old["median_ns"])
    if min(old["repetitions"], new["repetitions"]) < FEW:
        return "unknown", error
    overlap = old["q1_ns"] <= new["q3_ns"] and new["q1_ns"] <= old["q3_ns"]
    if overlap or abs(change) < math.log(1 + LEAST) or abs(change) < SIGMAS * error:
        return "same", error
    return ("slower" if change > 0 else "faster"), error


NOT_KEYS = {"median_ns", "q1_ns", "q3_ns", "repetitions", "resident_kib", "code_bytes"}


def rows_of(result):
    """{key: row} of the expressions and of all sections; the limit is the machine's, not ours."""
    found = {(r["executor"], r["expression"], r["n"], r["dtype"], r["implementation"]): r for r in result["rows"]}
    for section, rows in result["sections"].items():
        for row in rows:
            found[(section, *(str(value) for key, value in row.items() if key not in NOT_KEYS))] = row
    return found


def changes(old, new):
    """A Change for each row that both have, the largest first."""
    before, after = rows_of(old), rows_of(new)
    found = []
    for key in before:
        if key in after and before[key]["median_ns"] > 0 and after[key]["median_ns"] > 0:
            said, error = verdict(before[key], after[key])
            found.append(Change(key, before[key]["median_ns"], after[key]["median_ns"], said, error))
    return sorted(found, key=lambda change: -abs(math.log(change.ratio)))


def clock(result):
    rates = sorted(entry["ghz"] for entry in result["clock"])
    return rates[len(rates) // 2] if rates else None


def warnings(old, new):
    """Why the two may not be comparable."""
    for key in ("processor", "cores", "caches", "gpus"):
        if old["machine"].get(key) != new["machine"].get(key):
            yield f"the machines differ: {key} {old['machine'].get(key)} and {new['machine'].get(key)}"
    for key in ("compiler", "peer_flags", "libraries", "peers"):
        if old["versions"].get(key) != new["versions"].get(key):
            yield f"the versions differ: {key} {old['versions'].get(key)} and {new['versions'].get(key)}"
    for key in ("repetitions", "min_time_s"):
        if old["settings"].get(key) != new["settings"].get(key):
            yield f"the settings differ: {key} {old['settings'].get(key)} and {new['settings'].get(key)}"
    before, after = clock(old), clock(new)
    if before and after and abs(math.log(after / before)) > 0.1:
        yield f"the clock ran at {before} GHz and at {after} GHz: compare ratios within one result instead"
    unmoved = limit_shift(old, new)
    if unmoved and abs(math.log(unmoved)) > 0.1:
        yield (
            f"what the hardware allows took {unmoved:.2f} times as long: the machine was busier in one of the two, or"
            " is another"
        )


def limit_shift(old, new):
    """The median ratio of the limits' times."""
    before, after = rows_of(old), rows_of(new)
    ratios = sorted(after[k]["median_ns"] / before[k]["median_ns"] for k in before if k in after and k[-1] == "limit")
    return ratios[len(ratios) // 2] if ratios else None


def show(old, new, everything=False):
    for warning in warnings(old, new):
        print(f"warning: {warning}")
    found = changes(old, new)
    counts = {word: sum(1 for c in found if c.verdict == word) for word in ("faster", "slower", "same", "unknown")}
    shown = [c for c in found if everything or c.verdict in ("faster", "slower")]
    width = max([len(title(c)) for c in shown], default=0)
    for c in shown:
        print(
            f"{c.verdict:8} {c.ratio:7.3f} +- {c.error * c.ratio:.3f}  {title(c).ljust(width)}  {c.old:12.1f} ->"
            f" {c.new:12.1f} ns"
        )
    only = len(rows_of(old).keys() ^ rows_of(new).keys())
    print(
        f"{counts['faster']} faster, {counts['slower']} slower, {counts['same']} the same within noise"
        + (f", {counts['unknown']} with too few repetitions to tell" if counts["unknown"] else "")
        + (f"; {only} rows are in one file alone" if only else "")
    )
    print(
        f"old: {old['versions']['commit']}, {old['date']}; new: {new['versions']['commit']}, {new['date']}; "
        "ratios are new over old, below 1 is faster"
    )


def title(change):
    return " ".join(read.NAMES.get(str(part), str(part)) for part in change.key)
