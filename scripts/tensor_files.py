#!/usr/bin/env python3
"""Makes the files in tests/data/safetensors and tests/data/npz, with which tests compare Sinter.

    python3 -m pip install safetensors numpy
    python3 scripts/tensor_files.py [folder, tests/data by default]

Made with safetensors 0.8.0 and NumPy 2.4.6. Two runs with the same versions give the same bytes. Each folder has a
files.tsv: file, tensor, dtype, shape ("2,3", "" for 0-d), elements in row-major order as bits in hex. Files that begin
with hand_ are written by this script, since the library does not write such files. Sinter rejects those that begin with
refused_; their rows have the words that the message must contain in place of the tensor's name.
"""
import json
import pathlib
import struct
import sys
import zipfile

import numpy as np
import safetensors
import safetensors.numpy

SAFE_NAMES = {"BOOL": "bool", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "F16": "float16",
              "BF16": "bfloat16", "F32": "float32", "F64": "float64", "C64": "complex64"}


def bits(data, size):
    """The elements in some bytes, each as hex."""
    return " ".join(data[i:i + size][::-1].hex() for i in range(0, len(data), size))


def write_rows(path, what, rows):
    lines = [f"# {what} By scripts/tensor_files.py with safetensors {safetensors.__version__}, NumPy {np.__version__}."]
    lines += ["\t".join(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def safe_arrays():
    numbers = [0, 1, -1, 2, -2]
    yield "dtypes", {
        **{d: np.array(numbers, d) for d in ["int8", "int16", "int32", "int64"]},
        **{d: np.array([0, 1, 128, np.iinfo(d).max], d) for d in ["uint8", "uint16", "uint32", "uint64"]}, "bool": np.array([True, False, True]),
        **{d: np.array([1.5, -0.0, np.nan, -np.inf, 6e-8], d) for d in ["float16", "float32", "float64"]},
        "complex64": np.array([1 + 2j, complex(-0.5, -0.0), complex(np.inf, np.nan)], "<c8"),
        "bfloat16": ("bfloat16", [4], struct.pack("<4H", 0x3FC0, 0x8000, 0x7FC0, 0x0001))}
    yield "shapes", {"scalar": np.array(3.25, "<f4"), "empty": np.zeros(0, "<f4"), "empty_cube": np.zeros((3, 0, 2), "<i8"),
                     "eight_axes": np.arange(16, dtype="<i4").reshape(1, 2, 1, 2, 1, 2, 1, 2), "ones": np.ones((1, 1, 1), "<f4"),
                     "matrix": np.arange(6, dtype="<f8").reshape(2, 3) / 3, "cube": np.arange(24, dtype="<i2").reshape(2, 3, 4)}
    yield "model", {"module.fc1.weight": np.arange(12, dtype="<f4").reshape(4, 3) / 8, "module.fc1.bias": np.arange(4, dtype="<f4"),
                    "module.bn.num_batches_tracked": np.array(7, "<i8"), "module.fc2.weight": np.arange(8, dtype="<f2").reshape(2, 4)}
    yield "nothing", {}


def save_safe(path, tensors, metadata=None):
    specs, kept = {}, []
    for name, t in tensors.items():
        dtype, shape, data = t if isinstance(t, tuple) else (t.dtype.name, t.shape, t.tobytes())
        kept.append(np.frombuffer(data, "u1"))
        specs[name] = safetensors.TensorSpec(dtype=dtype, shape=list(shape), data_ptr=kept[-1].ctypes.data, data_len=len(data))
    path.write_bytes(safetensors.serialize(specs, metadata=metadata))


def contents(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    for name, t in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + o for o in t["data_offsets"])
        count = int(np.prod(t["shape"], dtype=int))
        dtype = SAFE_NAMES[t["dtype"]]
        yield [path.stem, name, dtype, ",".join(map(str, t["shape"])), bits(data[begin:end], (end - begin) // count if count else 1)]


def by_hand(path, header, data):
    header = header.encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def write_safetensors(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, tensors in safe_arrays():
        save_safe(folder / f"{name}.safetensors", tensors, {"format": "pt"} if name == "model" else None)
    # Their names and texts are in tests/dsl/safetensors_test.cpp.
    save_safe(folder / "names.safetensors", {n: np.array([i], "<i4") for i, n in enumerate(["", "a b", 'q"\\/', "\t\n\x01\x7f", "größe", "重み", "😀"])},
              {"ключ": 'a "text"\n'})
    # Unaligned elements, and tensors whose order in the header differs from that of the data.
    by_hand(folder / "hand_unaligned.safetensors", ' { "wide" : {"shape":[2],"dtype":"F64", "data_offsets":[ 3, 19 ]},\n "odd":{"data_offsets":[0,3],'
            '"dtype":"U8","shape":[3]}, "empty":{"dtype":"I64","shape":[0],"data_offsets":[3,3]} }\n\t', b"\1\2\3" + struct.pack("<2d", 0.5, -1))
    by_hand(folder / "hand_bools.safetensors", '{"mask":{"dtype":"BOOL","shape":[5],"data_offsets":[0,5]}}', b"\0\1\2\xff\0")
    rows = [row for path in sorted(folder.glob("*.safetensors")) if not path.stem.startswith(("refused_", "names")) for row in contents(path)]
    rows = [[*row[:4], " ".join("00" if b == "00" else "01" for b in row[4].split())] if row[2] == "bool" else row for row in rows]
    for dtype, size, word in [("F8_E4M3", 1, "torch.float16"), ("C128", 16, "torch.complex64")]:
        by_hand(folder / f"refused_{dtype}.safetensors", f'{{"w.{dtype}":{{"dtype":"{dtype}","shape":[2],"data_offsets":[0,{2 * size}]}}}}', bytes(2 * size))
        rows.append([f"refused_{dtype}", f"tensor 'w.{dtype}' has the dtype '{dtype}'", word, ""])
    write_rows(folder / "files.tsv", "Files by the safetensors library: file, tensor, dtype, shape, elements.", rows)


def npz_arrays():
    return {"float32": np.array([[1.5, -0.0, np.nan], [np.inf, -2.25, 1e-30]], "<f4"), "int64": np.array([0, -1, 2**63 - 1, -(2**63)], "<i8"),
            "bool": np.array([True, False]), "scalar": np.array(3.25, "<f8"), "empty": np.zeros((3, 0), "<i2"),
            "big": np.arange(5, dtype=">i4"), "turned": np.asfortranarray(np.arange(6, dtype="<f8").reshape(2, 3)),
            "complex": np.array([1 + 2j], "<c16"), "layer/0.weight": np.arange(300, dtype="u1"), "größe": np.array([1.0], "<f2")}


class Pipe:
    """A file that does not support seeking: an archive then stores sizes and checksums after the contents."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        pass


def write_npz(folder):
    folder.mkdir(parents=True, exist_ok=True)
    arrays = npz_arrays()
    np.savez(folder / "stored.npz", **arrays)
    np.savez_compressed(folder / "deflated.npz", **arrays)
    np.savez(folder / "nothing.npz")
    with open(folder / "hand_piped.npz", "wb") as f, zipfile.ZipFile(Pipe(f), "w", zipfile.ZIP_DEFLATED) as z:
        for name, array in arrays.items():
            with z.open(zipfile.ZipInfo(f"{name}.npy"), "w") as entry:
                np.lib.format.write_array(entry, array)
    with zipfile.ZipFile(folder / "hand_comment.npz", "w") as z:
        z.comment = b"not the end: PK\1\2"
        with z.open("int64.npy", "w") as entry:
            np.lib.format.write_array(entry, arrays["int64"])
    rows = []
    for file in ["stored", "deflated", "hand_piped", "hand_comment"]:
        for name, a in np.load(folder / f"{file}.npz").items():
            data = np.ascontiguousarray(a.astype(a.dtype.newbyteorder("<"))).tobytes()
            rows.append([file, name, a.dtype.name, ",".join(map(str, a.shape)), bits(data, a.dtype.itemsize)])
    np.savez(folder / "refused_float128.npz", fine=np.zeros(2), odd=np.zeros(2, "<f16"))
    rows.append(["refused_float128", "entry 'odd.npy'", "float128", ""])
    for method, name in ((zipfile.ZIP_BZIP2, "bzip2"), (zipfile.ZIP_LZMA, "lzma")):
        with zipfile.ZipFile(folder / f"refused_{name}.npz", "w", method) as z, z.open("a.npy", "w") as entry:
            np.lib.format.write_array(entry, arrays["int64"])
        rows.append([f"refused_{name}", "entry 'a.npy' is compressed by method", "deflated (8)", ""])
    with zipfile.ZipFile(folder / "refused_text.npz", "w") as z:
        z.writestr(zipfile.ZipInfo("readme.txt"), "not an array")
    rows.append(["refused_text", "entry 'readme.txt': not a .npy file", "byte 0", ""])
    write_rows(folder / "files.tsv", "Files by numpy.savez: file, array, dtype, shape, elements.", rows)


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "tests" / "data")
    write_safetensors(root / "safetensors")
    write_npz(root / "npz")
