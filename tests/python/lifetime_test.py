"""Leaks, threads, and objects released in unexpected places."""
import gc
import os
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref

import numpy as np

import sinter_jit as sn
from case import DEVICES, Case, main


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def traced_bytes():
    """The blocks of Python's allocator, without the names in its attribute cache."""
    gc.collect()
    getattr(sys, "_clear_internal_caches", getattr(sys, "_clear_type_cache", lambda: None))()
    return tracemalloc.get_traced_memory()[0]


class Leaks(Case):
    def everything(self):
        a = np.ones(1000, "f4")
        x = sn.from_numpy(a)
        e = (x + 2).exp() * x[::-1]
        e.numpy()
        np.from_dlpack(x)
        sn.from_dlpack(a)
        sn.asarray(memoryview(a))
        memoryview(x).release()
        x.__dlpack__(max_version=(1, 0))
        sn.parse("x * 2", x=x).eval()
        sn.tensor([[1, 2], [3.0, 4]]).tolist()
        repr(x)
        e.explain()
        x[x > 0]
        x[0] = 1
        for wrong in (lambda: x + np.zeros(2), lambda: x.sum(7), lambda: sn.parse("x +", x=x), lambda: sn.tensor([[1], 2]),
                      lambda: sn.asarray(np.zeros(2, object)), lambda: sn.from_dlpack(3), lambda: x["a"],
                      lambda: x.expand(3, 3), lambda: memoryview(x).cast("B", (3, 3))):
            try:
                wrong()
            except Exception:  # noqa: BLE001
                pass

    def test_nothing_stays(self):
        for _ in range(50):
            self.everything()
        gc.collect()
        tracemalloc.start()
        self.everything()
        before, resident = traced_bytes(), resident_bytes()
        for _ in range(300):
            self.everything()
        after = traced_bytes()
        tracemalloc.stop()
        self.assertLess(after - before, 10_000, "less than an object in each round")
        self.assertLess(resident_bytes() - resident, 16 << 20)

    def test_reference_counts(self):
        a = np.ones(10, "f4")
        x = sn.from_numpy(a)
        counts = sys.getrefcount(a), sys.getrefcount(x), sys.getrefcount(sn.float32), sys.getrefcount(None)
        for _ in range(1000):
            x + 1
            x.to(sn.float64)
            x.sum(None)
            x == None  # noqa: E711
            sn.from_numpy(a)
            sn.evaluate(x, x)
            x.numpy()
        gc.collect()
        now = sys.getrefcount(a), sys.getrefcount(x), sys.getrefcount(sn.float32), sys.getrefcount(None)
        for had, has in zip(counts, now):
            self.assertLess(abs(has - had), 500)

    def test_large_arrays_go_at_once(self):
        start = resident_bytes()
        for _ in range(50):
            x = sn.from_numpy(np.ones(4 << 20, "f4"))
            sn.evaluate(x[:10] + 1)
        del x
        self.assertLess(resident_bytes() - start, 100 << 20)


class Threads(Case):
    def in_threads(self, work, count=4):
        errors = []

        def guarded(i):
            try:
                work(i)
            except BaseException as error:  # noqa: BLE001
                errors.append(error)
        threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(120)
            self.assertFalse(t.is_alive(), "a deadlock")
        if errors:
            raise errors[0]

    def test_many_threads(self):
        for device in DEVICES:
            shared = sn.tensor(self.array((1000,), "float32"), device=device)
            expected = shared.to("cpu").numpy()

            def work(i):
                for n in range(20):
                    np.testing.assert_allclose((shared * (i + n)).to("cpu").numpy(), expected * np.float32(i + n), rtol=1e-6)
                    a = np.full(100, i, "f4")
                    e = sn.from_numpy(a).to(device) + shared[:100]
                    del a
                    np.testing.assert_allclose(np.asarray(e.to("cpu")), i + expected[:100], rtol=1e-6)
            self.in_threads(work)

    def test_others_run_while_one_computes(self):
        x = sn.tensor(np.ones((2000, 2000), "f4"))
        turns, done = [0], threading.Event()

        def count():
            while not done.is_set():
                turns[0] += 1
                time.sleep(0.001)
        counter = threading.Thread(target=count)
        counter.start()
        start = time.monotonic()
        while time.monotonic() - start < 0.5:
            x.sin().exp().sum().eval()
        done.set()
        counter.join()
        self.assertGreater(turns[0], 20)

    def test_arrays_let_go_of_without_the_gil(self):
        """An expression that grew long drops its tensors when it is evaluated in between."""
        gone = []

        def work(_):
            a = np.ones(5, "f4")
            gone.append(weakref.ref(a))
            e = sn.from_numpy(a)
            del a
            for _ in range(17000):
                e = e + 1
            self.assertEqual(e[0].item(), 17001)
            self.assertEqual(sys.getrefcount(e), 2)
        work(0)
        self.in_threads(work)
        for _ in range(100):  # releases that wait for the main thread run between Python's instructions
            time.sleep(0.001)
        self.assertEqual([r for r in gone if r() is not None], [])


class Ends(Case):
    def python(self, code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_interpreter_ends_with_tensors_alive(self):
        self.python("import numpy as np, sinter_jit as sn\n"
                    "x = sn.from_numpy(np.ones(10, 'f4')); e = x + 1; a = e.numpy(); v = memoryview(x); c = x.__dlpack__()\n"
                    "class Keeps: pass\nk = Keeps(); k.k = k; k.x = x; k.e = e\n")

    def test_the_first_arrays_in_many_threads(self):  # one of which imports NumPy
        self.assertEqual(self.python("import sys, threading, sinter_jit as sn\n"
                                     "assert 'numpy' not in sys.modules\n"
                                     "sys.setswitchinterval(1e-6)\n"
                                     "x = sn.ones(3)\nstart = threading.Barrier(8)\ngot = []\n"
                                     "def work():\n    start.wait(); got.append(x.numpy().tolist())\n"
                                     "threads = [threading.Thread(target=work) for _ in range(8)]\n"
                                     "for t in threads: t.start()\n"
                                     "for t in threads: t.join()\n"
                                     "assert got == [[1, 1, 1]] * 8, got\n"), "")

    def test_the_interpreter_ends_while_a_thread_computes(self):
        self.python("import threading, numpy as np, sinter_jit as sn\n"
                    "x = sn.from_numpy(np.ones(100000, 'f4'))\n"
                    "def work():\n    while True: (x.exp() + 1).eval()\n"
                    "threading.Thread(target=work, daemon=True).start()\n"
                    "(x + 1).eval()\n")

    def test_without_numpy(self):
        self.assertEqual(self.python("import sys\nsys.modules['numpy'] = None\nimport sinter_jit as sn\n"
                                     "print(sn.tensor([1.0, 2]) * 2)\nprint((sn.tensor([1.0, 2]) * 2).tolist())\n"
                                     "try: sn.tensor(1).numpy()\nexcept ImportError: print('none')\n"),
                         "<sinter_jit.Expression float32 (2,) on cpu, not evaluated>\n[2.0, 4.0]\nnone\n")


if __name__ == "__main__":
    main()
