"""The examples in docstrings print what they say."""

import doctest
import os
import pathlib

import numpy as np

import sinter_jit as sn
from case import Case, main

GLOBALS = {"sn": sn, "np": np}
EXAMPLES = pathlib.Path(sn.__file__).with_name("examples.txt")
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent / "dsl/python/sinter_jit/examples.txt"


class Doctests(Case):
    def examples_of(self, doc, name):
        found = doctest.DocTestParser().get_doctest(doc or "", dict(GLOBALS), name, None, 0)
        report = []
        doctest.DocTestRunner(verbose=False).run(found, out=report.append)
        self.assertEqual("".join(report), "")
        return len(found.examples)

    def test_functions_and_methods(self):
        ran = 0
        for where in (sn, sn.Operand, sn.Tensor, sn.Expression, sn.dtype, sn.device):
            for name, value in vars(where).items():
                if callable(value) and not name.startswith("_"):
                    with self.subTest(name=name):
                        ran += self.examples_of(value.__doc__, name)
        self.assertGreater(ran, 300)

    def test_help_shows_the_example(self):
        for text in (sn.softmax.__doc__, sn.Operand.softmax.__doc__):
            self.assertIn("exp(a) / sum(exp(a)) without overflow", text)
            self.assertIn(
                ">>> sn.softmax(sn.tensor([[1.0, 2.0], [3.0, 3.0]]), 1).eval()\ntensor([[0.2689, 0.7311],", text
            )

    def test_examples_are_of_operations(self):
        names = {name for name, *_ in sn._core._operations()}
        self.assertEqual(set(sn._operations.EXAMPLES) - names, set())
        if os.environ.get("SINTER_UPDATE_GOLDEN"):
            SOURCE.write_text(
                "\n".join(map(current, doctest.DocTestParser().get_examples(EXAMPLES.read_text(encoding="utf-8")))),
                encoding="utf-8",
            )


def current(example):
    return f">>> {example.source}{eval(example.source, GLOBALS)!r}\n"


if __name__ == "__main__":
    main()
