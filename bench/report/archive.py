"""A folder's files as an archive that is written incrementally: a killed run leaves what it had."""

import gzip
import os
import pathlib
import tarfile
import threading


class Archive:
    """`with Archive(folder, "result.tar.gz"):` adds a file again when it has changed; the last copy counts.

    Each file is its own gzip member, so that a reader finds all that were written completely.
    """

    def __init__(self, folder, path, every=15):
        self.folder, self.path, self.every = pathlib.Path(folder), pathlib.Path(path), every
        self.known, self.ended = {}, threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.sweep()
        self.append(bytes(2 * tarfile.BLOCKSIZE))

    def follow(self):
        while not self.ended.wait(self.every):
            self.sweep()

    def sweep(self):
        for path in sorted(self.folder.rglob("*")):
            try:
                if path.is_file() and path.resolve() != self.path.resolve():
                    self.add(path)
            except OSError:  # it has disappeared
                continue

    def add(self, path):
        stat = path.stat()
        if self.known.get(path) == (stat.st_mtime_ns, stat.st_size):
            return
        data = path.read_bytes()
        entry = tarfile.TarInfo(f"{self.folder.name}/{path.relative_to(self.folder)}")
        entry.size, entry.mtime = len(data), int(stat.st_mtime)
        self.append(entry.tobuf() + data + bytes(-len(data) % tarfile.BLOCKSIZE))
        self.known[path] = stat.st_mtime_ns, stat.st_size

    def append(self, data):
        with self.path.open("ab") as file:
            file.write(gzip.compress(data))
            file.flush()
            os.fsync(file.fileno())
