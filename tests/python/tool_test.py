"""python3 -m sinter_jit is the command line tool."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import sinter_jit as sn
from case import Case, main


def tool(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "sinter_jit", *arguments], capture_output=True, check=False, **options)


class Tool(Case):
    def assert_prints(self, text, *arguments):
        done = tool(*arguments, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, ""))

    def test_commands(self):
        self.assert_prints("tensor(1024)\n", "run", "2 ** 10")
        self.assert_prints(f"sinter {sn.__version__}\n", "--version")
        with tempfile.TemporaryDirectory() as folder:
            array, result = self.array((3, 4), "float32"), pathlib.Path(folder, "r.npy")
            np.save(f"{folder}/z.npy", array)
            self.assert_prints("", "run", "z * 2 + 1", "--arg", f"z={folder}/z.npy", "-o", str(result))
            np.testing.assert_array_equal(np.load(result), array * 2 + 1)
            done = tool("export", "exp(z)", "--arg", "z: f32[n]", "--arch", "none", "-o", folder)
            self.assertEqual((done.returncode, (pathlib.Path(folder) / "kernel.c").exists()), (0, True))

    def test_messages_name_the_command(self):
        done = tool(text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("usage: python3 -m sinter_jit COMMAND", done.stderr)
        self.assertIn("\n  python3 -m sinter_jit run '", tool("run", "--help", text=True).stdout)
        done = tool("run", "z", text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the name 'z' has no value", done.stderr)

    def test_arguments_that_are_not_utf8(self):
        done = tool(b"run", b"1 + \xff")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertTrue(done.stderr.startswith(b"error: "), done.stderr)

    def test_a_closed_pipe_and_a_full_disk(self):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            done = subprocess.run([sys.executable, "-m", "sinter_jit", "--help"], stdout=pipe, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([sys.executable, "-m", "sinter_jit", "--help"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith(b"error: cannot write to "), done.stderr)

    def test_an_interrupt_ends_it(self):
        code = ("import sys; from sinter_jit.__main__ import main; print('begun', flush=True)\n"
                "sys.argv[1:] = ['bench', 'exp(z)', '--arg', 'z: f32[n]', '--size', 'n=1000000', '--repeat', '1000000']; main()")
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdout.readline()
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
            _, errors = running.communicate(timeout=20)
        self.assertEqual((running.returncode, errors), (-signal.SIGINT, b""))


if __name__ == "__main__":
    main()
