"""Measures everything, or the requested parts, and writes the result."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys

from . import machine, page, products, programs, progress, result, rows, suite, table
from .deadline import Deadline
from .sections import SECTIONS

PARTS = ["expressions", "rows", "products", *SECTIONS]
Failed = programs.ProgramFailed
SHORT_S = 600  # for --short, which takes a minute unless something hangs
SHARES = {"expressions": 5, "rows": 3, "products": 2}  # relative shares of their common time, if it is limited
SECTION_S = 35  # reserved for each section if time is short
FULL, SHORT = programs.Settings(7, 0.03), programs.Settings(2, 0.001)


@dataclasses.dataclass
class Context:
    """What a section needs."""

    folder: pathlib.Path
    settings: programs.Settings
    short: bool
    real_gpus: list
    notes: list
    errors: list
    deadline: Deadline

    def run(self, program, arguments=(), environment=None):
        """(measurements by name, the program's description of its build)."""
        seconds = self.deadline.seconds()
        return programs.run(self.folder / program, self.settings, arguments, environment, seconds=seconds)

    def failed(self, what, error):
        """Records a failure: the rest is worth having, so the run goes on and fails at its end."""
        if isinstance(error, programs.OutOfTime):
            self.notes.append(f"{what}: no time was left")
        else:
            self.errors.append(f"{what}: {programs.brief(error)}")


class TooLong(Exception):
    """A short run hangs."""


@contextlib.contextmanager
def limit(seconds):
    """Limits the time of its body to some seconds; programs are killed by the code that waits for them."""

    def end(_signal, _frame):
        raise TooLong(f"it took more than {seconds} s, the limit of --short; what was measured until then is kept")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run(arguments, tests=None):
    """`tests` is the outcome of the GPU tests, if scripts/gpu-check ran them."""
    with limit(SHORT_S) if arguments.short and arguments.seconds is None else contextlib.nullcontext():
        measure(arguments, tests)


def measure(arguments, tests):
    os.environ.pop("SINTER_VIRTUAL_GPUS", None)  # speed is measured on existing devices
    context, new = begin(arguments)
    if tests is not None:
        new["gpu_tests"] = tests

    def keep():  # after each part, so that a killed run leaves what it had
        result.save(new, arguments.out / "result.json")

    keep()
    if "expressions" in arguments.only:
        expressions(arguments, context, new, keep)
    if "rows" in arguments.only:
        along_rows(arguments, context, new, keep)
    if "products" in arguments.only:
        products_and_networks(arguments, context, new, keep)
    sections(arguments, context, new, keep)
    keep()
    kept = result.load(arguments.out / "result.json")
    with result.shown("the page"):
        page.write(kept, arguments.out / "page.html")
    with result.shown("the table"):
        table.show(kept)
    print(f"\nwritten: {arguments.out / 'result.json'}, {arguments.out / 'page.html'}")
    if new["errors"]:
        raise Failed("\n  ".join(["these went wrong and are left out:", *new["errors"]]))


def begin(arguments):
    folder = (arguments.build / "bench").resolve()
    settings = SHORT if arguments.short else FULL
    described = programs.ask(folder / "expressions")
    gpus = [name for name in described["gpus"].split(", ") if name]
    new = result.new(
        machine.describe(),
        {
            "short": arguments.short,
            "repetitions": settings.repetitions,
            "min_time_s": settings.min_time,
            "order": "random within an executor and a size",
            "spread": "quartiles of the repetitions",
        },
    )
    new["versions"]["gpus"] = described["gpus"]
    deadline = Deadline(arguments.seconds)
    return Context(folder, settings, arguments.short, gpus, new["notes"], new["errors"], deadline), new


def expressions(arguments, context, new, keep):
    deadline = before_sections(arguments, context, "expressions")
    measured = suite.Suite(context.folder, context.settings, new, deadline, peers_wanted=not arguments.no_peers)
    sizes = arguments.sizes or (suite.SHORT_SIZES if arguments.short else [*suite.SIZES, suite.past_caches()])
    executors = arguments.executors or suite.executors(new["machine"]["cores"], len(context.real_gpus))
    new["settings"].update(sizes=sizes, executors=executors)
    measured.measure(executors, sizes, keep)
    if not context.real_gpus:
        say("expressions on a virtual GPU: values alone")
        try:
            suite.check_on_virtual_gpu(context.folder)
            said = "The suite's GPU half ran on a virtual GPU, its values were right."
        except programs.ProgramFailed as error:
            context.failed("expressions on a virtual GPU", error)
            said = "Nor did the suite's GPU half run on a virtual GPU."
        context.notes.append(f"No GPU was measured. {said}")


def before_sections(arguments, context, part):
    """The end of a part's share of the time left before the sections; earlier parts have had their shares."""
    if arguments.seconds is None:
        return Deadline()
    wanted = [name for name in arguments.only if name in SECTIONS]
    waiting = list(SHARES)[list(SHARES).index(part) :]
    all_shares = sum(SHARES[name] for name in waiting if name in arguments.only)
    return Deadline(SHARES[part] / all_shares * (context.deadline.left() - SECTION_S * len(wanted)))


def along_rows(arguments, context, new, keep):
    deadline = before_sections(arguments, context, "rows")
    measured = rows.Rows(context.folder, context.settings, new, deadline, peers_wanted=not arguments.no_peers)
    executors = arguments.executors or suite.executors(new["machine"]["cores"], len(context.real_gpus))
    elements = arguments.elements or (rows.SHORT_ELEMENTS if arguments.short else None)
    columns = rows.SHORT_COLUMNS if arguments.short else getattr(arguments, "columns", None) or rows.COLUMNS
    measured.measure(rows.chosen(executors, deadline), columns, elements, keep)
    if not context.real_gpus:
        say("rows on a virtual GPU: values alone")
        try:
            rows.check_on_virtual_gpu(context.folder)
        except programs.ProgramFailed as error:
            context.failed("rows on a virtual GPU", error)


def products_and_networks(arguments, context, new, keep):
    deadline = before_sections(arguments, context, "products")
    measured = products.Products(context.folder, context.settings, new, deadline, peers_wanted=not arguments.no_peers)
    executors = arguments.executors or suite.executors(new["machine"]["cores"], len(context.real_gpus))
    measured.measure(executors, arguments.short, keep)
    if not context.real_gpus:
        say("products on a virtual GPU: values alone")
        try:
            products.check_on_virtual_gpu(context.folder)
        except programs.ProgramFailed as error:
            context.failed("products on a virtual GPU", error)


def sections(arguments, context, new, keep):
    wanted = [name for name in arguments.only if name in SECTIONS]
    if not wanted:
        return
    with progress.Bar("sections", len(wanted)) as bar:
        for name in wanted:
            bar.step(name)
            try:
                new["sections"][name] = SECTIONS[name](context)
            except (programs.ProgramFailed, subprocess.SubprocessError, OSError) as error:
                context.failed(name, error)
            keep()


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)
