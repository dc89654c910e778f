"""The page of explain_html in a real browser: it fits and overlaps nothing, opens kernels, and runs nothing."""

import os
import pathlib
import subprocess
import sys
import unittest

import numpy
import sinter_jit as sn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import browser  # noqa: E402

FAKE = """
import numpy
import sinter_jit as sn
x = sn.tensor(numpy.ones((1000, 1000), "float32")).to("cuda:0")
y = x.cos().cos().cos().cos().cos().cos().cos().cos().cos().cos().cos().cos().cos().cos()
print((sn.softmax(sn.matmul(x.sigmoid().exp(), x), -1) + x.sigmoid() + sn.sum(y, 0)).explain_html())
"""

# What is wrong, as a list. Lines may pass under texts; texts must not overlap, and only scrolling areas may be wider
# than the page.
PROBE = """
const page = document.getElementById('page'), doc = page.contentDocument, found = [];
const shown = id => doc.defaultView.getComputedStyle(doc.getElementById(id)).display != 'none';
if (doc.documentElement.scrollWidth > doc.documentElement.clientWidth) found.push('wider than the page');
for (const svg of doc.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  texts.forEach(([text, box], i) => {
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1 || box.top < frame.top - 1)
      found.push('"' + text + '" is cut');
    for (const [other, b] of texts.slice(i + 1))
      if (Math.min(box.right, b.right) - Math.max(box.left, b.left) > 1.5 &&
          Math.min(box.bottom, b.bottom) - Math.max(box.top, b.top) > 5)
        found.push('"' + text + '" lies on "' + other + '"');
  });
}
if (doc.querySelector('img, script') || doc.title.startsWith('evil')) found.push('a name became markup');
if (!shown('kernel-1')) found.push('no kernel is shown at first');
const boxes = [...doc.querySelectorAll('.graph a')], last = boxes[boxes.length - 1];
const id = (last.getAttribute('xlink:href') || last.getAttribute('href')).slice(1);
last.focus();
if (doc.activeElement != last) found.push('a box cannot be focused');
last.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, view: doc.defaultView}));
setTimeout(() => {
  if (!shown(id)) found.push(id + ' is not shown when its box is clicked');
  if (id != 'kernel-1' && shown('kernel-1')) found.push('two kernels are shown');
  if (!doc.querySelector('#' + id + ' pre, #' + id + ' p')) found.push(id + ' has no text');
  document.getElementById('found').textContent = JSON.stringify(found);
}, 200);
"""


def on_fake_gpu():
    """On GPUs whose rates are known."""
    environment = {**os.environ, "SINTER_CUDA_DRIVER": os.environ["SINTER_FAKE_CUDA"], "SINTER_CACHE": "memory"}
    environment.pop("SINTER_VIRTUAL_GPUS", None)
    done = subprocess.run([sys.executable, "-c", FAKE], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def pages():
    x = sn.tensor(numpy.ones((40, 60), "float32"))
    yield "one kernel", ((x + 2).exp() * x).explain_html()
    yield "several kernels", (sn.matmul(x.sigmoid().exp(), x.t()).sum(0) + x.sigmoid().sum(1)).explain_html()
    long = x
    for _ in range(700):
        long = long.sin() + 1
    yield "a long chain", long.explain_html()
    yield "a GPU that is known", on_fake_gpu()


@unittest.skipUnless(browser.CHROMIUM, "there is no Chromium: scripts/deps pictures installs it")
class Browser(unittest.TestCase):
    def check(self, name, text):
        for width in (360, 1600):
            with self.subTest(page=name, width=width):
                self.assertEqual(browser.look(text, width, PROBE), ([], []))

    def test_pages_drawn_by_graphviz_or_by_ourselves(self):
        path = os.environ["PATH"]
        for drawn_by, folders in (("Graphviz", path), ("ourselves", "/nowhere")):
            os.environ["PATH"] = folders
            try:
                made = list(pages())
            finally:
                os.environ["PATH"] = path
            for name, text in made:
                self.check(f"{name}, by {drawn_by}", text)


class Page(unittest.TestCase):
    def test_has_the_names_of_a_text(self):
        z = sn.tensor([1.0, 2.0, 3.0])
        text = sn.parse("exp(z + 2) * length", z=z, length=sn.tensor([1.0, 2.0, 3.0])).explain_html()
        self.assertIn("length: float32 (3,), contiguous", text)
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        self.assertIn("__global__", text)


if __name__ == "__main__":
    unittest.main()
