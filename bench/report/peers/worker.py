"""The parent's side of a peer's process: one JSON object per line in both directions."""

import json
import os
import pathlib
import selectors
import subprocess
import sys
import tempfile
import time

from .. import programs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


class WorkerFailed(Exception):
    """The peer cannot do what was requested; the message says why."""


class Worker:
    def __init__(self, name, executor):
        self.name = name
        self.executor = executor
        self.implementations = []
        self.begin()

    def begin(self):
        self.complaints = tempfile.TemporaryFile()
        # By default JAX takes most of a GPU's memory.
        variables = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.report.peers.serve", self.name, self.executor],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            preexec_fn=programs.pin_to_one_processor if self.executor == "cpu-1" else None,
        )
        self.pending = b""

    def restart(self, seconds):
        """Starts a new process, with nothing prepared."""
        self.stop()
        self.begin()
        return self.hello(seconds)

    def hello(self, seconds):
        answer = self.answer(seconds)
        self.implementations = answer["implementations"]
        return answer

    def ask(self, question, seconds):
        if not self.is_alive():
            raise WorkerFailed(self.last_words())
        try:
            self.process.stdin.write((json.dumps(question) + "\n").encode())
            self.process.stdin.flush()
        except OSError as error:
            raise WorkerFailed(self.last_words()) from error
        return self.answer(seconds)

    def answer(self, seconds):
        answer = json.loads(self.line(seconds))
        if "error" in answer:
            raise WorkerFailed(answer["error"])
        return answer

    def line(self, seconds):
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.pending:
                if not selector.select(max(0, end - time.monotonic())):
                    self.stop()
                    raise WorkerFailed(f"it took more than {seconds:.0f} s")
                data = os.read(self.process.stdout.fileno(), 65536)
                if not data:
                    raise WorkerFailed(self.last_words())
                self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def last_words(self):
        """The last output of a process that has ended."""
        if self.complaints.closed:
            return "it was ended"
        self.complaints.seek(0)
        said = self.complaints.read().decode(errors="replace").strip().splitlines()
        return f"its process has ended{': ' + said[-1][:300] if said else ''}"

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        if self.is_alive():
            self.process.kill()
        self.process.wait()
        self.complaints.close()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except OSError:
                pass  # nobody reads the rest
