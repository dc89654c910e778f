"""Clocks, power and temperature of the GPUs during a run, from nvidia-smi."""

import shutil
import statistics
import subprocess
import threading
import time

FIELDS = ["index", "clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "utilization.gpu"]
NAMES = ["gpu", "sm_mhz", "memory_mhz", "watts", "celsius", "busy_percent"]
EVERY_MS = 1000


def numbers(line):
    """A line of nvidia-smi as numbers by name; none if malformed. Values that a GPU does not report are omitted."""
    values = line.strip().split(", ")
    if len(values) != len(NAMES) or not values[0].isdigit():
        return None
    found = {}
    for name, value in zip(NAMES, values):
        try:
            found[name] = float(value)
        except ValueError:
            continue
    return found


class Clocks:
    """`with Clocks(file) as clocks:` writes nvidia-smi's output every second; between(a, b) summarizes it."""

    def __init__(self, path):
        self.path, self.samples, self.process = path, [], None

    def __enter__(self):
        if shutil.which("nvidia-smi"):
            query = ["nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits", f"-lms={EVERY_MS}"]
            self.process = subprocess.Popen(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.thread = threading.Thread(target=self.read, daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.thread.join(5)

    def read(self):
        begin = time.monotonic()
        with self.path.open("w", encoding="utf-8") as file:
            print("seconds", *NAMES, sep=", ", file=file)
            for line in self.process.stdout:
                if sample := numbers(line):
                    self.samples.append((time.monotonic(), sample))
                    print(f"{time.monotonic() - begin:.1f}", line.strip(), sep=", ", file=file, flush=True)

    def between(self, begin, end):
        """{name: [lowest, median, highest]} of all GPUs' samples in that interval and just around it."""
        inside = [s for t, s in self.samples if begin - 1.5 <= t <= end + 1.5]
        found = {}
        for name in NAMES[1:]:
            values = [s[name] for s in inside if name in s]
            if values:
                found[name] = [min(values), statistics.median(values), max(values)]
        return found
