"""The pages of the Python reference, as Markdown.

Signatures come from the type hints, descriptions from the docstrings: of Python's modules, of the bindings in C++, and
of the tables of operations.
"""

import ast
import re

import headers
from cpp_reference import ROOT, prose

PACKAGE = ROOT / "dsl/python/sinter_jit"
STRINGS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'


def joined(strings):
    return "".join(ast.literal_eval(s) for s in re.findall(r'"(?:[^"\\]|\\.)*"', strings))


def native_docs():
    """{name: what the tables of operations and the bindings say about it}"""
    docs = {}
    for path in sorted((ROOT / "dsl/python").glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        classes = []  # where the bindings of each class begin
        for found in re.finditer(r'nb::class_<[^;{]*?>\s*\w*\(\s*m,\s*"(\w+)"', text):
            classes.append((found.start(), found.group(1)))
            if about := re.match(r"(?:,\s*nb::\w+\([^;]*?\)+)?,\s*" + STRINGS + r"\)", text[found.end() :]):
                docs.setdefault(found.group(1), joined(about.group(1)))
        classes += [
            (found.start(), found.group(1).capitalize()) for found in re.finditer(r"\b(operand|tensor)\s*\.def", text)
        ]
        classes += [(found.start(), "") for found in re.finditer(r"\bm\.def", text)]
        classes.sort()
        for found in re.finditer(r'\.def\w*\(\s*"(\w+)"', text):
            end = found.end()
            depth = 1
            while depth:
                if text[end] == '"':
                    end = headers.end_of_literal(text, end)
                    continue
                depth += (text[end] in "([{") - (text[end] in ")]}")
                end += 1
            if last := re.search(r",\s*" + STRINGS + r"$", text[found.end() : end - 1].rstrip()):
                owner = next((name for start, name in reversed(classes) if start <= found.start()), "")
                docs.setdefault(f"{owner}.{found.group(1)}" if owner else found.group(1), joined(last.group(1)))
    for path in sorted((ROOT / "dsl/text").glob("*.cpp")):
        for found in re.finditer(
            r'\{"(\w+)",\s*' + STRINGS + r",\s*" + STRINGS + ",", path.read_text(encoding="utf-8")
        ):
            docs.setdefault(found.group(1), joined(found.group(3)))
    for path in (ROOT / "jit/ops/ops.def", ROOT / "jit/ops/reductions.def"):
        for found in re.finditer(
            r'^SINTER_\w+\((\w+), .*, "((?:[^"\\]|\\.)*)"\)$', path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            docs[found.group(1)] = found.group(2)
    for path in sorted((ROOT / "dsl/text").glob("*.cpp")):
        for table in re.finditer(r"FunctionAlias all\[\] = (.*?);", path.read_text(encoding="utf-8"), re.DOTALL):
            for alias, name in re.findall(r'\{"(\w+)",\s*"(\w+)"', table.group(1)):
                docs.setdefault(alias, f"The same as `{name}`")
    return docs


def sentence(text):
    return text if not text or text.endswith((".", ":", "```")) else text + "."


def typed(node):
    """A type hint or arguments, with the names that users see."""
    text = ast.unparse(node)
    for private, public in (("_DTypeOf", "dtype"), ("_DeviceOf", "device"), ("_bool", "bool"), ("_complex", "complex")):
        text = re.sub(rf"\b{private}\b", public, text)
    return text


def signature(node, name=None):
    returns = f" -> {typed(node.returns)}" if node.returns and not name else ""
    arguments = re.sub(
        r"^self(: M)?(, (/, )?|$)", "", re.sub(r"(?<=[\w\])'])=(?=[\w'\"(\[-])", " = ", typed(node.args))
    )
    return f"{name or node.name}({arguments}){returns}"


def python_prose(text):
    return prose(re.sub(r"(?m)^    ", "  ", text))


SPECIAL = ("__init__", "__call__", "__enter__", "__getitem__", "__setitem__")


def documented(names, docs, leave_out=()):
    """Sections of functions, overloads together, and of classes with their members, without those of some lines."""
    out = []
    for name, nodes in names.items():
        out.append(f"```{{index}} single: sinter_jit.{name}\n```\n\n### {name.replace('_', chr(92) + '_')}\n")
        node = nodes[0]
        if isinstance(node, ast.ClassDef):
            bases = f"({', '.join(ast.unparse(b) for b in node.bases)})" if node.bases else ""
            out.append(f"```python\nclass {name}{bases}\n```\n")
            doc = ast.get_docstring(node) or docs.get(name, "")
            out.append(python_prose(sentence(doc)) + "\n")
            lines = []
            for member in node.body:
                if isinstance(member, ast.AnnAssign) and not member.target.id.startswith("_"):
                    lines.append((typed(member), ""))
                if (
                    not isinstance(member, ast.FunctionDef)
                    or member.name.startswith("_")
                    and member.name not in SPECIAL
                    or member.lineno in leave_out
                ):
                    continue
                is_property = any(ast.unparse(d) == "property" for d in member.decorator_list)
                if is_property and member.returns:
                    text = f"{member.name}: {typed(member.returns)}"
                else:
                    text = signature(member, name if member.name == "__init__" else None)
                doc = ast.get_docstring(member) or (
                    "" if member.name == "__init__" else docs.get(f"{name}.{member.name}", "")
                )
                if (text, doc) not in lines:
                    lines.append((text, doc))
            if lines:
                out.append(
                    "```python\n"
                    + "\n".join(text + (f"\n    # {doc.splitlines()[0]}" if doc else "") for text, doc in lines)
                    + "\n```\n"
                )
        else:
            out.append("```python\n" + "\n".join(signature(n) for n in nodes) + "\n```\n")
            doc = ast.get_docstring(node) or docs.get(name, "")
            out.append(python_prose(sentence(doc)) + "\n")
    return "\n".join(out)


def public_names(path, of=None):
    """{name: its definitions} of a module's public functions and classes, in order."""
    names = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if (
            isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and not node.name.startswith("_")
            and (of is None or node.name in of)
        ):
            names.setdefault(node.name, []).append(node)
    return names


def pages():
    docs = native_docs()
    names = public_names(PACKAGE / "__init__.pyi")
    operations = {}
    core = {}
    text = (PACKAGE / "__init__.pyi").read_text(encoding="utf-8")
    start = text.index("# operations: functions")
    end = text.index("# end", start)
    first, last = text[:start].count("\n"), text[:end].count("\n")
    for name, nodes in names.items():
        (operations if first < nodes[0].lineno <= last else core)[name] = nodes
    start = text[: text.index("# operations: methods")].count("\n")
    methods = range(start, text[: text.index("# end", text.index("# operations: methods"))].count("\n") + 2)
    classes = {
        n: v
        for n, v in core.items()
        if isinstance(v[0], ast.ClassDef)
        and n not in ("Operand", "Tensor", "Expression", "dtype", "device")
        and not n.endswith("Error")
        and n != "Error"
    }
    tensors = {n: core[n] for n in ("Operand", "Tensor", "Expression", "dtype", "device")}
    functions = {n: v for n, v in core.items() if isinstance(v[0], ast.FunctionDef)}
    head = "See also [From Python](../docs/python.md).\n"
    arguments = (
        "Arguments named `_Value` are tensors, expressions, NumPy's arrays or numbers; `_Axes` are an axis, several or `None`; "
        "`_DType` and `_Device` include their names as strings.\n"
    )
    return {
        "tensors.md": f"# Tensors and expressions in Python\n\n{head}\n{arguments}\n"
        + "The [operations](operations.md) are methods too.\n\n"
        + documented(tensors, docs, methods),
        "functions.md": f"# Functions of Python\n\n{head}\n{arguments}\n## Tensors, evaluation, files, devices\n\n"
        + documented(functions, docs)
        + "\n## Streams, meshes, generators, several results\n\n"
        + documented(classes, docs),
        "operations.md": "# Operations in Python\n\nThe same names are methods of tensors and expressions. Formulas and derivatives are in the "
        f"[tables of operations](../docs/ops.md).\n\n{arguments}\n" + documented(operations, docs),
        "nn.md": "# Networks in Python: nn\n\n" + documented(public_names(PACKAGE / "nn/modules.py") | public_names(PACKAGE / "nn/__init__.py"), {}),
        "optim.md": "# Optimizers in Python: optim\n\nSee also [Training](../docs/gradients.md#training).\n\n"
        + documented(public_names(PACKAGE / "optim.pyi"), docs),
        "data.md": "# Batches in Python: data\n\n" + documented(public_names(PACKAGE / "data.py"), {}),
        "errors.md": f"# Exceptions of Python\n\n{head}\n"
        + documented({n: v for n, v in core.items() if n.endswith("Error")}, docs),
    }
