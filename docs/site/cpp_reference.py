"""The pages of the C++ reference, as Markdown, from the public headers.

A public header that is on no page and not listed as internal is an error, so the reference stays complete.

It does not use Doxygen: most functions are objects, `inline constexpr detail::Max max{}`, whose calls are declared in
another class, or lines of a table; and Doxygen 1.9.4, Debian 12's, takes the bodies of `explicit(condition)`
constructors for members and drops `sinter` from `namespace sinter::inline v1`.
"""

import pathlib
import re

import headers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDES = [ROOT / layer / "include/sinter" for layer in ("runtime", "jit", "dsl")]

# (file, title, what it is about, headers). After a header stand in brackets the classes of `detail` to show, or after a
# colon the only names to show, or those not to show.
PAGES = [
    (
        "tensors",
        "Tensors",
        "Creating tensors, their properties, views, elements and dtypes. See also [Tensors](../docs/tensors.md).",
        [
            "dsl/tensor.hpp",
            "dsl/factory.hpp",
            "dsl/literal.hpp",
            "dsl/random.hpp",
            "dsl/view.hpp[Views]",
            "dsl/indexing.hpp",
            "dsl/indexing_methods.hpp[IndexingMethods]",
            "dsl/in_place.hpp[InPlace]",
            "dsl/scatter.hpp[Scatters]",
            "dsl/mask.hpp",
            "dsl/accessor.hpp",
            "dsl/extents.hpp",
            "dsl/print.hpp",
            "runtime/dtype.hpp",
            "runtime/half.hpp",
            "runtime/shape.hpp",
        ],
    ),
    (
        "expressions",
        "Expressions",
        "What operations return, and evaluating it. See also the [guide](../docs/guide.md).",
        [
            "dsl/expression.hpp",
            "dsl/evaluate.hpp:!explain explain_html cuda_source ptx to_dot",
            "dsl/function.hpp",
            "dsl/device_function.hpp",
            "dsl/let.hpp",
            "dsl/lazy.hpp",
            "dsl/constants.hpp",
            "prepare.hpp",
        ],
    ),
    (
        "operations",
        "Operations",
        "The elementwise operations are in a table, with their formulas: [Operations](../docs/ops.md). Each of its lines "
        "`name(a, b)` is a function `sn::name(a, b)` and a method `a.name(b)` of tensors and expressions. The operators are C++'s, `%` included. Here are the functions that are no lines of the table.",
        [
            "dsl/methods.hpp[OperationMethods,Methods]",
            "dsl/functions.hpp",
            "dsl/join.hpp",
            "dsl/matmul.hpp",
            "dsl/einsum.hpp",
        ],
    ),
    (
        "reductions",
        "Reductions, sorts and scans",
        "The reductions are in a table, with their derivatives: [Reductions](../docs/ops.md#reductions). Each of its lines "
        "is a function `sn::name(a, axes)` and a method `a.name(axes)`. Here are the functions that are no lines of the table.",
        [
            "dsl/reduce.hpp",
            "dsl/reduction_methods.hpp[ReductionMethods]",
            "dsl/normalize.hpp",
            "dsl/sort.hpp",
            "dsl/order_methods.hpp[OrderMethods]",
            "dsl/scan.hpp",
            "dsl/values_and_indices.hpp",
            "dsl/axis.hpp[Index,KeepDim,Axes]",
        ],
    ),
    ("gradients", "Gradients", "See also [Gradients and training](../docs/gradients.md).", ["dsl/grad.hpp"]),
    (
        "nn",
        "Networks: nn",
        "`#include <sinter/nn.hpp>`. See also [Networks](../docs/nn.md).",
        [
            "nn/module.hpp",
            "nn/members.hpp",
            "nn/sequential.hpp",
            "nn/linear.hpp",
            "nn/embedding.hpp",
            "nn/activation.hpp",
            "nn/norm.hpp",
            "nn/dropout.hpp",
            "nn/flatten.hpp",
            "nn/functional.hpp",
            "nn/data_parallel.hpp",
            "dsl/loss.hpp",
        ],
    ),
    (
        "optim",
        "Optimizers: optim",
        "`#include <sinter/optim.hpp>`. See also [Training](../docs/gradients.md#training).",
        [
            "optim/optimizer.hpp",
            "optim/sgd.hpp",
            "optim/adam.hpp",
            "optim/rmsprop.hpp",
            "optim/schedule.hpp",
            "optim/ema.hpp",
        ],
    ),
    (
        "data",
        "Data and files",
        "Datasets and loaders (`#include <sinter/data.hpp>`), files, and memory of other libraries.",
        [
            "data/dataset.hpp",
            "data/sample.hpp",
            "data/data_loader.hpp",
            "data/idx.hpp",
            "dsl/files.hpp",
            "dsl/npz.hpp",
            "dsl/safetensors.hpp",
            "dsl/state_dict.hpp",
            "dsl/from_blob.hpp",
            "dsl/dlpack.hpp",
        ],
    ),
    ("text", "Expressions as text", "See also [Expressions as text](../docs/text.md).", ["dsl/parse.hpp"]),
    ("export", "Export", "See also [Kernels for embedding](../docs/export.md).", ["dsl/export.hpp", "jit/export.hpp"]),
    (
        "inspection",
        "Inspection",
        "See also [Counters, histories and a timeline](../docs/observing.md). Nothing is evaluated.",
        [
            "dsl/evaluate.hpp:explain explain_html cuda_source ptx to_dot",
            "jit/stats.hpp",
            "jit/cache.hpp",
            "jit/cpu_jit.hpp",
            "runtime/memory.hpp",
        ],
    ),
    (
        "devices",
        "Devices and meshes",
        "See also [Tensors on a mesh](../docs/mesh.md) and [Communication](../docs/devices.md).",
        ["runtime/device.hpp", "runtime/stream.hpp", "dsl/sharded.hpp", "runtime/mesh.hpp", "runtime/precision.hpp"],
    ),
    ("errors", "Exceptions", "See also [Errors](../docs/errors.md).", ["runtime/error.hpp"]),
]
# Installed because the others include them; not for users.
INTERNAL = """
    data.hpp data/prefetch.hpp jit/device_function.hpp dsl/apply.hpp dsl/array.hpp dsl/bind.hpp dsl/device_rules.hpp dsl/dlpack_abi.hpp dsl/expression_view.hpp dsl/file_name.hpp
    dsl/history.hpp dsl/npy.hpp dsl/operand_info.hpp dsl/operators.hpp dsl/rows.hpp dsl/tree.hpp dsl/value.hpp jit/dtype_rule.hpp jit/evaluate.hpp jit/grad.hpp jit/graph.hpp
    jit/inspect.hpp jit/lazy.hpp jit/mesh.hpp jit/ops.hpp jit/prepare.hpp jit/program.hpp jit/recorded.hpp jit/scan.hpp jit/scatter.hpp jit/select.hpp
    jit/sort.hpp nn.hpp nn/parameter.hpp optim.hpp runtime/backend.hpp runtime/buffer.hpp runtime/communicator.hpp runtime/fault.hpp runtime/float_environment.hpp runtime/function_ref.hpp runtime/interference_size.hpp runtime/matrix_product.hpp
    runtime/home_thread.hpp runtime/order.hpp runtime/shared_count.hpp runtime/shards.hpp runtime/stream_impl.hpp runtime/tensor_impl.hpp runtime/transfer.hpp sinter.hpp""".split()
HIDDEN = {"detail", "adl", "jit", "runtime"}


def found_headers():
    return {str(path.relative_to(folder)): path for folder in INCLUDES for path in sorted(folder.rglob("*.hpp"))}


def prose(doc):
    """A comment as Markdown: what is indented is code, and nothing but backticks and links is markup."""
    blocks, code = [], False
    for line in doc.splitlines():
        is_code = line.startswith("  ") and (code or not blocks or not blocks[-1].startswith("- "))
        if is_code and not code:
            blocks.append("```cpp")
        if not is_code and code:
            blocks.append("```")
        code = is_code
        blocks.append(
            line[2:]
            if is_code
            else "".join(
                part if i % 2 else re.sub(r"([*_<>\\\[\]$~#|^{}@])", r"\\\1", part)
                for i, part in enumerate(re.split(r"(`[^`]*`)", line))
            )
        )
    text = "\n".join(blocks + ["```"] * code)
    return re.sub(r"(?m)^(\d+)\. ", r"\1\\. ", text)


def is_shown(entity):
    text = entity.text
    return not (
        not entity.is_public
        or "Sinter's own" in entity.doc
        or re.fullmatch(r"(template\s*<.*>\s*)?(class|struct|enum class) \w+(\s*:\s*[\w:]+)?", text, re.DOTALL)
        and not entity.kind  # declared only
        or re.search(r"[\w>]::~?(?:operator|\w+)\S*\s*\(", re.sub(r"\([^()]*\)", "()", text).split("(")[0] + "(")
        and not text.startswith(("friend", "std::"))
        and re.search(rf"::{re.escape(entity.name)}\s*\(", text)
        and not entity.kind  # defined outside of its class
        or entity.name.startswith("~")
        or entity.name.startswith("SINTER_")
        or re.search(r"=\s*delete$", text)
        or re.search(r"explicit \w+\((runtime|jit)::\w+Ref \w+\)|runtime::TensorImpl\*|detail::FromOperands", text)
        or re.search(
            r"\bvoid \w+\(\w+&&\.\.\.\)$|^(template.*)?detail::ErrorExpression ", text, re.DOTALL
        )  # these only explain an error
        or re.search(
            rf"{re.escape(entity.name)}\((const )?{re.escape(entity.name)}(<[^()]*>)?&&?\)|operator=\((const )?\w+&&?( \w+)?\)",
            text,
        )
        and not entity.doc
        or re.search(r"\)\s*->\s*\w+<", text)
        and entity.name[0].isupper()  # deduction guides
        or entity.name in ("impl", "ref", "leaf", "node")
        and not entity.doc
    )


class Classes:
    """The classes of all headers, for function objects: `inline constexpr detail::Max max{}` is called as max(x)."""

    def __init__(self, parsed):
        self.by_name, self.aliases = {}, {}
        for _, entities in parsed.values():
            for entity in entities:
                if entity.kind in ("class", "struct"):
                    self.by_name.setdefault(entity.name, entity)
                elif alias := re.match(r"using (\w+) = (\w+)<", entity.text):
                    self.aliases[alias.group(1)] = alias.group(2)

    def calls(self, entity):
        found = re.search(
            r"constexpr detail::(\w+)(?:<.*>)? \w+$", re.sub(r"(\{|=).*$", "", entity.text, flags=re.DOTALL).strip()
        )
        name = found and self.aliases.get(found.group(1), found.group(1))
        if name not in self.by_name:
            return []
        operators = [m for m in self.by_name[name].members if m.name == "operator()" and m.is_public]
        return [re.sub(r"\)\s*const$", ")", m.text.replace("operator()", entity.name)) + ";" for m in operators]


def code(text):
    return f"```cpp\n{text}\n```\n"


def described(entity, classes):
    """The declaration and what is said about it."""
    calls = classes.calls(entity) if not entity.kind else []
    text = "\n".join(calls) if calls else entity.text + ";"
    return code(text) + (f"\n{prose(entity.doc)}\n" if entity.doc else "")


def members_of(entity, classes):
    """The public members, those without a comment beside those before them."""
    shown, texts, doc = [m for m in entity.members if is_shown(m)], [], ""
    out = []

    def flush():
        if texts:
            out.append(code("\n".join(texts)) + (f"\n{prose(doc)}\n" if doc else ""))
        texts.clear()

    previous = None
    for member in shown:
        joins = previous is not None and not member.doc and member.name == previous.name  # an overload
        if not joins and (member.doc or doc):
            flush()
            doc = ""
        doc = member.doc or doc
        texts.append(member.text + ";")
        previous = member
        if member.kind in ("class", "struct"):
            flush()
            doc = ""
            out += members_of(member, classes)
    flush()
    return out


def sections(path, details, choice, summary, entities, classes):
    """A section for each name of a header."""
    out, names, others = [], {}, []
    for entity in entities:
        if other := re.match(r"using sinter::(\w+)$", entity.text):
            others.append(f"`{other.group(1)}`")
            continue
        scopes = set(entity.namespace.split("::")) & HIDDEN
        if (scopes - {"detail"} or "detail" in scopes and entity.name not in details) or not is_shown(entity):
            continue
        if choice and (entity.name in choice.strip("!").split()) == choice.startswith("!"):
            continue
        names.setdefault((entity.namespace, entity.name), []).append(entity)
    for (namespace, name), group in names.items():
        prefix = namespace.removeprefix("sinter").removeprefix("::")
        prefix = "" if prefix == "detail" else prefix
        full = f"{prefix}::{name}" if prefix else name
        out.append(
            f"```{{index}} single: {full}\n```\n\n### {full.replace('_', chr(92) + '_').replace('<', chr(92) + '<').replace('*', chr(92) + '*')}\n"
        )
        for entity in group:
            out.append(described(entity, classes))
            out += members_of(entity, classes)
    if others:
        out.append(f"Also here, the functions of `sinter` of the same names: {', '.join(others)}.\n")
    if path == "nn/activation.hpp":  # which has a macro for these
        rows = re.findall(
            r"^SINTER_ACTIVATION\((\w+), (\w+)", found_headers()[path].read_text(encoding="utf-8"), re.MULTILINE
        )
        out.insert(
            0,
            "Modules without arguments: "
            + ", ".join(f"`nn::{name}()` (`{function}`)" for name, function in rows)
            + ".\n",
        )
    if not out:
        return ""
    title = summary.split("\n\n")[0].replace("\n", " ")
    return f"## sinter/{path}\n\n{prose(title)}\n\n" + "\n".join(out)


def pages():
    """{file name: text}"""
    found = found_headers()
    parsed = {name: headers.read(path) for name, path in found.items()}
    classes, used, pages = Classes(parsed), set(INTERNAL), {}
    for file, title, about, names in PAGES:
        out = [f"# {title}\n\n{about}\n"]
        for name in names:
            name, _, choice = name.partition(":")
            path, _, details = name.rstrip("]").partition("[")
            used.add(path)
            text = sections(path, set(details.split(",")), choice, *parsed[path], classes)
            if not text:
                raise SystemExit(f"docs/site/cpp_reference.py: {path} declares nothing that the page {file} could show")
            out.append(text)
        pages[f"{file}.md"] = "\n".join(out)
    if missing := set(found) - used:
        raise SystemExit(f"docs/site/cpp_reference.py: add to PAGES or INTERNAL: {' '.join(sorted(missing))}")
    if gone := used - set(found):
        raise SystemExit(f"docs/site/cpp_reference.py names headers that do not exist: {' '.join(sorted(gone))}")
    return pages
