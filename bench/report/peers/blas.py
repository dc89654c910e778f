"""The BLAS of a peer on the CPU: its name, and the processor that it was built for."""

import ctypes
import pathlib
import re


def opened(name):
    """The file of a library that this process has loaded; None if it has none of this name."""
    try:
        maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(rf"\s(/\S*{name}[^/\s]*)$", maps, re.MULTILINE)
    return found and found.group(1)


def described():
    """In the format of bench/products/library.cpp for Sinter's; "" if it cannot be queried."""
    if (path := opened("libopenblas")) is None:
        return "MKL" if opened("libmkl|libtorch_cpu[^/]*mkl") else ""
    library = ctypes.CDLL(path)
    try:
        library.openblas_get_config.restype = library.openblas_get_corename.restype = ctypes.c_char_p
        config = " ".join(library.openblas_get_config().decode().split()[:2])
        threads = library.openblas_get_num_threads()
        return f"{config}, core {library.openblas_get_corename().decode()}, {threads} threads"
    except AttributeError:  # a build with renamed functions
        return "OpenBLAS"
