"""Figures of a kernel's machine code, and what is worse than a baseline."""
import collections
import dataclasses
import itertools

from sass_code import LOADS, STORES, is_division, is_multiplication, loads_in_flight

# What a multiprocessor has: threads, blocks, bytes of shared memory. Each has 65,536 registers.
PROCESSORS = {
    80: (2048, 32, 164 << 10),
    90: (2048, 32, 228 << 10),
    100: (2048, 32, 228 << 10),
    120: (1536, 24, 100 << 10),
}
RESERVED = 1024  # bytes of shared memory of each block
COLUMNS = "kernel sm registers spills shared blocks loads stores in_flight KB_per_SM per_element div64 mul64".split()


def blocks_per_processor(sm, threads, registers, shared):
    """As CUDA's occupancy calculator: warps get registers by 256, from one of four parts; blocks shared memory by 128
    bytes, with those that are reserved."""
    most_threads, most_blocks, most_shared = PROCESSORS[sm]
    warps = -(-threads // 32)
    of_warp = -(-max(registers, 1) * 32 // 256) * 256
    by_registers = 65536 // 4 // of_warp * 4 // warps
    by_shared = most_shared // (-(-(shared + RESERVED) // 128) * 128)
    return min(most_blocks, most_threads // (warps * 32), by_registers, by_shared)


def widths(accesses):
    """ "4x16+1x4": so many accesses of so many bytes."""
    counts = collections.Counter(i.bytes for i in accesses)
    return "+".join(f"{counts[b]}x{b}" for b in sorted(counts, reverse=True)) or "-"


def mean_width(text):
    pairs = [[int(n) for n in pair.split("x")] for pair in text.split("+") if pair != "-"]
    return sum(n * b for n, b in pairs) / sum(n for n, _ in pairs) if pairs else 0


def elements(loop, read, written):
    """How many elements a loop's instructions have room for: by its stores, else by the widest of its loads."""
    stored = sum(i.bytes for i in loop.accesses(*STORES))
    if written and stored:
        return stored / written
    loads = loaded(loop)
    return sum(i.bytes for i in loads if i.bytes == widest(loads)) / read


def loaded(loop):
    """Its loads from global memory; without any, those of a row that is kept in shared memory."""
    return loop.accesses(*LOADS) or loop.accesses("LDS")


def widest(loads):
    return max((i.bytes for i in loads), default=0)


def is_around(outer, inner):
    return outer is not inner and outer.first <= inner.first and inner.last <= outer.last


def main_loops(code, read, written):
    """(elements, loop) of the loops that do the work; all of the code if there are none. Not among them are
    loops around others, unless they have four times as many elements themselves; among those that store nothing per
    element, loops whose loads are narrower than another's: they join partial results; remainders, of at most half the
    elements of a neighbour; and loops of an eighth of the greatest."""
    found = [(elements(loop, read, written), loop) for loop in code.loops()]
    found = [(n, loop) for n, loop in found if n > 0]
    found = [(n, loop) for n, loop in found if all(n >= 4 * m for m, inner in found if is_around(loop, inner))]
    stores = lambda loop: bool(written and loop.accesses(*STORES))
    width = max((widest(loaded(loop)) for _, loop in found if not stores(loop)), default=0)
    found = [(n, loop) for n, loop in found if stores(loop) or widest(loaded(loop)) == width]
    greatest = max((n for n, _ in found), default=0)
    kept = []
    for _, group in itertools.groupby(found, key=lambda item: stores(item[1])):
        group = list(group)
        most = max(n for n, _ in group)
        kept += [(n, loop) for n, loop in group if 2 * n > most and 8 * n > greatest]
    return kept or [(elements(code.whole(), read, written), code.whole())]


@dataclasses.dataclass
class Figures:
    """One line of the table: see docs/gpu-kernels.md."""

    kernel: str
    sm: int
    registers: int
    spills: int
    shared: int
    blocks: int
    loads: str
    stores: str
    in_flight: str
    KB_per_SM: float
    per_element: float
    div64: int
    mul64: int

    def cells(self):
        return [f"{v:.1f}" if isinstance(v, float) else str(v) for v in dataclasses.astuple(self)]


def figures(name, sm, code, resources, launch, bytes_per_element):
    """`launch` has the threads of a block and its dynamic shared memory."""
    registers, static = resources
    static -= RESERVED if sm >= 90 and static else 0  # counted there already
    threads, dynamic = launch
    loops = main_loops(code, *bytes_per_element)
    own = [i for _, loop in loops for i in loop.own]
    blocks = blocks_per_processor(sm, threads, registers, static + dynamic)
    # Of several passes, the one with the fewest bytes in flight.
    groups = [loads_in_flight(loop.own) for _, loop in loops if any(i.kind in LOADS for i in loop.own)]
    group = min(groups, key=lambda g: sum(i.bytes for i in g), default=[])
    return Figures(
        kernel=name,
        sm=sm,
        registers=registers,
        spills=code.local_accesses(),
        shared=static + dynamic,
        blocks=blocks,
        loads=widths([i for i in own if i.kind in LOADS]),
        stores=widths([i for i in own if i.kind in STORES]),
        in_flight=widths(group),
        KB_per_SM=sum(i.bytes for i in group) * threads * blocks / 1024,
        per_element=sum(len(loop.own) / n for n, loop in loops if n),
        div64=sum(map(is_division, own)),
        mul64=sum(map(is_multiplication, own)),
    )


def table(rows):
    lines = [COLUMNS, *[row.cells() for row in rows]]
    size = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return ["  ".join([line[0].ljust(size[0]), *map(str.rjust, line[1:], size[1:])]) for line in lines]


def read_table(lines):
    """By kernel and architecture, from what table() gave."""
    found = {}
    for line in lines:
        cells = line.split()
        if len(cells) != len(COLUMNS) or cells == COLUMNS:
            continue
        types = [field.type for field in dataclasses.fields(Figures)]
        row = Figures(*[type_(cell) for type_, cell in zip(types, cells)])
        found[row.kernel, row.sm] = row
    return found


def worse(new, old):
    """What is worse, in words. Registers count where they cost blocks."""
    found = []
    if new.blocks < old.blocks and new.registers > old.registers:
        found.append(f"{new.registers} registers instead of {old.registers} leave {new.blocks} blocks instead of {old.blocks}")
    if new.spills > old.spills:
        found.append(f"{new.spills} accesses to local memory instead of {old.spills}")
    for what in ("loads", "stores"):
        if mean_width(getattr(new, what)) < mean_width(getattr(old, what)) * 0.99:
            found.append(f"{what} are {getattr(new, what)} instead of {getattr(old, what)}")
    if new.KB_per_SM < 0.9 * old.KB_per_SM:
        found.append(f"{new.KB_per_SM} KB in flight per multiprocessor instead of {old.KB_per_SM}")
    if new.per_element > 1.05 * old.per_element + 0.05:  # the baseline is rounded
        found.append(f"{new.per_element:.1f} instructions per element instead of {old.per_element}")
    for what, words in (("div64", "divisions"), ("mul64", "multiplications")):
        if getattr(new, what) > getattr(old, what):
            found.append(f"{getattr(new, what)} 64-bit {words} in loops instead of {getattr(old, what)}")
    return found
