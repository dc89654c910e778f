"""Reads the public declarations of a header and the /// comments before them.

Sinter's headers are written for this: one declaration after another, comments that are prose, no macros but those of
the tables. Declarations in namespaces `detail` and `adl`, and private and protected members, are parsed, but only shown
where a page names their class.
"""

import dataclasses
import re

HIDDEN_NAMESPACES = {"detail", "adl"}
KIND = re.compile(r"\s*(?:template\s*)*(?:requires\s*[\w:!&| \n]*?)?(?:inline constexpr )?(class|struct|union|enum)\b")


@dataclasses.dataclass
class Entity:
    """One declaration. `text` ends where its body begins."""

    name: str
    text: str
    doc: str
    kind: str = ""  # class, struct, enum ..., or nothing
    is_public: bool = True
    namespace: str = ""
    members: list = dataclasses.field(default_factory=list)


def end_of_literal(text, at):
    """Past the string, character or comment that begins at `at`, or `at` if none does."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        return text.index("*/", at) + 2
    if text[at] == '"' or text[at] == "'" and not (at and text[at - 1].isalnum()):  # not 1'000
        end = at + 1
        while text[end] != text[at]:
            end += 2 if text[end] == "\\" else 1
        return end + 1
    return at


def kind_of(text):
    """class, struct, union, enum or nothing, for the text before a brace."""
    for pair in (r"\([^()]*\)", r"<[^<>]*>"):
        while (shorter := re.sub(pair, " ", text)) != text:
            text = shorter
    found = KIND.match(text)
    return found.group(1) if found else ""


def past_braces(text, at):
    """Past the brace that closes the one at `at`."""
    depth = 0
    while True:
        if (literal := end_of_literal(text, at)) > at:
            at = literal
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
        if depth == 0:
            return at


def end_of_declaration(text, at):
    """(where the declaration's text ends, where its body begins or None, past its end)"""
    depth, start, initializes = 0, at, False
    while True:
        if (literal := end_of_literal(text, at)) > at:
            at = literal
            continue
        c = text[at]
        depth += (c in "([") - (c in ")]")
        if depth == 0 and c == ";":
            return (initializes or at), None, at + 1
        if (
            depth == 0
            and c == ":"
            and text[at + 1] != ":"
            and text[at - 1] != ":"
            and not initializes
            and re.search(r"(\)|\)\s*noexcept(\(.*\))?)\s*(requires .*)?$", text[start:at], re.DOTALL)
        ):
            initializes = at  # a constructor's initializers
        if depth == 0 and c == "{":
            before = text[start:at]
            if kind_of(before):
                return at, at, None
            after = past_braces(text, at)
            following = text[after : after + 80].lstrip()
            # The body of a requires-expression, which follows an operator or the `requires` of a clause.
            if re.search(r"\bconcept\b", before) or re.search(
                r"(=|&&|\|\||requires)\s+requires\s*(\([^{}]*\))?\s*$", before
            ):
                at = after
                continue
            if initializes and following[:1] in ",{":  # an initializer in braces
                at = after
                continue
            if following[:1] == ";":  # a variable
                return at, None, text.index(";", after) + 1
            if following[:1] == ",":
                at = after
                continue
            return (initializes or at), None, after  # a function
        at += 1


def name_of(text):
    """The declared name."""
    text = re.sub(r"\[\[.*?\]\]", "", text)
    if "operator" in text:
        found = re.search(r"operator\s*(\(\)|\[\]|[^\s(]+|\w[\w:<>, ]*?)\s*\(", text + "(")
        return f"operator{found.group(1)}"
    while (short := re.sub(r"<[^<>]*>", "", text)) != text:
        text = short
    text = re.sub(r"\brequires\s*\(.*?\)\)*", "", text) if text.startswith("template") else text
    if found := re.search(
        r"\b(?:class|struct|union|enum class|enum|concept|using|namespace)\s+(?:alignas\(.*?\)\s*)?([\w:]+)", text
    ):
        return found.group(1)
    if "=" in text.split("(")[0]:  # a variable that a call initializes
        text = text.split("=")[0]
    if found := re.search(
        r"(~?[A-Za-z_]\w*)\s*\(",
        re.sub(r"\b(noexcept|explicit|decltype|requires)\s*\([^()]*(\([^()]*\))?[^()]*\)", "", text),
    ):
        return found.group(1)
    found = re.search(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?:=.*)?$", text.strip(), re.DOTALL)
    return found.group(1) if found else text.strip()


def tidied(text):
    """The declaration without initializers of objects, and indented from the margin."""
    lines = text.strip().splitlines()
    first = re.sub(r"^\s+", "", lines[0])
    rest = [line for line in lines[1:] if not line.lstrip().startswith("//")]
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    text = "\n".join(
        [first]
        + [line[margin:].rstrip() if not line.strip().startswith("requires") else "  " + line.strip() for line in rest]
    )
    return re.sub(r"\s*=$", " = {}", re.sub(r"\s*//.*", "", text).strip())


def parse(text, at=0, namespace="", is_public=True, in_class=False):
    """(entities of the scope that begins at `at`, past its closing brace)"""
    found, doc = [], []
    while at < len(text):
        if text[at].isspace():
            if re.match(r"\n[ \t]*\n", text[at : at + 200]):
                doc = []
            at += 1
        elif text.startswith("///", at):
            end = end_of_literal(text, at)
            doc.append(text[at + 3 : end].removeprefix(" "))
            at = end
        elif text.startswith("//", at):
            at, doc = end_of_literal(text, at), []
        elif text[at] == "#":
            while True:
                end = text.index("\n", at)
                continued, at = text[end - 1] == "\\", end + 1
                if not continued:
                    break
            doc = []
        elif text[at] == "}":
            return found, at + 1
        elif text[at] == ";":
            at += 1
        elif label := re.match(r"(public|private|protected)\s*:(?!:)", text[at:]):
            is_public = label.group(1) == "public"
            at += label.end()
        elif scope := re.match(r"namespace ([\w:]+(?: v1)?(?:::\w+)*)?\s*\{", text[at:]):
            name = (scope.group(1) or "detail").replace("inline v1", "").replace("::::", "::").strip(":")
            inner = "::".join(part for part in (namespace, name) if part)
            entities, end = parse(text, at + scope.end(), inner)
            if doc and not HIDDEN_NAMESPACES & set(inner.split("::")):
                name = name.removeprefix("sinter::")
                found.append(Entity(name, f"namespace {name}", "\n".join(doc), namespace=namespace or "sinter"))
            found += entities
            at, doc = end, []
        elif macro := re.match(r"SINTER_\w+\([^\n]*\)\n|SINTER_\w+\n", text[at:]):
            at += macro.end()
            doc = []
        else:
            end, body, past = end_of_declaration(text, at)
            declared = text[at:end]
            entity = Entity(
                name_of(declared), tidied(declared), "\n".join(doc), namespace=namespace, is_public=is_public
            )
            if body is not None:
                entity.kind = kind_of(declared)
                bases = re.split(r"(?<!:):(?!:)", declared)[0] if entity.kind != "enum" else declared
                entity.name = name_of(bases)
                if entity.kind == "enum":
                    past = past_braces(text, body)
                    entity.text = declared.strip() + " " + text[body:past]
                else:
                    entity.members, past = parse(text, body + 1, namespace, entity.kind == "struct", True)
                    # Bases in `detail` are not for users.
                    entity.text = re.sub(r"\s*:\s*(public )?detail::.*$", "", entity.text, flags=re.DOTALL)
                    if "detail" in namespace.split("::"):
                        entity.text = re.sub(r"(?<!:):(?!:)\s*public .*$", "", entity.text, flags=re.DOTALL).strip()
                declared_with_it = text[past : text.index(";", past)].strip()
                if declared_with_it and entity.kind != "enum":  # inline constexpr struct Mean {} mean;
                    entity = Entity(
                        declared_with_it,
                        f"inline constexpr {entity.name} {declared_with_it}",
                        entity.doc,
                        namespace=namespace,
                    )
                past = text.index(";", past) + 1
            if not re.match(r"static_assert|friend (class|struct)\b|friend [\w:<>, ]+;?$", declared):
                found.append(entity)
            at, doc = past, []
            # A comment behind the declaration, on its line.
            if behind := re.match(r"[ \t]*// ?(.*)", text[at:]):
                if not entity.doc and in_class:
                    entity.doc = behind.group(1)
                at += behind.end()
    return found, at


def read(path):
    """(the comment at the head of a header, its entities)"""
    text = path.read_text(encoding="utf-8")
    head = re.match(r"((?:// ?.*\n|//\n)+)", text)
    summary = re.sub(r"^// ?", "", head.group(1), flags=re.MULTILINE).strip() if head else ""
    return summary, parse(text[head.end() if head else 0 :])[0]
