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


def lines(rows):
    """Rows one a line, to be read and compared by people and by git."""
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
    except (OSError, ValueError) as error:
        raise Unreadable(f"cannot read {path}: {error}") from error
    if not isinstance(result, dict) or result.get("schema") != SCHEMA:
        raise Unreadable(f"{path} is no result of schema {SCHEMA}")
    for row in result["rows"]:
        if missing := ROW_KEYS - row.keys():
            raise Unreadable(f"{path}: a row lacks {', '.join(sorted(missing))}")
    return result
