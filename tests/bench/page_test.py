"""The page of a result: well-formed, self-contained, an alternative for every chart, and sound in a real browser."""

import contextlib
import copy
import html
import io
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE.parent)]
import browser  # noqa: E402
from bench.report import page, result, table  # noqa: E402

SAMPLE = HERE / "sample_result.json"


def with_gpu(sample):
    """The sample with a GPU and every peer there is, whose times are made up."""
    full = copy.deepcopy(sample)
    full["versions"]["gpus"] = "A GPU of some length of name sm_90"
    ours = [
        r for r in sample["rows"] if r["executor"] == "cpu-1" and r["implementation"] in ("sinter", "eager", "limit")
    ]
    full["rows"] += [{**r, "executor": "cuda:0"} for r in ours]
    for scale, peer in enumerate(("torch", "torch.compile", "jax.jit", "cupy", "cupy.fuse"), start=2):
        for row in ours:
            if row["implementation"] == "sinter":
                times = {key: row[key] * scale for key in ("median_ns", "q1_ns", "q3_ns")}
                full["rows"].append({**row, **times, "executor": "cuda:0", "implementation": peer})
    along = [{**r, "executor": "cuda:0"} for r in sample["sections"]["rows"] if r["implementation"] != "torch"]
    full["sections"]["rows"] += along
    for scale, peer in enumerate(("torch", "torch.compile", "jax.jit", "cupy"), start=2):
        for row in along:
            if row["implementation"] == "sinter":
                times = {key: row[key] * scale / 2 for key in ("median_ns", "q1_ns", "q3_ns")}
                full["sections"]["rows"].append({**row, **times, "implementation": peer})
    multiplied = [{**r, "executor": "cuda:0"} for r in sample["sections"]["products"] if r["implementation"] != "torch"]
    full["sections"]["products"] += [r for r in multiplied if r["implementation"] != "limit"]
    for scale, peer in enumerate(("torch", "torch.compile"), start=2):
        for row in multiplied:
            if row["implementation"] == "sinter":
                times = {key: row[key] * scale / 2 for key in ("median_ns", "q1_ns", "q3_ns", "over_gemm") if row[key]}
                full["sections"]["products"].append({**row, **times, "implementation": peer})
    return full


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sample = result.load(SAMPLE)
        cls.pages = {"cpu": page.document(cls.sample), "gpu": page.document(with_gpu(cls.sample))}

    def tree(self, text):
        return ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))

    def test_well_formed(self):
        for text in self.pages.values():
            self.assertEqual(self.tree(text).tag, "html")

    def test_nothing_from_elsewhere(self):
        for text in self.pages.values():
            self.assertNotRegex(text, r"https?://|src=|@import|url\(|<script|<link|<img|<iframe")
            links = [e.get("href") for e in self.tree(text).iter("a")]
            ids = {e.get("id") for e in self.tree(text).iter()}
            for link in links:
                self.assertIn(link.removeprefix("#"), ids)

    def test_every_chart_has_an_alternative(self):
        for text in self.pages.values():
            tree = self.tree(text)
            figures = list(tree.iter("figure"))
            self.assertGreater(len(figures), 8)
            for figure in figures:
                self.assertIsNotNone(figure.find("details//table"), "a table")
                caption = "".join(figure.find("figcaption").itertext())
                self.assertIn(self.sample["machine"]["processor"], caption, "where it was measured")
                self.assertIn(self.sample["date"][:10], caption, "when it was measured")
                for svg in figure.iter("svg"):
                    self.assertEqual(svg.get("role"), "img")
                    names = svg.get("aria-labelledby").split()
                    self.assertEqual(names, [svg.find("title").get("id"), svg.find("desc").get("id")])
                    self.assertTrue(svg.findtext("title") and svg.findtext("desc"))
            ids = [e.get("id") for e in tree.iter() if e.get("id")]
            self.assertEqual(len(ids), len(set(ids)), "ids are unique")

    def test_says_what_it_was_measured_on(self):
        text = html.unescape(self.pages["cpu"])
        for value in (self.sample["machine"]["processor"], self.sample["date"], self.sample["versions"]["commit"]):
            self.assertIn(value, text)
        for note in self.sample["notes"]:
            self.assertIn(note, text)

    def test_contrast(self):
        style = (ROOT / "bench/report/page/style.css").read_text(encoding="utf-8")
        light, dark = (
            dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part))
            for part in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
        )
        for colours in (light, dark):
            for name, colour in colours.items():
                if name not in ("paper", "grid", "edge", "tile"):
                    self.assertGreaterEqual(contrast(colour, colours["paper"]), 3 if name == "neutral" else 4.5, name)

    def test_parts_of_a_result(self):
        for left_out in ("rows", "sections"):
            part = copy.deepcopy(self.sample)
            part[left_out] = type(part[left_out])()
            self.tree(page.document(part))

    def test_implementations_that_are_missing(self):
        for missing in ("sinter", "eager", "limit"):
            part = copy.deepcopy(self.sample)
            part["rows"] = [row for row in part["rows"] if row["implementation"] != missing]
            if missing == "limit":
                part["rows"] = [{**row, "limit_share": None} for row in part["rows"]]
            self.tree(page.document(part))
            with contextlib.redirect_stdout(io.StringIO()):
                table.show(part)


class Captions(unittest.TestCase):
    """They say what is true of a result that lacks something."""

    def setUp(self):
        self.sample = result.load(SAMPLE)

    def page(self):
        return html.unescape(page.document(self.sample))

    def test_a_mean_of_some_expressions(self):
        self.assertNotRegex(self.page(), r"Eigen \d+ of")
        gone = [r for r in self.sample["rows"] if r["implementation"] == "eigen" and r["expression"] == "normalise"]
        self.sample["rows"] = [row for row in self.sample["rows"] if row not in gone]
        self.assertIn("Eigen 4 of 5", self.page())
        self.assertIn("<td>4 of 5</td>", self.page())

    def test_another_that_shares_no_case(self):
        self.sample["rows"] = [
            r for r in self.sample["rows"] if r["implementation"] != "sinter" or r["expression"] != "normalise"
        ]
        self.sample["rows"] = [
            r for r in self.sample["rows"] if r["implementation"] != "eigen" or r["expression"] == "normalise"
        ]
        self.page()

    def test_a_first_evaluation_without_nvrtc(self):
        self.assertRegex(self.page(), "first evaluation of 5 operations; .* in all")
        first = self.sample["sections"]["first"]
        self.sample["sections"]["first"] = [row for row in first if row["step"] != "nvrtc"]
        text = self.page()
        self.assertNotRegex(text, "first evaluation of 5 operations; .* in all")
        self.assertNotIn("in all (budget", text)
        self.assertIn("Not measured: compile (NVRTC)", text)

    def test_repetitions_are_those_of_the_rows(self):
        self.sample["rows"][0]["repetitions"] = 3
        self.assertIn("medians of 3 to 7 repetitions", self.page())

    def test_shapes_differ(self):
        from bench.report.page import chart

        self.assertEqual(len(set(chart.SHAPES.values())), len(chart.SHAPES))

    def test_hits_without_the_null_driver(self):
        hits = self.sample["sections"]["hits"]
        self.sample["sections"]["hits"] = [row for row in hits if row["driver"] != "null"]
        self.page()
        with contextlib.redirect_stdout(io.StringIO()):
            table.show(self.sample)


# Put into the page when a browser looks at it: what sticks out, and what lies on something else.
PROBE = """
const doc = document.getElementById('page').contentDocument, found = [];
doc.querySelectorAll('details').forEach(d => d.open = true);
const root = doc.documentElement;
if (root.scrollWidth > root.clientWidth) found.push('the page is ' + root.scrollWidth + ' wide');
doc.querySelectorAll('svg').forEach(svg => {
  const name = svg.querySelector('title').textContent, frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  const style = doc.defaultView.getComputedStyle(svg.querySelector('text'));
  const size = parseFloat(style.fontSize) * frame.width / svg.viewBox.baseVal.width;
  if (size < 9.5) found.push(name + ': text of ' + size.toFixed(1) + ' pixels');
  texts.forEach(([text, box], i) => {
    const across = box.left < frame.left - 1 || box.right > frame.right + 1;
    if (across || box.bottom > frame.bottom + 1 || box.top < frame.top - 2)
      found.push(name + ': "' + text + '" is cut');
    texts.slice(i + 1).forEach(([other, b]) => {
      const across = Math.min(box.right, b.right) - Math.max(box.left, b.left);
      const down = Math.min(box.bottom, b.bottom) - Math.max(box.top, b.top);
      if (across > 1.5 && down > 5) found.push(name + ': "' + text + '" lies on "' + other + '"');
    });
  });
});
document.getElementById('found').textContent = JSON.stringify(found);
"""


@unittest.skipUnless(browser.CHROMIUM, "there is no Chromium: scripts/deps pictures installs it")
class Browser(unittest.TestCase):
    def test_fits_and_overlaps_nothing(self):
        sample = result.load(SAMPLE)
        some = with_gpu(sample)  # each of the others lacks an expression
        some["rows"] = [
            r for r in some["rows"] if r["expression"] != "normalise" or r["implementation"] in ("sinter", "limit")
        ]
        for text in map(page.document, (sample, with_gpu(sample), some)):
            for width in (400, 1200):
                with self.subTest(width=width):
                    self.assertEqual(browser.look(text, width, PROBE), ([], []))


if __name__ == "__main__":
    unittest.main()
