#!/usr/bin/env python3
"""Fills the marked parts of the documentation, or checks that they are current.

    <!-- file: examples/01_quickstart.cpp [example] -->   the lines between `// [example]` and `// [/example]`, in Python `# [example]`
    <!-- file: examples/01_quickstart.out -->             a whole file
    <!-- ops -->                                          the operations, from jit/ops/ops.def
    <!-- reductions -->                                   the reductions, from reductions.def beside it
    <!-- mesh model -->                                   what docs/mesh_model.py reckons
    <!-- machine code -->                                 kernels beside Triton's, as docs/kernel_table.py compares them
each up to the next <!-- end -->.

It also checks that every relative link in the repository's Markdown leads to a file and a heading, that the code of
docs/coming-from.md is run, that docs/environment.md is complete, and that public headers are in the reference.
"""
import difflib
import functools
import os
import pathlib
import re
import sys
import textwrap

import kernel_table
import mesh_model

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "site"))
import cpp_reference  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPS = ROOT / "jit/ops/ops.def"
REDUCTIONS = ROOT / "jit/ops/reductions.def"
RULES = {
    "Same": "any; the result has the promoted dtype",
    "Number": "any but bool",
    "Integer": "bool and integers",
    "IntegerOnly": "integers",
    "First": "any; the result has the dtype of a",
    "FirstNumber": "any but bool; the result has the dtype of a",
    "Float": "any; bool and integers become float32",
    "FloatOnly": "floats",
    "WideFloat": "float32 and float64",
    "Float64": "any; the result is float64",
    "Compare": "any; the result is bool",
    "FloatCompare": "any; bool and integers become float32; the result is bool",
    "Logical": "any, as x != 0; the result is bool",
    "Select": "a is a bool; b and c promote",
    "RealPart": "any",
    "Complex": "complex; the result is real",
    "ComplexParts": "floats, as float32 or float64; the result is complex",
    "Sum": "any; bool and integers become int64",
    "Index": "any but bool; the result is int64",
    "Count": "any; the result is int64",
    "Nonzero": "any, as x != 0; the result is int64",
}
LANGUAGES = {".c": "c", ".cpp": "cpp", ".hpp": "cpp", ".out": "text", ".txt": "cmake", ".cmake": "cmake", ".py": "python"}


def part_of(path, section):
    text = (ROOT / path).read_text(encoding="utf-8")
    if section:
        found = re.search(rf"^ *(?://|#) \[{re.escape(section)}\]\n(.*?)^ *(?://|#) \[/{re.escape(section)}\]", text, re.MULTILINE | re.DOTALL)
        if not found:
            sys.exit(f"{path} has no part [{section}]")
        text = textwrap.dedent(found.group(1))
    # Marks of other parts are for this program, not for readers.
    return re.sub(r"^ *(?://|#) \[.*\]\n", "", text, flags=re.MULTILINE)


def quoted(path, section):
    if path.endswith(".md"):  # a table, as it is
        return (ROOT / path).read_text(encoding="utf-8")
    return f"```{LANGUAGES.get(pathlib.Path(path).suffix, '')}\n{part_of(path, section).rstrip()}\n```\n"


def arguments(text):
    """The arguments of a macro, split at the commas that are in no parentheses or quotes."""
    found, depth, quoted = [""], 0, False
    for c in text:
        quoted ^= c == '"'
        depth += (c == "(") - (c == ")") if not quoted else 0
        if c == "," and depth == 0 and not quoted:
            found.append("")
        else:
            found[-1] += c
    return [argument.strip() for argument in found]


def described(derivative):
    """A derivative column, for readers."""
    return {"(none)": "", "(body)": "that of the formula"}.get(derivative, f"`{derivative[1:-1]}`")


def operations():
    """A table for each group of ops.def."""
    lines, title = [], None
    text = OPS.read_text(encoding="utf-8")
    complex_too = set(re.findall(r"^SINTER_COMPLEX(?:_TO_REAL)?\((\w+)\)", text, flags=re.MULTILINE))
    defaults = {name: values.split(", ") for name, values in re.findall(r"^SINTER_DEFAULTS\((\w+), (.*)\)", text, flags=re.MULTILINE)}
    for line in text.splitlines():
        if group := re.fullmatch(r"// ([A-Z][^:]*)", line):
            title = group.group(1)
        elif found := re.fullmatch(r"SINTER_(OP|COMPOSITE_OP)\((.*)\)", line):
            kind, row = found.group(1), arguments(found.group(2))
            name, arity, rule, (body, derivative, doc) = *row[:3], row[-3:]
            doc = doc.strip('"')
            if title:
                lines += ["", f"### {title}", "", "| operation | value | operands | computed as | derivative |", "| --- | --- | --- | --- | --- |"]
                title = None
            operands = list("abcde"[:int(arity)])
            for i, value in enumerate(reversed(defaults.get(name, []))):
                operands[-1 - i] += f" = {value}"
            call = f"`{name}({', '.join(operands)})`"
            takes = RULES[rule] + ("; complex too" if name in complex_too and rule not in ("RealPart", "Complex") else "")
            cells = [call, doc, takes, f"`{body}`", described(derivative)]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines[1:]) + "\n"


def reductions():
    """The table of reductions.def."""
    text = REDUCTIONS.read_text(encoding="utf-8")
    complex_too = set(re.findall(r"^SINTER_COMPLEX\((\w+)\)", text, flags=re.MULTILINE))
    lines = ["| reduction | value | operands | derivative |", "| --- | --- | --- | --- |"]
    for line in text.splitlines():
        if not (found := re.fullmatch(r"SINTER_((?:INDEX_|SHAPE_|COMPOSITE_)?REDUCTION)\((.*)\)", line)):
            continue
        kind, (name, arity, rule, fact, *_, derivative, doc) = found.group(1), arguments(found.group(2))
        preserves_shape = fact == "ShapePreserving"
        takes_axes = "a, axes" if preserves_shape else "a, axes, b = 1, keepdim" if arity == "2" else "a, axes, keepdim"
        takes = RULES[rule] + ("; complex too" if name in complex_too else "")
        doc = doc.strip('"')
        lines.append(f"| `{name}({takes_axes})` | {doc} | {takes} | {described(derivative)} |")
    return "\n".join(lines) + "\n"


def generated(mark):
    tables = {"mesh model": mesh_model.table, "machine code": kernel_table.table, "reductions": reductions, "ops": operations}
    return next(make() for name, make in tables.items() if name in mark)


def filled(text):
    def fill(found):
        mark, path, section = found.group(1), found.group(2), found.group(3)
        return f"{mark}\n{quoted(path, section) if path else generated(mark)}<!-- end -->"

    return re.sub(r"(<!-- (?:file: (\S+)(?: \[([^\]]+)\])?|ops|reductions|mesh model|machine code) -->)\n.*?<!-- end -->", fill, text, flags=re.DOTALL)


def undocumented_variables():
    """Environment variables that the code reads and docs/environment.md does not name, or the other way round."""
    named = set(re.findall(r"`(SINTER_\w+)", (ROOT / "docs/environment.md").read_text(encoding="utf-8")))
    read = set()
    for folder in ("runtime", "jit", "dsl", "tests"):
        for path in (ROOT / folder).rglob("*.[ch]pp"):
            read |= set(re.findall(r'(?:getenv|environment(?:_bytes)?|is_(?:off|on)|library_candidates)\("(SINTER_\w+)"', path.read_text(encoding="utf-8")))
    return [f"docs/environment.md does not name {name}, which the code reads" for name in sorted(read - named)] + \
           [f"docs/environment.md names {name}, which nothing reads" for name in sorted(named - read)]


def code_of_other_libraries_users():
    """Code in the last columns of docs/coming-from.md that is not in the programs that the page names."""
    programs = {language: re.sub(r"\s+", " ", (ROOT / path).read_text(encoding="utf-8"))
                for language, path in [("C++", "examples/31_coming_from.cpp"), ("Python", "examples/python/coming_from.py")]}
    program = None
    for line in (ROOT / "docs/coming-from.md").read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"\|.*\| (Sinter.*) \|$", line):
            program = programs["Python" if "Python" in heading.group(1) or "CuPy" in line else "C++"]
        elif line.startswith("| `"):
            for code in re.findall(r"`([^`]+)`", line.split(" | ")[-1]):
                if re.sub(r"\s+", " ", code) not in program:
                    yield f"docs/coming-from.md: `{code}` is in no program that is run"


def without_code(text):
    return re.sub(r"^(```+|~~~+).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """The anchors that GitHub gives the headings of a page."""
    found = set()
    for heading in re.findall(r"^#+ +(.+?) *#*$", without_code(path.read_text(encoding="utf-8")), re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number, candidate = 0, slug
        while candidate in found:
            number += 1
            candidate = f"{slug}-{number}"
        found.add(candidate)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", path.read_text(encoding="utf-8")))


def broken_links():
    """Relative links in any page of the repository whose file or heading does not exist."""
    of = functools.cache(anchors)
    for path in every_page():
        prose = re.sub(r"``.*?``|`[^`]*`", "", without_code(path.read_text(encoding="utf-8")))
        links = re.findall(r"\]\(\s*([^)\s]+)", prose) + re.findall(r"^\[[^\]]+\]: +(\S+)", prose, re.MULTILINE) \
            + re.findall(r"<(?:a href|img src|source srcset)=\"([^\"]+)\"", prose)
        for link in links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            file = (path.parent / target).resolve() if target else path
            if not file.exists() or ROOT not in [file, *file.parents]:
                yield f"{path.relative_to(ROOT)} links to {target}, which does not exist"
            elif anchor and file.suffix == ".md" and anchor not in of(file):
                yield f"{path.relative_to(ROOT)} links to {link}, but {file.relative_to(ROOT)} has no such heading"


def every_page():
    """All Markdown of the repository, but not of build folders."""
    for folder, inside, names in os.walk(ROOT):
        inside[:] = sorted(name for name in inside if not re.match(r"build|\.git$|node_modules|gpu-check", name))
        yield from (pathlib.Path(folder, name) for name in sorted(names) if name.endswith(".md"))


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def main():
    check = sys.argv[1:] == ["--check"]
    problems = undocumented_variables() + list(broken_links()) + list(code_of_other_libraries_users())
    if check:
        cpp_reference.pages()  # ends with a message if a public header is on no page
    for path in pages():
        text = path.read_text(encoding="utf-8")
        current = filled(text)
        if current == text:
            continue
        if check:
            name = str(path.relative_to(ROOT))
            problems.append(f"{name} is not current; run scripts/docs\n" +
                            "".join(difflib.unified_diff(text.splitlines(True), current.splitlines(True), name, name, n=1)))
        else:
            path.write_text(current, encoding="utf-8")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
