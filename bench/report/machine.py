"""A description of the machine, as far as the system reports it."""

import os
import pathlib
import platform
import re
import shutil
import subprocess


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def cpu_field(name, text):
    found = re.search(rf"^{name}\s*:\s*(.*)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def caches():
    """Bytes by name: {"L1d": 49152, "L2": ...}, each as seen by one processor."""
    sizes = {}
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        size = re.fullmatch(r"(\d+)([KM])", read(index / "size"))
        kind = {"Data": "d", "Instruction": "i"}.get(read(index / "type"), "")
        if size:
            sizes[f"L{read(index / 'level')}{kind}"] = int(size.group(1)) * {"K": 1024, "M": 1024**2}[size.group(2)]
    return sizes


def gpus():
    """nvidia-smi's description of each GPU; empty if it is not installed."""
    fields = ["name", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.memory"]
    if not shutil.which("nvidia-smi"):
        return []
    try:
        done = subprocess.run(
            ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except (subprocess.TimeoutExpired, OSError):
        return []
    rows = [line.split(", ") for line in done.stdout.splitlines()] if done.returncode == 0 else []
    names = ["name", "driver", "memory_mib", "max_sm_mhz", "max_memory_mhz"]
    return [dict(zip(names, row)) for row in rows if len(row) == len(names)]


def memory_bytes():
    found = re.search(r"MemTotal:\s*(\d+)", read("/proc/meminfo"))
    return int(found.group(1)) * 1024 if found else 0


def describe():
    cpu = read("/proc/cpuinfo")
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', read("/etc/os-release"), re.MULTILINE)
    return {
        "processor": cpu_field("model name", cpu) or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in cpu_field("flags", cpu),
        "nominal_mhz": float(cpu_field("cpu MHz", cpu) or 0),
        "caches": caches(),
        "memory_bytes": memory_bytes(),
        "system": system.group(1) if system else platform.system(),
        "kernel": platform.release(),
        "gpus": gpus(),
    }


def last_cache():
    """Bytes of the largest cache; 32 MiB if unknown."""
    return max(caches().values(), default=32 * 1024**2)
