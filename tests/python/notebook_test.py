"""Runs examples/python/tour.ipynb, cell by cell, and compares what each prints with the output stored in it.

It needs no Jupyter, so that it runs wherever the other tests do. SINTER_UPDATE_GOLDEN=1 stores the outputs instead.
"""

import contextlib
import io
import json
import os
import pathlib

from case import Case, main

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples/python/tour.ipynb"


def printed_by(source, scope, number):
    """What a cell prints. A last line that is an expression would be displayed, in a form that depends on what is
    installed; the cells print instead."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, f"cell {number} of {NOTEBOOK.name}", "exec"), scope)
    return out.getvalue()


class Notebook(Case):
    def test_every_cell_prints_what_is_stored(self):
        notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        self.assertEqual(notebook["nbformat"], 4)
        update = os.environ.get("SINTER_UPDATE_GOLDEN") == "1"
        scope, number = {"__name__": "__main__"}, 0
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            number += 1
            printed = printed_by("".join(cell["source"]), scope, number)
            if update:
                cell["execution_count"] = number
                cell["outputs"] = (
                    [{"name": "stdout", "output_type": "stream", "text": printed.splitlines(True)}] if printed else []
                )
            else:
                stored = "".join(line for output in cell["outputs"] for line in output["text"])
                self.assertEqual(printed, stored, f"cell {number} prints something else than is stored in it")
                self.assertEqual(cell["execution_count"], number)
        self.assertGreater(number, 5)
        if update:
            NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
