#!/usr/bin/env python3
"""Lays out the sources of the documentation site in a folder, for Sphinx: build.py FOLDER.

Pages keep their places in the repository, so that their relative links stay right. A linked file that is no page, such
as an example, becomes a page that shows it; a linked folder becomes a list of its files.
"""

import json
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

import cpp_reference
import python_reference

ROOT = cpp_reference.ROOT
SITE = pathlib.Path(__file__).resolve().parent
LANGUAGES = {
    ".c": "c",
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".cuh": "cpp",
    ".def": "cpp",
    ".cmake": "cmake",
    ".py": "python",
    ".pyi": "python",
    ".sh": "sh",
    ".json": "json",
    ".toml": "toml",
    ".yml": "yaml",
}
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(listed.stdout.splitlines())


def of_notebook(path):
    """A notebook as Markdown, with the outputs stored in it."""
    out = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            out.append(source)
            continue
        out.append(f"```python\n{source}\n```")
        if printed := "".join(line for output in cell["outputs"] for line in output["text"]).strip("\n"):
            out.append(f"```text\n{printed}\n```")
    return "\n\n".join(out) + "\n"


def page_of(target):
    """The page that shows a file or a folder of the repository."""
    if target == "README.md":
        return "index.md"
    if target.endswith(".ipynb"):
        return target.removesuffix(".ipynb") + ".md"
    return target if target.endswith(".md") else f"source/{target}.md"


def with_links(text, folder, wanted):
    """The Markdown with links to pages of the site instead of files; adds the files to `wanted`."""

    def replaced(found):
        opening, target, anchor, closing = found.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        if not (ROOT / path).exists() or target.endswith((".png", ".svg")):
            return found.group(0)
        wanted.add(path)
        return opening + posixpath.relpath(page_of(path), folder or ".") + (anchor or "") + closing

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if i % 2 else LINK.sub(replaced, part) for i, part in enumerate(parts))


def shown(path, files):
    """A page that shows a file, or lists a folder."""
    target = ROOT / path
    if target.is_dir():
        inside = [name for name in files if name.startswith(f"{path}/")]
        return (
            f"# {path}\n\nThe files of this folder in the repository:\n\n"
            + "\n".join(f"- `{name}`" for name in inside)
            + "\n"
        )
    language = LANGUAGES.get(target.suffix, "text")
    text = target.read_text(encoding="utf-8").rstrip("\n")
    if language == "text" and text.startswith("#!") and "sh" in text.splitlines()[0]:
        language = "sh"
    return f"# {path}\n\n````````{language}\n{text}\n````````\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(folder):
    out, files, wanted = pathlib.Path(folder), tracked(), set()
    shutil.rmtree(out, ignore_errors=True)
    pages = {
        name
        for name in files
        if name.endswith(".md") and re.fullmatch(r"(docs/)?[^/]+", name) and (ROOT / name).exists()
    }
    texts = {}
    for name in sorted(pages):
        texts[page_of(name)] = with_links((ROOT / name).read_text(encoding="utf-8"), posixpath.dirname(name), wanted)
    for name in files:
        if name.endswith(".ipynb"):
            texts[page_of(name)] = with_links(of_notebook(ROOT / name), posixpath.dirname(name), wanted)
    texts["index.md"] += "\n" + (SITE / "contents.md").read_text(encoding="utf-8")
    while missing := {name for name in wanted if page_of(name) not in texts}:
        for name in missing:
            is_page = name.endswith(".md")  # a page elsewhere in the repository, such as bench/results/README.md
            text = (ROOT / name).read_text(encoding="utf-8") if is_page else shown(name, files)
            texts[page_of(name)] = "---\norphan: true\n---\n\n" + (
                with_links(text, posixpath.dirname(name), wanted) if is_page else text
            )
    for prefix, made in (("cpp", cpp_reference.pages()), ("python", python_reference.pages())):
        texts |= {f"{prefix}/{name}": text for name, text in made.items()}
    for name, text in texts.items():
        write(out / name, text)
    shutil.copytree(ROOT / "docs/images", out / "docs/images")
    for name in ("conf.py", "site.css"):
        shutil.copy(SITE / name, out / name)


if __name__ == "__main__":
    main(sys.argv[1])
