"""The table of docs/gpu-kernels.md: the baseline of scripts/sass beside what bench/triton_peer measured."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import sass_figures  # noqa: E402

OURS = ROOT / "tests/golden/sass_baseline.txt"
TRITONS = ROOT / "bench/results/triton-sm90.txt"


def rows_of(path):
    return sass_figures.read_table(path.read_text(encoding="utf-8").splitlines())


def cells(row):
    return [str(row.registers), row.in_flight, f"{row.KB_per_SM:.0f}", f"{row.per_element:.1f}"]


def table():
    ours, tritons = rows_of(OURS), rows_of(TRITONS)
    columns = ["registers", "loads in flight", "KB per SM", "per element"]
    titles = ["kernel", *columns, *[f"Triton: {c}" for c in columns], "per element, ratio"]
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    for key, row in ours.items():
        if key in tritons:
            ratio = row.per_element / tritons[key].per_element
            lines.append("| " + " | ".join([f"`{row.kernel}`", *cells(row), *cells(tritons[key]), f"{ratio:.2f}"]) + " |")
    return "\n".join(lines) + "\n"
