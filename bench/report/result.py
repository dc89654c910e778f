"""The result file: one JSON object, described in docs/benchmarks.md."""

import contextlib
import datetime
import json
import pathlib
import re
import subprocess

SCHEMA = 1
ROW_KEYS = {
    "family",
    "expression",
    "operations",
    "n",
    "dtype",
    "executor",
    "implementation",
    "median_ns",
    "q1_ns",
    "q3_ns",
    "repetitions",
    "bytes",
    "limit_share",
}
SPREAD = {"median_ns", "q1_ns", "q3_ns", "repetitions"}
SECTION_KEYS = {
    "rows": {"executor", "operation", "columns", "rows", "dtype", "implementation", "bytes"},
    "products": {"executor", "operation", "shape", "dtype", "implementation", "operations"},
    "hits": {"driver", "what", "case"},
    "first": {"step", "operations"},
    "start": {"program"},
    "growth": {"step", "nodes"},
    "compile": {"library", "count", "operations", "code_bytes"},
}
NUMBERS = {"operations", "n", "bytes", "nodes", "count", "code_bytes", "columns", "rows"}
LEAST, MOST = 1e-6, 1e18  # of measured values: ns, bytes, operations
MACHINE = {"processor": str, "system": str, "kernel": str, "cores": float, "virtual": bool}
MACHINE.update(caches=dict, gpus=list)
VERSIONS = {"commit": str, "libraries": dict, "peers": dict}
SETTINGS = {"repetitions": float, "min_time_s": float}
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Unreadable(Exception):
    """A file is not a result of this schema."""


@contextlib.contextmanager
def shown(what):
    """Checks that it can be shown: valid rows alone may still lack one that a table or a chart needs."""
    try:
        yield
    except KeyError as error:
        raise Unreadable(f"{what} cannot be shown: the result has no {error}") from error
    except (ArithmeticError, LookupError, StopIteration, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"{what} cannot be shown: {error}") from error


def commit():
    """The commit of the source tree, "-changed" if files differ from it; a gathered folder has a file with it."""
    carried = ROOT / "COMMIT"
    if carried.exists():
        return carried.read_text(encoding="utf-8").strip()
    done = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=12", "--dirty=-changed", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def new(machine, settings):
    return {
        "schema": SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine,
        "versions": {"commit": commit(), "libraries": {}, "peers": {}},
        "settings": settings,
        "notes": [],
        "errors": [],
        "clock": [],
        "rows": [],
        "sections": {},
    }


def lines(rows):
    """One row per line, for people and git to read and compare."""
    return "[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]"


def save(result, path):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [
        f"{json.dumps(key)}: {json.dumps(value)}" for key, value in result.items() if key not in ("rows", "sections")
    ]
    sections = ",\n ".join(f"{json.dumps(name)}: {lines(rows)}" for name, rows in result["sections"].items())
    parts += [f'"sections": {{\n {sections}}}', f'"rows": {lines(result["rows"])}']
    path.write_text("{" + ",\n ".join(parts) + "\n}\n", encoding="utf-8")


def load(path):
    """Throws Unreadable, saying why."""
    try:
        result = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"cannot read {path}: {error}") from error
    if not isinstance(result, dict) or result.get("schema") != SCHEMA:
        raise Unreadable(f"{path} is no result of schema {SCHEMA}")
    try:
        result = printable(result)
        check(result)
    except (Unreadable, RecursionError) as error:
        raise Unreadable(f"{path}: {error}") from error
    return result


# Terminal control characters, and characters that are invalid in XML or UTF-8.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(value):
    """Replaces characters that cannot be shown: a program's last output may contain anything."""
    if isinstance(value, str):
        return UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [printable(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): printable(item) for key, item in value.items()}
    return value


def demand(true, message):
    if not true:
        raise Unreadable(message)


def is_number(value, low):
    """NaN is not a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= MOST


def check(result):
    """Checks that everything that is shown exists and has the right type."""
    for key, kind in new({}, {}).items():
        demand(isinstance(result.get(key), type(kind)), f"{key} is missing or of another kind")
    check_keys(result["machine"], MACHINE, "machine")
    check_keys(result["versions"], VERSIONS, "versions")
    check_keys(result["settings"], SETTINGS, "settings")
    for entry in result["clock"]:
        demand(isinstance(entry, dict) and is_number(entry.get("ghz"), LEAST), "clock: an entry has no ghz")
    for row in result["rows"]:
        check_row(row, ROW_KEYS - {"limit_share"}, "a row")
        check_amounts(row)
    for section, rows in result["sections"].items():
        demand(isinstance(rows, list), f"{section} has no rows")
        for row in rows:
            check_row(row, SECTION_KEYS.get(section, set()) | SPREAD, f"a row of {section}")


def check_keys(given, kinds, where):
    for key, kind in kinds.items():
        right = isinstance(given.get(key), kind) if kind is not float else is_number(given.get(key), 0)
        demand(right, f"{where}: {key} is missing or of another kind")


def check_row(row, keys, where):
    demand(isinstance(row, dict), f"{where} is of another kind")
    missing = keys - row.keys()
    demand(not missing, f"{where} lacks {', '.join(sorted(missing))}")
    for key in keys - SPREAD:
        kind = "a number" if key in NUMBERS else "a text"
        right = is_number(row[key], 0) if key in NUMBERS else isinstance(row[key], str)
        demand(right, f"{where}: {key} is {row[key]!r:.40}, not {kind}")
    for key in SPREAD:
        demand(is_number(row[key], LEAST), f"{where}: {key} is {row[key]!r:.40}, no number above 0")


def check_amounts(row):
    share = row.get("limit_share", 0)
    demand(share is None or is_number(share, 0), f"a row: limit_share is {share!r:.40}")
    if row["implementation"] != "limit":
        for key in ("n", "operations", "bytes"):
            demand(row[key] >= 1, f"a row of {row['expression']}: {key} is {row[key]!r:.40}")
