"""Results that somebody made up or broke: the page, the table and the comparison show them or say what is wrong."""

import contextlib
import copy
import io
import json
import pathlib
import random
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from bench.report import __main__ as command  # noqa: E402

SAMPLE = pathlib.Path(__file__).with_name("sample_result.json")
MARKUP = "\"'><script>alert(1)</script><b a='&amp;"


def places(value, path=()):
    """The path of everything in a result but the result itself."""
    listed = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in listed:
        yield (*path, key)
        yield from places(item, (*path, key))


def inside(value, path):
    for key in path:
        value = value[key]
    return value


class Hostile(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.sample = json.loads(SAMPLE.read_text(encoding="utf-8"))

    def show(self, text):
        """{command: (status, what it says on standard error, and on standard output)}, of page, table and compare."""
        file, found = self.folder / "result.json", {}
        file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        for words in (["page", file, self.folder / "page.html"], ["table", file], ["compare", SAMPLE, file, "--all"]):
            out, errors = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
                with mock.patch.object(sys, "argv", ["bench.report", *map(str, words)]):
                    status = command.main()  # what it raises is the test's error
            self.assertEqual(status == 0, errors.getvalue() == "", errors.getvalue())
            found[words[0]] = status, errors.getvalue(), out.getvalue()
        return found

    def refused(self, text, words):
        for status, said, _ in self.show(text).values():
            self.assertEqual(status, 1)
            self.assertIn("error:", said)
            self.assertIn(words, said)

    def test_markup_is_text(self):
        hostile = copy.deepcopy(self.sample)
        for path in places(self.sample):
            value = inside(self.sample, path)
            # A few texts are looked up, and say what a row is.
            if isinstance(value, str) and path[-1] not in ("executor", "implementation", "step", "program", "driver"):
                if path[0] != "sections" and path[-1] not in ("case", "what", "library"):
                    inside(hostile, path[:-1])[path[-1]] = value + MARKUP
        for row in hostile["rows"]:
            if row["implementation"] == "numpy":
                row["implementation"] += MARKUP
        for status, said, _ in self.show(hostile).values():
            self.assertEqual(status, 0, said)
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertNotIn("<script", page)
        tree = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
        self.assertIn(MARKUP, "".join(tree.itertext()))

    def test_what_steers_a_terminal_is_not_printed(self):
        self.sample["notes"].append("\x1b[2J\x00 and \ud800 and \x07")
        for status, said, out in self.show(self.sample).values():
            self.assertEqual(status, 0, said)
            self.assertNotIn("\x1b", out)
        self.assertNotIn("\x1b", (self.folder / "page.html").read_text(encoding="utf-8"))

    def test_numbers_that_are_none(self):
        whole = SAMPLE.read_text(encoding="utf-8")
        for key in ("median_ns", "q1_ns", "n", "bytes", "repetitions", "ghz"):
            at = whole.rindex(f'"{key}": ') + len(key) + 4
            end = min(whole.index(sign, at) for sign in ",}" if sign in whole[at:])
            for number in ("NaN", "-1", "Infinity", "1e999", "-0.0", "null", '"1"', "[]", "true", "9" * 400):
                with self.subTest(key=key, number=number):
                    self.refused(whole[:at] + number + whole[end:], "error:")

    def test_no_json(self):
        for text in ("", "{}", "[]", "null", "[" * 100_000, '{"schema": 1}', '{"schema": 1, "rows": 3}'):
            self.refused(text, "result.json")

    def test_anything_missing_or_of_another_kind(self):
        draw, everywhere = random.Random(1), list(places(self.sample))
        # Every place but the rows', and some of these; most are refused at once.
        listed = [p for p in everywhere if len(p) < 3 and p[0] != "rows"] + draw.sample(everywhere, 30)
        for path in listed:
            for change in draw.sample(["missing", None, "text", -1, [], {}], 2):
                broken = copy.deepcopy(self.sample)
                holder = inside(broken, path[:-1])
                if change == "missing":
                    del holder[path[-1]]
                else:
                    holder[path[-1]] = change
                with self.subTest(path=path, change=change):
                    self.show(broken)

    def test_rows_missing(self):
        for seed in range(10):
            draw, part = random.Random(seed), copy.deepcopy(self.sample)
            part["rows"] = [row for row in part["rows"] if draw.random() < 0.3]
            for section in part["sections"]:
                part["sections"][section] = [r for r in part["sections"][section] if draw.random() < 0.5]
            with self.subTest(seed=seed):
                self.show(part)


if __name__ == "__main__":
    unittest.main()
