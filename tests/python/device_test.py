"""Streams, the history of kernels, memory statistics and meshes."""
import threading

import numpy as np

import sinter_jit as sn
from case import Case, main


class History(Case):
    def test_kernels_that_became_ready(self):
        before = sn.cpu_jit()
        sn.set_cpu_jit("always")
        try:
            x = sn.tensor(self.array((1000,), "float32"))
            (sn.exp(x * 3) + sn.sqrt(abs(x))).eval()
        finally:
            sn.set_cpu_jit(before)
        last = sn.kernel_history()[-1]
        self.assertEqual(list(last), ["name", "device", "target", "origin", "milliseconds"])
        self.assertTrue(last["name"].startswith("sinter_"), last)
        self.assertEqual(last["device"], sn.device("cpu"))
        self.assertIn(last["origin"], ("compiled", "disk", "memory"))
        self.assertGreater(last["milliseconds"], 0)


class Streams(Case):
    def test_work_on_streams(self):
        stream, other = sn.Stream(1), sn.Stream("cuda:1")
        self.assertEqual((stream.device, stream == other, sn.current_stream(1) == sn.default_stream(1)), (sn.device("cuda:1"), False, True))
        a = self.array((1000,), "float32")
        x = sn.tensor(a, device="cuda:1")
        with stream as entered:
            self.assertIs(entered, stream)
            self.assertEqual((sn.current_stream(1), sn.current_stream()), (stream, stream))
            y = (x * 2).eval()
            begin = stream.record(timing=True)
            with other:
                self.assertEqual(sn.current_stream(1), other)
                z = (y + 1).eval()  # ordered after the work on the other stream
            self.assertEqual(sn.current_stream(1), stream)
        end = other.record(timing=True)
        stream.wait(end), other.wait(stream), other.wait(begin)
        stream.synchronize(), other.synchronize(), end.synchronize()
        self.assertTrue(stream.query() and end.query() and begin.elapsed_ms(end) >= 0)
        self.assertEqual(end.device, x.device)
        self.assert_equal(z, a * np.float32(2) + np.float32(1))
        self.assertEqual(len({stream, other, sn.default_stream(1), sn.default_stream(1)}), 3)
        self.assertIsInstance(stream.native, int)

    def test_threads_have_their_own(self):
        stream, seen = sn.Stream(0), []
        with stream:
            thread = threading.Thread(target=lambda: seen.append(sn.current_stream(0) == sn.default_stream(0)))
            thread.start(), thread.join()
        self.assertEqual(seen, [True])

    def test_wrong_ones(self):
        first, second = sn.Stream(0), sn.Stream(0)
        first.__enter__(), second.__enter__()
        with self.assertRaisesRegex(sn.Error, "another order"):
            first.__exit__(None, None, None)
        second.__exit__(None, None, None), first.__exit__(None, None, None)
        with self.assertRaises(sn.Error):
            first.__exit__(None, None, None)
        for call, error in [(lambda: sn.Stream("cpu"), sn.DeviceError), (lambda: sn.Stream(7), sn.DeviceError), (lambda: sn.Stream(0.5), TypeError),
                            (lambda: first.wait(1), TypeError), (lambda: first.record().elapsed_ms(first.record()), sn.Error)]:
            with self.assertRaises(error):
                call()


class Memory(Case):
    def test_statistics(self):
        before = sn.memory_stats("cuda:0")
        x = sn.zeros(1 << 16, device="cuda:0")
        sn.synchronize()
        after = sn.memory_stats(0)
        self.assertGreaterEqual(after["in_use"] - before["in_use"], 1 << 18)
        self.assertEqual((after["blocks"] - before["blocks"], set(after)), (1, {"in_use", "cached", "peak_in_use", "blocks", "requests", "driver_allocations"}))
        self.assertGreaterEqual(after["peak_in_use"], after["in_use"])
        del x
        sn.reset_peak_memory("cuda:0")
        self.assertLess(sn.memory_stats("cuda:0")["peak_in_use"], after["in_use"])
        self.assertGreaterEqual(sn.empty_cache("cuda:0"), 0)
        self.assertGreaterEqual(sn.memory_stats()["requests"], 0)
        with self.assertRaises(sn.DeviceError):
            sn.memory_stats("cuda:9")


class Meshes(Case):
    def test_sharded_expressions(self):
        mesh = sn.Mesh()
        self.assertEqual((len(mesh), mesh, mesh.devices), (2, sn.Mesh(["cuda:0", sn.device("cuda:1")]), [sn.device(0), sn.device(1)]))
        a, w = self.array((5, 3), "float32"), self.array((3, 2), "float32")
        x, y = sn.shard(sn.tensor(a), mesh), sn.replicate(sn.tensor(w), mesh)
        self.assertEqual((x.shape, x.device.type, [s.shape for s in sn.shards(x)]), ((5, 3), "mesh", [(3, 3), (2, 3)]))
        self.assert_close(sn.unshard((x @ y).relu() + 1), (a @ w).clip(0) + 1)
        self.assertEqual(sn.unshard(x, "cuda:1").device, sn.device("cuda:1"))
        self.assert_close(sn.unshard(x.sum(0)), a.sum(0), 1e-4)
        self.assert_equal(sn.unshard(sn.shard(x + 0, mesh, axis=1)), a)
        x.shards()[1].zero_()  # a view
        self.assertEqual(sn.unshard(x)[3:].tolist(), [[0] * 3] * 2)

    def test_data_parallel(self):
        mesh = sn.Mesh()
        net = sn.nn.Sequential(sn.nn.Linear(3, 4), sn.nn.Tanh(), sn.nn.Linear(4, 1))
        x, y = sn.tensor(self.array((7, 3), "float32")), sn.tensor(self.array((7, 1), "float32"))
        alone = sn.nn.Sequential(sn.nn.Linear(3, 4), sn.nn.Tanh(), sn.nn.Linear(4, 1))
        alone.load_state_dict(net.state_dict())
        parallel = sn.nn.DataParallel(net, mesh)
        self.assertEqual(list(parallel.state_dict())[0], "module.0.weight")
        first, second = sn.optim.SGD(alone.parameters(), lr=0.1), sn.optim.SGD(parallel.parameters(), lr=0.1)
        for _ in range(3):
            one = first.step(sn.mse_loss(alone(x), y))
            two = second.step(sn.mse_loss(parallel(x), parallel.shard(y)))
            self.assertAlmostEqual(one.item(), sn.unshard(two).item(), 5)
        self.assert_close(sn.unshard(net[0].weight), alone[0].weight.numpy())

    def test_wrong_ones(self):
        x, mesh = sn.ones(2, 2), sn.Mesh()
        for call, error, text in [(lambda: sn.shard(x, "cuda:0"), TypeError, "'mesh' must be a Mesh"), (lambda: sn.shard(x, mesh, 2), IndexError, "shard"),
                                  (lambda: sn.shards(x), TypeError, "on a mesh"), (lambda: sn.Mesh(["cuda:8"]), sn.DeviceError, ""),
                                  (lambda: (sn.shard(x, mesh) + x).eval(), sn.DeviceError, ""), (lambda: sn.replicate(x), TypeError, "Mesh")]:
            with self.assertRaisesRegex(error, text):
                call()


if __name__ == "__main__":
    main()
