"""Kills the training of digits after its first checkpoint, resumes it, and compares the last checkpoint's bytes with those
of a run that was not interrupted.

    resume_digits.py PROGRAM
"""
import pathlib
import subprocess
import sys
import tempfile
import time


def arguments(program, checkpoint, *more):
    return [program, "--epochs", "3", "--samples", "600", "--checkpoint", checkpoint, *more]


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        whole, resumed = pathlib.Path(folder, "whole.safetensors"), pathlib.Path(folder, "resumed.safetensors")
        subprocess.run(arguments(program, whole), check=True)
        killed = subprocess.Popen(arguments(program, resumed))
        while not resumed.exists() and killed.poll() is None:
            time.sleep(0.001)
        killed.kill()
        killed.wait()
        subprocess.run(arguments(program, resumed, "--resume"), check=True)
        if whole.read_bytes() != resumed.read_bytes():
            sys.exit("the resumed run ended with other bytes")


main()
