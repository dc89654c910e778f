"""The result file: one JSON object. docs/benchmarks.md describes it."""

import datetime
import json
import pathlib
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
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Unreadable(Exception):
    """A file is no result of this schema."""


def commit():
    """The commit of the source tree, "-changed" where files differ from it; a folder that was carried has a file."""
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


def save(result, path):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {key: value for key, value in result.items() if key != "rows"}
    text = json.dumps(head, indent=1)
    rows = ",\n".join("  " + json.dumps(row) for row in result["rows"])  # one line each, to be read and compared
    path.write_text(f'{text[:-2]},\n "rows": [\n{rows}\n ]\n}}\n', encoding="utf-8")


def load(path):
    """Throws Unreadable, saying why."""
    try:
        result = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"cannot read {path}: {error}") from error
    if not isinstance(result, dict) or result.get("schema") != SCHEMA:
        raise Unreadable(f"{path} is no result of schema {SCHEMA}")
    for row in result["rows"]:
        if missing := ROW_KEYS - row.keys():
            raise Unreadable(f"{path}: a row lacks {', '.join(sorted(missing))}")
    return result
