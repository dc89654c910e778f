"""The Python package beside PyTorch on a GPU, if its wheel was carried: its test, and a table of torch.compile."""

import importlib.util
import os
import subprocess
import sys

from .gpu_tools import ended, said
from .result import ROOT

PROGRAMS = {"test": ["tests/python/torch_test.py"], "table": ["bench/torch_backend.py", "--device=cuda"]}


def install(wheels, to):
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(to), *map(str, wheels)],
        check=True,
        capture_output=True,
        text=True,
    )


def run(deadline, out):
    """The programs' logs are python_*.log; each has half of the time that is left."""
    wheels = sorted((ROOT / "python").glob("*.whl"))
    if not wheels:
        return {"status": "no wheel was carried"}
    if importlib.util.find_spec("torch") is None:
        return {"status": "torch is not installed"}
    site = ROOT / "python/site"
    install(wheels, site)
    environment = {"PYTHONPATH": str(site), "SINTER_TEST_GPU": "1"}
    found = {}
    for name, (program, *arguments) in PROGRAMS.items():
        log = out / f"python_{name}.log"
        status = ended([sys.executable, ROOT / program, *arguments], deadline.left() / 2, log, environment)
        found[name] = said(status, log)
        print(f"  {program}: {found[name]}", file=sys.stderr, flush=True)
    failed = [name for name, status in found.items() if status.startswith("failed")]
    return {"status": f"failed: {', '.join(failed)}" if failed else "done", "programs": found}
