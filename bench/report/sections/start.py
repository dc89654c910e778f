"""A process from start to end, and its memory."""

import os
import subprocess

from ..spread import spread

BUDGETS = {"start_ms": 5, "disk_hit_ms": 3, "memory_mib": 20}
PROGRAMS = {
    "empty": "empty program",
    "linked": "with Sinter linked",
    "evaluating": "and one evaluation",
    "device": "a GPU opened (a driver that does nothing)",
    "disk_hit": "and one evaluation, its kernel on disk",
}


def measure(context):
    """Rows: program; and one row for each program whose memory is known."""
    # The programs set SINTER_CACHE themselves, to use the disk cache.
    found, _ = context.run("start")
    rows = [{"program": name.partition("/")[2], **spread(measurement.times)} for name, measurement in found.items()]
    for program in ("empty", "linked"):
        command = [os.path.join(context.folder, program), "memory"]
        kib = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        next(row for row in rows if row["program"] == {"linked": "evaluating"}.get(program, program))[
            "resident_kib"
        ] = kib
    return rows
