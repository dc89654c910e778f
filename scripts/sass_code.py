"""The machine code of one kernel: instructions, loops, accesses to memory, and what a cubin says about the kernel."""
import collections
import dataclasses
import os
import pathlib
import re
import shutil
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ +)?([A-Z][\w.]*)\s*([^;]*);")
LABEL = re.compile(r"\s*(\.L_\w+|\$\w+):")
REGISTER = re.compile(r"(?<![\w.])R(\d+)((?:\.\w+)*)")
TARGET = re.compile(r"`\(([^)]+)\)")
LOADS, STORES = ("LDG", "LDGSTS"), ("STG",)
DIVISION = re.compile(r"div_[su]64|rem_[su]64")
BITS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128, "256": 256}


@dataclasses.dataclass
class Instruction:
    """`IMAD.WIDE.U32 R6, R17, 0x10, R2`: its operation, with modifiers, and its operands."""

    operation: str
    operands: str

    @property
    def kind(self):
        return self.operation.split(".")[0]

    @property
    def bytes(self):
        """Of an access to memory."""
        return max((BITS[m] for m in self.operation.split(".") if m in BITS), default=32) // 8

    @property
    def target(self):
        found = TARGET.search(self.operands)
        return found and found[1]

    def destinations(self):
        """The registers that a load writes; loads of 256 bits name two of them, each the first of four."""
        if self.kind == "LDGSTS":
            return set()
        first = [int(r) for r, _ in REGISTER.findall(self.operands.split("[")[0])]
        count = max(1, self.bytes // 4 // max(1, len(first)))
        return {r + i for r in first for i in range(count)}

    def reads(self):
        """The registers that it names, but for those that a load only writes."""
        text = self.operands[self.operands.find("[") :] if self.kind in LOADS else self.operands
        wide = max(1, self.bytes // 4) if self.kind in ("STG", "STS") else 1
        found = set()
        for number, modifiers in REGISTER.findall(text):
            found |= {int(number) + i for i in range(2 if ".64" in modifiers else wide)}
        return found


@dataclasses.dataclass
class Loop:
    """The instructions from its first to its branch back, without those of loops inside."""

    first: int
    last: int
    own: list

    def accesses(self, *kinds):
        return [i for i in self.own if i.kind in kinds]


class Code:
    """Reads what nvdisasm -c prints."""

    def __init__(self, listing):
        self.instructions, self.labels = [], {}
        for line in listing.splitlines():
            if label := LABEL.match(line):
                self.labels[label[1]] = len(self.instructions)
            elif (found := LINE.search(line)) and found[1] != "NOP":
                self.instructions.append(Instruction(found[1], found[2].strip()))

    def loops(self):
        """By their beginning; the branch to itself that ends each kernel is none."""
        ends = collections.defaultdict(int)
        for i, instruction in enumerate(self.instructions):
            begin = self.labels.get(instruction.target) if instruction.kind == "BRA" else None
            if begin is not None and begin < i:
                ends[begin] = max(ends[begin], i)
        spans = sorted(ends.items())
        found = []
        for first, last in spans:
            inside = [range(a, b + 1) for a, b in spans if (a, b) != (first, last) and first <= a and b <= last]
            own = [i for n, i in enumerate(self.instructions) if first <= n <= last and not any(n in r for r in inside)]
            found.append(Loop(first, last, own))
        return found

    def whole(self):
        """All of it as if it were a loop, but for subroutines and the branch at its end."""
        exits = [n for n, i in enumerate(self.instructions) if i.kind == "EXIT"]
        last = exits[-1] if exits else len(self.instructions) - 1
        return Loop(0, last, self.instructions[: last + 1])

    def local_accesses(self):
        return sum(i.kind in ("LDL", "STL") for i in self.instructions)


def loads_in_flight(instructions):
    """The loads of the largest group of which none is used before the last is issued."""
    best, group, pending = [], [], set()
    for i in instructions:
        if i.reads() & pending or i.kind in ("DEPBAR", "LDGDEPBAR"):
            group, pending = [], set()
        if i.kind in LOADS:
            group.append(i)
            pending |= i.destinations()
            if sum(load.bytes for load in group) > sum(load.bytes for load in best):
                best = list(group)
    return best


def is_division(instruction):
    """Of 64-bit integers: a call."""
    return instruction.kind == "CALL" and bool(DIVISION.search(instruction.operands))


def is_multiplication(instruction):
    """To 64 bits, by no constant and with nothing added: an address is a product with a size, added to another."""
    operands = [operand.strip() for operand in instruction.operands.split(",")]
    return instruction.operation.startswith("IMAD.WIDE") and operands[3] == "RZ" and "0x" not in operands[2]


def nvdisasm():
    """The disassembler of the toolkit, of scripts/deps or of Triton's wheel; None if there is none."""
    folders = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", ROOT / "build/sass/nvidia/cu13"]
    places = [str(pathlib.Path(folder) / "bin/nvdisasm") for folder in folders if folder]
    return shutil.which("nvdisasm") or next((p for p in places if os.access(p, os.X_OK)), None)


def disassemble(cubin, tool):
    command = [tool, "-c", "-ndf", str(cubin)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def sections(image):
    """(name, bytes, size, info) of each section of a 64-bit ELF file."""
    offset = struct.unpack_from("<Q", image, 40)[0]
    count, names = struct.unpack_from("<HH", image, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, offset + 64 * i) for i in range(count)]
    at = headers[names][4]
    for name, kind, _, _, start, size, _, info, _, _ in headers:
        begin = at + name
        text = image[begin : image.index(b"\0", begin)].decode()
        yield text, image[start : start + size] if kind != 8 else b"", size, info  # 8: SHT_NOBITS


def resources(image):
    """Registers of a thread, and bytes of static shared memory, of a cubin with one kernel."""
    registers = shared = 0
    register_count = b"\x04\x2f\x08\x00"  # EIATTR_REGCOUNT, followed by the symbol and the number
    for name, content, size, _ in sections(image):
        if name == ".nv.info" and register_count in content:
            registers = struct.unpack_from("<I", content, content.index(register_count) + 8)[0]
        if name.startswith(".nv.shared.") and name != ".nv.shared.reserved.0":
            shared = size
    return registers, shared


def compiler(image):
    """The version of the compiler that made a cubin, as "13.0"."""
    found = re.search(rb"release (\d+\.\d+)", image)
    return found[1].decode() if found else "unknown"
