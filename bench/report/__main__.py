"""python3 -m bench.report run | table | page | compare; scripts/bench and scripts/compare call it."""

import argparse
import pathlib
import sys

from . import compare, page, result, run, table


def parser():
    top = argparse.ArgumentParser(prog="bench.report", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    measure = commands.add_parser(
        "run", help="run the benchmarks of a build folder; writes result.json and page.html, prints a table"
    )
    measure.add_argument("--build", required=True, type=pathlib.Path, help="a build folder with SINTER_BENCHMARKS=ON")
    measure.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"), help="where the result goes")
    measure.add_argument("--short", action="store_true", help="everything once and briefly: to see that it runs")
    measure.add_argument("--seconds", type=float, help="leave out what does not fit in so much time, and say so")
    measure.add_argument("--only", nargs="+", choices=run.PARTS, default=run.PARTS, help="these parts alone")
    measure.add_argument("--executors", nargs="+", help="cpu-1, cpu, cuda:0 ...; all there are otherwise")
    measure.add_argument("--sizes", nargs="+", type=int, help="numbers of elements of the expressions")
    measure.add_argument("--elements", type=int, help="elements of the matrices of rows; past the caches otherwise")
    measure.add_argument("--no-peers", action="store_true", help="without the Python peers")
    for name, text in (("table", "print a result as a table"), ("page", "write a result as one HTML page")):
        command = commands.add_parser(name, help=text)
        command.add_argument("result", type=pathlib.Path)
        if name == "page":
            command.add_argument("out", type=pathlib.Path)
    comparison = commands.add_parser("compare", help="a verdict on each row of two results")
    comparison.add_argument("old", type=pathlib.Path)
    comparison.add_argument("new", type=pathlib.Path)
    comparison.add_argument("--all", action="store_true", help="print the rows that are the same, too")
    return top


def main():
    arguments = parser().parse_args()
    try:
        if arguments.command == "run":
            run.run(arguments)
        elif arguments.command == "table":
            loaded = result.load(arguments.result)
            with result.shown("the table"):
                table.show(loaded)
        elif arguments.command == "page":
            loaded = result.load(arguments.result)
            with result.shown("the page"):
                page.write(loaded, arguments.out)
        else:
            old, new = result.load(arguments.old), result.load(arguments.new)
            with result.shown("the comparison"):
                compare.show(old, new, arguments.all)
    except (result.Unreadable, run.Failed, run.TooLong) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
