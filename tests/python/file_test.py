"""Tensors in files, against NumPy's files."""
import json
import pathlib
import tempfile

import numpy as np

import sinter_jit as sn
from case import DEVICES, DTYPES, Case, main


class Files(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_npy(self):
        for dtype in DTYPES:
            for shape in [(), (0, 3), (5,), (3, 4)]:
                a = self.array(shape, dtype)
                np.save(self.folder / "a.npy", a)
                self.assert_equal(sn.load_npy(self.folder / "a.npy", device=DEVICES[-1]), a)
                sn.save_npy(str(self.folder / "b.npy"), sn.tensor(a, device=DEVICES[-1]))
                self.assertEqual((self.folder / "b.npy").read_bytes(), (self.folder / "a.npy").read_bytes())
        sn.save_npy(self.folder / "c.npy", sn.tensor([1.0, 2.0]).exp())  # an expression
        np.testing.assert_allclose(np.load(self.folder / "c.npy"), np.exp([1, 2]), rtol=1e-6)
        sn.save_npy(self.folder / "d.npy", sn.tensor([[1, 2], [3, 4]])[:, ::-1])
        self.assertEqual(np.load(self.folder / "d.npy").tolist(), [[2, 1], [4, 3]])

    def test_npz(self):
        arrays = {"weights": self.array((2, 3), "float32"), "żółw.x": self.array((4,), "int64"), "empty": np.zeros((0,), "f8")}
        for save in (np.savez, np.savez_compressed):
            save(self.folder / "a.npz", **arrays)
            loaded = sn.load_npz(self.folder / "a.npz", DEVICES[-1])
            self.assertEqual(list(loaded), list(arrays))
            for name, a in arrays.items():
                self.assert_equal(loaded[name], a)
        sn.save_npz(self.folder / "b.npz", loaded)
        with np.load(self.folder / "b.npz") as written:
            for name, a in arrays.items():
                np.testing.assert_array_equal(written[name], a)

    def test_safetensors(self):
        arrays = {"a": self.array((2, 3), "float32"), "b": self.array((4,), "int8"), "c": self.array((), "float64"), "d": self.array((3,), "bool")}
        file = self.folder / "a.safetensors"
        sn.save_safetensors(file, {name: sn.tensor(a) for name, a in arrays.items()} | {"e": sn.ones(2, dtype="bfloat16") * 2}, {"format": "pt"})
        raw = file.read_bytes()
        header = json.loads(raw[8:8 + int.from_bytes(raw[:8], "little")])
        self.assertEqual((header["__metadata__"], header["a"]["shape"], header["e"]["dtype"]), ({"format": "pt"}, [2, 3], "BF16"))
        loaded = sn.load_safetensors(file)
        for name, a in arrays.items():
            self.assert_equal(loaded[name], a)
        loaded["a"].zero_()  # the file does not change
        self.assertEqual(file.read_bytes(), raw)
        self.assertEqual(sn.load_safetensors(file, device=DEVICES[-1])["e"].device, sn.device(DEVICES[-1]))
        self.assertEqual(sn.load_safetensors_metadata(file), {"format": "pt"})

    def test_wrong_ones(self):
        x = sn.ones(2)
        (self.folder / "text").write_text("text")
        sn.save_npy(self.folder / "x.npy", x)
        for call, error, text in [(lambda: sn.load_npy(self.folder / "none"), sn.FormatError, "No such file"), (lambda: sn.load_npy(3), TypeError, "int"),
                                  (lambda: sn.load_npy(b"x.npy"), TypeError, "must be a str or a pathlib.Path, but got an object of type bytes"), (lambda: sn.load_npy(self.folder / "text"), sn.FormatError, ""),
                                  (lambda: sn.load_npz(self.folder / "x.npy"), sn.FormatError, "zip"), (lambda: sn.load_safetensors(self.folder / "text"), sn.FormatError, ""),
                                  (lambda: sn.save_npy(self.folder / "y", 1), TypeError, "tensor or an expression"), (lambda: sn.save_npz(self.folder / "y", [x]), TypeError, "dict of tensors"),
                                  (lambda: sn.save_npz(self.folder / "y", {"a": 1}), TypeError, "under the name 'a'"), (lambda: sn.save_npz(self.folder / "y", {1: x}), TypeError, "under the name 1"),
                                  (lambda: sn.save_safetensors(self.folder / "y", {"x": x}, {"a": 1}), TypeError, "metadata"),
                                  (lambda: sn.save_safetensors(self.folder / "y", {"x": sn.tensor(1j, dtype="complex128")}), sn.DTypeError, "complex128"),
                                  (lambda: sn.save_npy(self.folder / "no" / "y", x), sn.FormatError, "No such")]:
            with self.assertRaisesRegex(error, text):
                call()
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["text", "x.npy"])  # nothing half-written


if __name__ == "__main__":
    main()
