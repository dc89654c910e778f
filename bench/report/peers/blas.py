"""The library that multiplies matrices for a peer on the CPU: what it is, and for which processor it is built."""

import ctypes
import pathlib
import re


def opened(name):
    """The file of a library that this process has open, None where it has none of such a name."""
    try:
        maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(rf"\s(/\S*{name}[^/\s]*)$", maps, re.MULTILINE)
    return found and found.group(1)


def described():
    """As bench/products/library.cpp describes Sinter's; "" where it is none that can be asked."""
    if (path := opened("libopenblas")) is None:
        return "MKL" if opened("libmkl|libtorch_cpu[^/]*mkl") else ""
    library = ctypes.CDLL(path)
    try:
        library.openblas_get_config.restype = library.openblas_get_corename.restype = ctypes.c_char_p
        config = " ".join(library.openblas_get_config().decode().split()[:2])
        threads = library.openblas_get_num_threads()
        return f"{config}, core {library.openblas_get_corename().decode()}, {threads} threads"
    except AttributeError:  # a build that renames its functions
        return "OpenBLAS"
