"""Runs a Google Benchmark program and collects its repetitions."""

import dataclasses
import json
import os
import pathlib
import statistics
import subprocess

from .spread import spread

ASK_S = 60  # for a quick query, unless the driver hangs
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class ProgramFailed(Exception):
    """A program, or one of its benchmarks, ended with an error: a wrong result, for example."""


class OutOfTime(ProgramFailed):
    """A program was killed because time ran out. Holds what it had measured by then."""

    def __init__(self, message, found=None, context=None):
        super().__init__(message)
        self.found, self.context = found or {}, context or {}


@dataclasses.dataclass
class Measurement:
    """All repetitions of one benchmark, in ns, with its counters."""

    name: str
    label: str
    counters: dict
    order: int  # order of registration; random interleaving mixes the repetitions
    times: list = dataclasses.field(default_factory=list)
    gpu_times: list = dataclasses.field(default_factory=list)  # from events, if a GPU was measured

    def spread(self):
        """The keys for times in a row."""
        on_gpu = {"gpu_ns": statistics.median(self.gpu_times)} if self.gpu_times else {}
        return {**spread(self.times), **on_gpu}


@dataclasses.dataclass
class Settings:
    """How long and how often everything is measured."""

    repetitions: int
    min_time: float  # seconds per repetition

    def arguments(self):
        return [
            "--benchmark_format=json",
            f"--benchmark_min_time={self.min_time}",
            f"--benchmark_repetitions={self.repetitions}",
            "--benchmark_enable_random_interleaving=true",
        ]


def pin_to_one_processor():
    """One thread for everything that asks for the number of processors: oneTBB, OpenMP, XLA."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def brief(error):
    """One line of an error: the last one that a program printed."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ... ".join(dict.fromkeys([lines[0][:200], lines[-1][:300]])) if lines else type(error).__name__


def run(path, settings, arguments=(), environment=None, one_thread=False, seconds=None, errors=None):
    """(measurements by name, the program's description of its build), within a time limit.

    A benchmark that fails, for example with a wrong value, is omitted and passed to `errors`; without it, raises.
    """
    command = [str(path), *settings.arguments(), *arguments]
    # Kernels that an earlier run compiled must not count.
    variables = {"SINTER_CACHE": "memory", **os.environ, **(environment or {})}
    try:
        done = subprocess.run(
            command,
            env=variables,
            preexec_fn=pin_to_one_processor if one_thread else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as late:
        context, entries = cut_off(late.stdout or b"")
        raise OutOfTime(f"{path} took more than {seconds:.0f} s", gather(entries, []), context) from late
    except OSError as error:
        raise ProgramFailed(f"{path} cannot be run: {error}") from error
    if done.returncode != 0:
        raise ProgramFailed(f"{pathlib.Path(path).name} failed (status {done.returncode}):\n{done.stderr}")
    try:
        output = json.loads(done.stdout)
        return gather(output["benchmarks"], errors), output["context"]
    except (ValueError, LookupError) as error:
        raise ProgramFailed(f"{path} wrote no JSON of Google Benchmark: {error}") from error


def ask(path):
    """The description of a program's build and of the machine, such as the GPUs that it sees."""
    return run(path, Settings(1, 0.001), ["--benchmark_filter=^clock$"], seconds=ASK_S)[1]


def cut_off(output):
    """(context, benchmarks) of truncated JSON: the complete objects."""
    text = output.decode(errors="replace") if isinstance(output, bytes) else output
    head, key, tail = text.partition('"benchmarks":')
    try:
        context = json.loads(head.rstrip().rstrip(",") + "}")["context"] if key else {}
    except (ValueError, LookupError):
        return {}, []
    entries, tail = [], tail.lstrip().removeprefix("[").lstrip()
    while tail.startswith("{"):
        try:
            entry, end = json.JSONDecoder().raw_decode(tail)
        except ValueError:
            break
        entries.append(entry)
        tail = tail[end:].lstrip().removeprefix(",").lstrip()
    return context, entries


STANDARD = {
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
}


def gather(entries, errors=None):
    found, failed = {}, set()
    for entry in entries:
        if entry.get("error_occurred"):
            message = f"{entry['name']}: {entry['error_message']}"
            if errors is None:
                raise ProgramFailed(message)
            failed.add(entry["run_name"].replace("/real_time", ""))
            if message not in errors:
                errors.append(message)
            continue
        if entry["run_type"] != "iteration":
            continue
        name = entry["run_name"].replace("/real_time", "")
        counters = {key: value for key, value in entry.items() if key not in STANDARD}
        measurement = found.setdefault(name, Measurement(name, entry.get("label", ""), counters, entry["family_index"]))
        measurement.times.append(entry["real_time"] * UNITS[entry["time_unit"]])
        if entry.get("gpu_ns"):
            measurement.gpu_times.append(entry["gpu_ns"])
    return dict(sorted(((k, m) for k, m in found.items() if k not in failed), key=lambda item: item[1].order))
