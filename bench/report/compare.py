"""Two results, row by row: faster, slower, or the same within their noise.

A row has changed if three conditions hold: the medians differ by more than `LEAST`; they differ by more than `SIGMAS`
standard errors, estimated from the quartiles and the number of repetitions; and the interquartile ranges do not
overlap. The first excludes changes too small to notice, the others the variation between repetitions of one program.

Two runs differ by more than that: by the clock rate, by the machine's other load. Code that is not ours shows by how
much, since the peers and the limits ran the same code both times. Only Sinter's rows get verdicts, and a change must
exceed, besides the standard errors, the changes of all but a twentieth of the others' rows.
"""

import dataclasses
import math

from . import read
from .sections import SECTIONS

LEAST = 0.03
SIGMAS = 4.0
# For a normal distribution: the interquartile range in standard deviations, and the standard error of a median.
QUARTILE_DISTANCE, MEDIAN_ERROR = 1.349, 1.2533
OURS = ("sinter", "eager")
NULL_PERCENTILE = 0.95
ENOUGH = 20  # rows of others on an executor, to estimate its own noise separately
FEW = 3  # too few repetitions to estimate a spread


@dataclasses.dataclass
class Change:
    key: tuple
    old: float
    new: float
    verdict: str
    error: float  # of the logarithm of the ratio
    least: float  # the smallest logarithm of a ratio that counts as a change

    @property
    def ratio(self):
        return self.new / self.old


def relative_error(row):
    """The standard error of the logarithm of the median."""
    sigma = (row["q3_ns"] - row["q1_ns"]) / QUARTILE_DISTANCE
    return MEDIAN_ERROR * sigma / math.sqrt(row["repetitions"]) / row["median_ns"]


def verdict(old, new, least):
    """The verdict on two rows; the logarithm of their ratio must be at least `least`."""
    change = math.log(new["median_ns"] / old["median_ns"])
    if min(old["repetitions"], new["repetitions"]) < FEW:
        return "unknown"
    overlap = old["q1_ns"] <= new["q3_ns"] and new["q1_ns"] <= old["q3_ns"]
    if overlap or abs(change) < least:
        return "same"
    return "slower" if change > 0 else "faster"


def is_ours(key):
    """Whether a change of this code can change a row: not for peers, limits, and programs without Sinter."""
    if key[0] == "hits":
        return key[2] != "bare"
    if key[0] == "start":
        return key[1] != "empty"
    if key[0] == "compile":
        return key[1] == "sinter"
    return key[0] in SECTIONS or key[-1] in OURS


def null_of(ratios):
    """{executor, or None for all: the logarithm of a ratio that few of the others' rows exceed}."""
    groups = {None: [abs(math.log(ratio)) for ratio in ratios.values()]}
    for key, ratio in ratios.items():
        groups.setdefault(key[0], []).append(abs(math.log(ratio)))
    return {
        group: sorted(found)[math.ceil(NULL_PERCENTILE * len(found)) - 1]
        for group, found in groups.items()
        if found and (group is None or len(found) >= ENOUGH)
    }


NOT_KEYS = {"median_ns", "q1_ns", "q3_ns", "repetitions", "resident_kib", "code_bytes"}
NOT_KEYS |= {"bytes", "limit_share", "over_gemm", "threads"}


def rows_of(result):
    """{key: row} of the expressions and of all sections."""
    found = {(r["executor"], r["expression"], r["n"], r["dtype"], r["implementation"]): r for r in result["rows"]}
    for section, rows in result["sections"].items():
        for row in rows:
            found[(section, *(str(value) for key, value in row.items() if key not in NOT_KEYS))] = row
    return found


def changes(old, new):
    """A Change for each row that both have, largest first; the verdict on rows that are not ours is "other"."""
    before, after = rows_of(old), rows_of(new)
    both = [key for key in before if key in after]
    ratios = {key: after[key]["median_ns"] / before[key]["median_ns"] for key in both}
    null = null_of({key: ratio for key, ratio in ratios.items() if not is_ours(key)})
    found = []
    for key in both:
        error = math.hypot(relative_error(before[key]), relative_error(after[key]))
        least = max(math.log(1 + LEAST), null.get(key[0], null.get(None, 0)) + SIGMAS * error)
        said = verdict(before[key], after[key], least) if is_ours(key) else "other"
        found.append(Change(key, before[key]["median_ns"], after[key]["median_ns"], said, error, least))
    return sorted(found, key=lambda change: -abs(math.log(change.ratio)))


def geometric_mean(found):
    return math.exp(sum(math.log(change.ratio) for change in found) / len(found)) if found else None


def means(found):
    """A line for each executor and section: the mean change of all its rows, and the smallest detectable one."""
    for group in dict.fromkeys(change.key[0] for change in found):
        here = [change for change in found if change.key[0] == group]
        ours = [change for change in here if is_ours(change.key)]
        parts = [(name, [c for c in ours if c.key[-1] == name]) for name in OURS]
        parts += [("Sinter", ours)] if group in SECTIONS else []
        parts.append(("others", [c for c in here if not is_ours(c.key)]))
        named = [(read.NAMES.get(name, name), rows) for name, rows in parts if rows]
        said = ", ".join(f"{name} {geometric_mean(rows):.3f} ({len(rows)} rows)" for name, rows in named)
        if least := sorted(change.least for change in ours):
            said += (
                f"; the smallest change that can be found: {math.expm1(least[0]):.0%},"
                f" {math.expm1(least[len(least) // 2]):.0%} in half of the rows"
            )
        yield f"{group}: geometric mean of the ratios: {said}"


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
    for line in means(found):
        print(line)
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
        "of Sinter's rows: "
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
