"""Gathers what scripts/gpu-check needs on a machine that has a GPU and no package registry.

python3 -m bench.report.carry BUILD_FOLDER TO
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

from .result import ROOT, commit

MOST = 50 * 1024**2  # bytes
# Present on any Debian or Ubuntu with Python; newer versions run programs linked with older ones.
THERE = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so.*")


def needed(programs):
    """The libraries that programs are linked with and that may be missing there, by name."""
    found = {}
    for program in programs:
        listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
        for name, path in re.findall(r"^\s*(\S+) => (\S+)", listed, re.MULTILINE):
            if path == "not":
                raise SystemExit(f"error: {program} needs {name}, which is not found")
            if not THERE.fullmatch(name):
                found[name] = pathlib.Path(path).resolve()
    return found


def copy_program(path, to):
    to.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, to / path.name)
    subprocess.run(["strip", "--strip-all" if is_program(path) else "--strip-unneeded", str(to / path.name)], check=True)


def is_program(path):
    """Whether the file is a program rather than a library."""
    return ".so" not in path.name


def gpu_tests(build):
    """(program, test file) of the tests that run on real GPUs."""
    listed = subprocess.run(["ctest", "--test-dir", str(build), "-L", "^devices$", "-LE", "^(strict|late)$", "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return [(pathlib.Path(test["command"][0]), test["command"][1]) for test in json.loads(listed.stdout)["tests"]]


def gather(build, to):
    shutil.rmtree(to, ignore_errors=True)
    files = gpu_tests(build)
    tests = sorted({program for program, _ in files})
    benchmarks = [
        build / "bench" / name
        for name in ("probe", "expressions", "rows", "products", "hit", "first", "start", "growth", "row_schemes", "empty", "linked", "null_driver.so")
    ]
    modules = sorted((build / "tests").glob("*.so"))
    for paths, folder in ((tests, "bin"), (benchmarks, "bench"), (modules, "tests")):
        for path in paths:
            copy_program(path, to / folder)
    for name, path in needed([*tests, *benchmarks, *modules]).items():
        copy_program(path, to / "lib")
        (to / "lib" / path.name).rename(to / "lib" / name)
    shutil.copytree(ROOT / "bench/report", to / "bench/report", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("data", "golden"):
        shutil.copytree(ROOT / "tests" / folder, to / "tests" / folder)
    shutil.copy2(ROOT / "tests/two_gpus.txt", to / "tests")
    (to / "tests/files.txt").write_text("".join(f"{program.name} {file}\n" for program, file in files), encoding="utf-8")
    gather_python(to)
    (to / "scripts").mkdir()
    shutil.copy2(ROOT / "scripts/gpu-check", to / "scripts")
    (to / "COMMIT").write_text(commit() + "\n", encoding="utf-8")


def gather_python(to):
    """The newest wheel of scripts/wheel, if there is one, and what runs it."""
    for wheel in (ROOT / "build/wheel/dist").glob("*-abi3-*.whl"):
        (to / "python").mkdir(exist_ok=True)
        shutil.copy2(wheel, to / "python")
    for name in ("torch_test.py", "torch_models.py", "case.py"):
        (to / "tests/python").mkdir(exist_ok=True)
        shutil.copy2(ROOT / "tests/python" / name, to / "tests/python")
    shutil.copy2(ROOT / "bench/torch_backend.py", to / "bench")


def sizes(folder):
    """{file: bytes}, largest first."""
    found = {p.relative_to(folder): p.stat().st_size for p in folder.rglob("*") if p.is_file()}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def weigh(folder):
    """Prints the folder's size and its largest files; rejects a folder that is too large to transfer."""
    weights = sizes(folder)
    total = sum(weights.values())
    print(f"gathered in {folder}: {total / 1024**2:.1f} MiB of at most {MOST // 1024**2}")
    for name, weight in list(weights.items())[:8]:
        print(f"  {weight / 1024**2:5.1f} MiB  {name}")
    if total > MOST:
        raise SystemExit(f"error: that is more than {MOST // 1024**2} MiB; what is above weighs most")


def main(build, to):
    to = pathlib.Path(to)
    gather(pathlib.Path(build).resolve(), to)
    weigh(to)
    print(f"{len((to / 'tests/files.txt').read_text(encoding='utf-8').splitlines())} test files")


if __name__ == "__main__":
    main(*sys.argv[1:])
