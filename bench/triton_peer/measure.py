#!/usr/bin/env python3
"""Compiles kernels.py with Triton for sm_90, without a GPU, and measures the machine code as scripts/sass does.

    pip install triton && python3 bench/triton_peer/measure.py [--update]

prints the figures; --update writes them to bench/results/triton-sm90.txt, from which scripts/docs makes the table of
docs/gpu-kernels.md. A kernel has the name and the size of the one of scripts/sass that it stands beside.
"""

import pathlib
import sys
import tempfile

import kernels
import triton
from triton.backends.compiler import GPUTarget

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import sass_code  # noqa: E402
import sass_figures  # noqa: E402

SM = 90
RESULT = ROOT / f"bench/results/triton-sm{SM}.txt"
SIZE = {"fp32": 4, "bf16": 2, "fp16": 2}


def warps(width):
    """Of a row: as Liger's kernels choose it, but for short rows."""
    return 32 if width >= 32768 else 16 if width >= 8192 else 8 if width >= 2048 else 4 if width > 256 else 1


def compiled(function, pointers, sizes, constants, num_warps):
    """As for arguments that are multiples of 16."""
    signature = dict(zip(function.arg_names, pointers + ["i32"] * sizes + ["constexpr"] * len(constants)))
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(len(pointers) + sizes)}
    source = triton.compiler.ASTSource(function, signature, constants, aligned)
    return triton.compile(source, target=GPUTarget("cuda", SM, 32), options={"num_warps": num_warps})


def measured(name, kernel, bytes_per_element):
    image = kernel.asm["cubin"]
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        code = sass_code.Code(sass_code.disassemble(file.name, sass_code.nvdisasm()))
    registers, static = sass_code.resources(image)
    launch = kernel.metadata.num_warps * 32, kernel.metadata.shared
    return sass_figures.figures(name, SM, code, (registers, static), launch, bytes_per_element)


def elementwise():
    for suffix, dtype in (("", "fp32"), ("_bf16", "bf16"), ("_f16", "fp16")):
        b = SIZE[dtype]
        for name, operands in (("chain", 2), ("axpy", 2), ("gelu", 1)):
            if (name, suffix) != ("axpy", "_f16"):
                kernel = compiled(getattr(kernels, name), [f"*{dtype}"] * (operands + 1), 1, {"BLOCK": 1024}, 4)
                yield measured(name + suffix, kernel, (operands * b, b))
    for name, sizes in (("gelu_tanh", 1), ("dropout", 2)):
        yield measured(name, compiled(getattr(kernels, name), ["*fp32"] * 2, sizes, {"BLOCK": 1024}, 4), (4, 4))
    yield measured("row", compiled(kernels.row, ["*fp32"] * 3, 1, {"BLOCK": 1024}, 4), (4, 4))
    yield measured("row_bf16", compiled(kernels.row, ["*bf16"] * 3, 1, {"BLOCK": 1024}, 4), (2, 2))
    yield measured("transposed", compiled(kernels.transposed, ["*fp32"] * 3, 2, {"BLOCK": 64}, 8), (8, 4))
    yield measured("transposed_bf16", compiled(kernels.transposed, ["*bf16"] * 3, 2, {"BLOCK": 64}, 8), (4, 2))
    for suffix, dtype in (("", "fp32"), ("_bf16", "bf16")):
        kernel = compiled(kernels.embedding, [f"*{dtype}", "*i64", f"*{dtype}"], 1, {"BLOCK": 1024}, 4)
        yield measured("embedding" + suffix, kernel, (SIZE[dtype], SIZE[dtype]))


# name, function, dtype of the result if it has one number per row, widths in float32, in bfloat16
ROWS = [
    ("softmax", kernels.softmax, None, (64, 256, 1000, 1024, 4096, 8192, 32768), (256, 1024, 8192)),
    ("log_softmax", kernels.log_softmax, None, (256, 1024, 8192), ()),
    ("layer_norm", kernels.layer_norm, None, (64, 256, 1000, 1024, 4096, 8192, 32768), ()),
    ("layer_norm_affine", kernels.layer_norm_affine, None, (1024,), (4096,)),
    ("rms_norm", kernels.rms_norm, None, (1024, 8192), (4096,)),
    ("logsumexp", kernels.logsumexp, "same", (1024, 8192), ()),
    ("argmax", kernels.argmax, "i64", (1024, 4096), (4096,)),
    ("amax", kernels.amax, "same", (1024,), ()),
    ("sum", kernels.row_sum, "same", (64, 256, 1000, 1024, 4096, 8192, 32768), (1024, 8192)),
]


def rows():
    for name, function, result, wide, narrow in ROWS:
        for dtype, suffix, widths in (("fp32", "", wide), ("bf16", "_bf16", narrow)):
            for width in widths:
                operands = len(function.arg_names) - 3
                out = dtype if result in (None, "same") else result
                pointers = [f"*{dtype}"] * operands + [f"*{out}"]
                kernel = compiled(function, pointers, 1, {"BLOCK": triton.next_power_of_2(width)}, warps(width))
                yield measured(f"{name}_{width}{suffix}", kernel, (SIZE[dtype], SIZE[dtype] if result is None else 0))


def others():
    for suffix, dtype in (("", "fp32"), ("_bf16", "bf16")):
        kernel = compiled(kernels.columns_sum, [f"*{dtype}", "*fp32"], 2, {"ROWS": 32, "BLOCK": 128}, 8)
        yield measured("columns" + suffix, kernel, (SIZE[dtype], 0))
    yield measured("cumsum_rows", compiled(kernels.cumsum, ["*fp32"] * 2, 1, {"BLOCK": 4096}, 8), (4, 4))


def main():
    lines = sass_figures.table([*elementwise(), *rows(), *others()])
    if "--update" in sys.argv[1:]:
        first = f"# Triton {triton.__version__} : bench/triton_peer/measure.py --update"
        RESULT.write_text("\n".join([first, *lines, ""]), encoding="utf-8")
    else:
        print(*lines, sep="\n")


if __name__ == "__main__":
    main()
