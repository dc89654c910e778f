"""What scripts/sass reads from machine code: recorded listings, and small ones with one trait each."""

import pathlib
import struct
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
import sass_code  # noqa: E402
import sass_figures  # noqa: E402


def recorded(name):
    return sass_code.Code((HERE / name).read_text(encoding="utf-8"))


def code(*lines):
    """A line ending in a colon is a label, another an instruction."""
    return sass_code.Code("\n".join(line if line.endswith(":") else f"        /*0010*/    {line} ;" for line in lines))


def measure(listing, per_element=(4, 4), registers=32, threads=256, shared=0, sm=90):
    return sass_figures.figures("kernel", sm, listing, (registers, 0), (threads, shared), per_element)


class Recorded(unittest.TestCase):
    def test_chain(self):
        """exp(x + 2) * y: a loop over vectors, then one over the last elements."""
        found = measure(recorded("chain_sm90.sass"), (8, 4), registers=28)
        self.assertEqual((found.loads, found.stores, found.in_flight), ("2x16", "1x16", "2x16"))
        self.assertEqual(found.per_element, 51 / 4)
        self.assertEqual((found.blocks, found.KB_per_SM), (8, 64))
        self.assertEqual((found.spills, found.div64, found.mul64), (0, 0, 0))

    def test_rows(self):
        """sum(x, -1), of 8192 in registers: one loop over rows, with four vectors at a time."""
        found = measure(recorded("sum_8192_sm90.sass"), (4, 0), threads=512)
        self.assertEqual((found.loads, found.stores, found.in_flight), ("4x16", "1x4", "4x16"))
        self.assertEqual(found.per_element, 133 / 16)
        self.assertEqual((found.blocks, found.KB_per_SM), (4, 128))


class Loads(unittest.TestCase):
    def in_flight(self, *lines):
        return sass_figures.widths(sass_code.loads_in_flight(code(*lines).instructions))

    def test_until_the_first_use(self):
        loads = ["LDG.E.128 R4, desc[UR8][R2.64]", "LDG.E.64 R8, desc[UR8][R2.64+0x10]"]
        self.assertEqual(self.in_flight(*loads, "FADD R5, R7, R9"), "1x16+1x8")
        self.assertEqual(self.in_flight(loads[0], "FADD R5, R7, R9", loads[1]), "1x16")
        self.assertEqual(self.in_flight(loads[0], "FADD R10, R2, R3", loads[1]), "1x16+1x8")

    def test_an_address_is_a_use(self):
        self.assertEqual(self.in_flight("LDG.E.64 R4, desc[UR8][R2.64]", "LDG.E R8, desc[UR8][R4.64]"), "1x8")
        self.assertEqual(self.in_flight("LDG.E R5, desc[UR8][R2.64]", "LDG.E R8, desc[UR8][R4.64]"), "1x4")

    def test_a_stored_vector_is_a_use(self):
        load = "LDG.E R11, desc[UR8][R2.64]"
        self.assertEqual(self.in_flight(load, "STG.E.128 desc[UR8][R2.64], R8", "LDG.E R12, desc[UR8][R2.64]"), "1x4")

    def test_256_bits(self):
        load = "LDG.E.ENL2.256 R8, R4, desc[UR8][R2.64]"
        self.assertEqual(code(load).instructions[0].destinations(), set(range(4, 12)))
        self.assertEqual(self.in_flight(load, "@P0 LDG.E.U8.CONSTANT R20, desc[UR8][R2.64]", "FADD R0, R11, R0"), "1x32+1x1")


class Loops(unittest.TestCase):
    def test_the_branch_to_itself_is_none(self):
        self.assertEqual(code("EXIT", ".L_x_0:", "BRA `(.L_x_0)").loops(), [])

    def test_without_loops_all_counts(self):
        body = ["LDG.E.128 R4, desc[UR8][R2.64]", "FADD R4, R4, 1", "STG.E.128 desc[UR8][R2.64], R4", "EXIT"]
        listing = code(*body, "FADD R0, R0, R0")
        self.assertEqual(measure(listing).per_element, 1)

    def test_passes_add_up_and_remainders_do_not(self):
        load, store = "LDG.E.128 R4, desc[UR8][R2.64]", "STG.E.128 desc[UR8][R2.64], R4"
        loop = lambda label, loads, *more: [f".L_x_{label}:", *[load] * loads, *more, f"@P0 BRA `(.L_x_{label})"]
        listing = code(*loop(0, 4), *loop(1, 1), *loop(2, 2, store, store), *loop(3, 1, store), "EXIT")
        self.assertEqual(measure(listing).per_element, 5 / 16 + 5 / 8)

    def test_around_others_and_joins(self):
        join = [".L_x_2:", *["LDG.E R4, desc[UR8][R2.64]"] * 16, "@P0 BRA `(.L_x_2)"]
        body = [".L_x_1:", *["LDG.E.128 R4, desc[UR8][R2.64]"] * 4, "@P0 BRA `(.L_x_1)"]
        listing = code(".L_x_0:", *["LDG.E.128 R4, desc[UR8][R2.64]"] * 3, *body, *join, "@P0 BRA `(.L_x_0)", "EXIT")
        self.assertEqual(measure(listing, (4, 0)).per_element, 5 / 16)

    def test_costs_in_loops(self):
        listing = code(
            "CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_u64)",
            ".L_x_0:",
            "LDG.E.128 R4, desc[UR8][R2.64]",
            "IMAD.WIDE.U32 R6, R17, 0x10, RZ",
            "IMAD.WIDE.U32 R6, R17, R16, R2",
            "IMAD.WIDE.U32 R12, R12, UR14, RZ",
            "CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_u64)",
            "CALL.REL.NOINC `($__internal_1_$__cuda_sm3x_div_rn_noftz_f32_slowpath)",
            "STL.64 [R1], R4",
            "LDL.64 R4, [R1]",
            "@P0 BRA `(.L_x_0)",
            "EXIT",
        )
        found = measure(listing, (4, 0))
        self.assertEqual((found.div64, found.mul64, found.spills), (1, 1, 2))


class Occupancy(unittest.TestCase):
    def test_blocks(self):
        blocks = sass_figures.blocks_per_processor
        self.assertEqual(blocks(90, 256, 32, 0), 8)  # by threads
        self.assertEqual(blocks(90, 256, 33, 0), 6)  # by registers, in steps of 8
        self.assertEqual(blocks(90, 1024, 64, 0), 1)
        self.assertEqual(blocks(90, 32, 16, 0), 32)  # by blocks
        self.assertEqual(blocks(90, 128, 32, 48 << 10), 4)  # by shared memory
        self.assertEqual(blocks(120, 256, 32, 0), 6)

    def test_resources_of_a_cubin(self):
        names = b"\0.shstrtab\0.nv.info\0.nv.shared.kernel\0"
        info = b"\x04\x2f\x08\x00" + struct.pack("<II", 7, 42)
        content = names + info
        header = lambda name, kind, at, size: struct.pack("<IIQQQQIIQQ", names.index(name), kind, 0, 0, at, size, 0, 0, 0, 0)
        table = [
            header(b"\0", 0, 0, 0),
            header(b".shstrtab", 3, 64, len(names)),
            header(b".nv.info", 1, 64 + len(names), len(info)),
            header(b".nv.shared.kernel", 8, 64 + len(content), 2048),
        ]
        elf = bytearray(64)
        struct.pack_into("<Q", elf, 40, 64 + len(content))
        struct.pack_into("<HH", elf, 60, len(table), 1)
        self.assertEqual(sass_code.resources(bytes(elf) + content + b"".join(table)), (42, 2048))


class Worse(unittest.TestCase):
    def setUp(self):
        self.old = measure(recorded("chain_sm90.sass"), (8, 4), registers=30)

    def changed(self, **values):
        return sass_figures.worse(sass_figures.Figures(**{**vars(self.old), **values}), self.old)

    def test_a_table_reads_as_it_was(self):
        (row,) = sass_figures.read_table(sass_figures.table([self.old])).values()
        self.assertEqual(row.cells(), self.old.cells())
        self.assertEqual(sass_figures.worse(self.old, row), [])

    def test_what_is_worse(self):
        self.assertEqual(self.changed(registers=32), [])
        for change in (
            {"registers": 33, "blocks": 6},
            {"spills": 1},
            {"loads": "1x16+4x4"},
            {"stores": "4x4"},
            {"KB_per_SM": 57.0},
            {"per_element": 13.5},
            {"div64": 1},
            {"mul64": 1},
        ):
            self.assertEqual(len(self.changed(**change)), 1, change)

    def test_within_the_tolerance(self):
        self.assertEqual(self.changed(KB_per_SM=58.0, per_element=13.3), [])


if __name__ == "__main__":
    unittest.main()
