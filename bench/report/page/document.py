"""The page: charts in sections, the machine and settings, one style sheet, no scripts and nothing external."""

import pathlib

from . import chart as charting
from . import cold, glance, overhead, products, roofline, rows, speedup, sweep
from .scale import significant
from .svg import tag, text

STYLE = pathlib.Path(__file__).parent / "style.css"
SECTIONS = [
    ("At a glance", "glance", glance.charts),
    ("Fused over eager and over the peers", "speedup", speedup.charts),
    ("Roofline", "roofline", roofline.charts),
    ("Size sweeps", "sweep", sweep.charts),
    ("Along rows and columns", "rows", rows.charts),
    ("Products and networks", "products", products.charts),
    ("Host overhead", "overhead", lambda r: overhead.hit_charts(r) + overhead.growth_charts(r)),
    ("Cold start", "cold", lambda r: cold.first_charts(r) + cold.start_charts(r) + overhead.compile_charts(r)),
]
BEHIND = {"rows": ["rows"], "products": ["products"], "overhead": ["hits", "growth"], "cold": ["first", "start", "compile"]}  # the others show the expressions


def rows_behind(result, anchor):
    if anchor not in BEHIND:
        return result["rows"]
    return [row for section in BEHIND[anchor] for row in result["sections"].get(section, [])]


def source(result, rows):
    """Where, when and how often it was measured, for a chart that is viewed alone."""
    times = {row["repetitions"] for row in rows}
    how_often = f"{max(times, default=0)} repetitions"
    if len(times) > 1:
        how_often = f"{min(times)} to {how_often}"
    return (
        f"{result['machine']['processor']}, {result['versions'].get('gpus') or 'no GPU'}, {result['date'][:10]};"
        f" medians of {how_often}."
    )


def figure(chart, measured_on):
    single = " wide" if any(f'viewBox="0 0 {roofline.WIDE} ' in panel for panel in chart.panels) else ""
    table = tag(
        "details",
        tag("summary", "The numbers as a table"),
        tag(
            "div",
            charting.table(chart.header, chart.rows),
            class_="scroll",
            tabindex="0",
            role="region",
            aria_label=f"Table: {chart.title}",
        ),
    )
    inner = tag(
        "figure",
        tag("div", *chart.panels, class_=f"panels{single}"),
        tag("figcaption", text(chart.caption), tag("small", text(measured_on))),
        table,
    )
    if chart.folded:
        return tag("details", tag("summary", tag("h3", text(chart.title))), inner, class_="folded")
    return tag("h3", text(chart.title)) + inner


def machine_line(result):
    machine = result["machine"]
    caches = ", ".join(
        f"{name} {size // 1024} KiB" if size < 1 << 20 else f"{name} {size / (1 << 20):g} MiB"
        for name, size in machine["caches"].items()
    )
    gpus = result["versions"].get("gpus") or "no GPU"
    return (
        f"{machine['processor']}{' (virtual machine)' if machine['virtual'] else ''}, {machine['cores']} cores,"
        f" {caches}; {gpus}"
    )


def facts(result):
    versions, settings = result["versions"], result["settings"]
    clocks = [entry["ghz"] for entry in result["clock"]]
    listed = [
        ("machine", machine_line(result)),
        ("system", f"{result['machine']['system']}, kernel {result['machine']['kernel']}"),
        ("date", result["date"]),
        ("Sinter", f"{versions.get('sinter', '')}, commit {versions['commit']}"),
        (
            "compiler",
            (
                f"{versions.get('compiler', '')}; Sinter as users get it, for any processor; the C++ peers with"
                f" {versions.get('peer_flags', '')}"
            ),
        ),
        (
            "libraries",
            ", ".join(f"{k} {v}" for k, v in {**versions["libraries"], **versions["peers"]}.items()) or "none",
        ),
        (
            "repetitions",
            f"up to {settings['repetitions']} of {settings['min_time_s']} s each, {settings['order']}"
            + ("; a short run, whose times mean little" if settings["short"] else ""),
        ),
    ]
    if clocks:
        listed.append(
            (
                "clock",
                (
                    f"{significant(min(clocks), 3)} to {significant(max(clocks), 3)} GHz, by dependent additions during"
                    " the run"
                ),
            )
        )
    if tests := result.get("gpu_tests"):
        bad = [t["program"] for t in tests if t["status"] != "passed"]
        listed.append(
            (
                "GPU tests",
                f"{len(tests) - len(bad)} of {len(tests)} files passed"
                + (f"; not: {', '.join(bad)}" if bad else ""),
            )
        )
    for gpu in result["machine"]["gpus"]:
        listed.append(
            ("GPU", f"{gpu['name']}, driver {gpu['driver']}, {gpu['memory_mib']} MiB, at most {gpu['max_sm_mhz']} MHz")
        )
    return tag("dl", *(tag("div", tag("dt", text(k)), tag("dd", text(v))) for k, v in listed))


def body(result):
    tiles = "".join(
        tag("li", tag("strong", text(figure_)), tag("span", text(what))) for figure_, what in glance.tiles(result)
    )
    parts = [
        tag(
            "header",
            tag("h1", "Sinter: fusion against eager, measured"),
            tag("p", text(f"{machine_line(result)}. {result['date'][:10]}."), class_="lead"),
            tag("ul", tiles, class_="tiles") if tiles else "",
        )
    ]
    shown = [(title, anchor, make(result)) for title, anchor, make in SECTIONS]
    links = "".join(tag("li", tag("a", text(title), href=f"#{anchor}")) for title, anchor, charts in shown if charts)
    parts.append(
        tag("nav", tag("ul", links + tag("li", tag("a", "What was measured", href="#about"))), aria_label="Sections")
    )
    for title, anchor, charts in shown:
        if charts:
            measured_on = source(result, rows_behind(result, anchor))
            parts.append(
                tag("section", tag("h2", text(title)), *(figure(c, measured_on) for c in charts), id=anchor)
            )
    left_out = [*result["errors"], *result["notes"]] or ["nothing"]
    notes = tag("ul", *(tag("li", text(note)) for note in left_out))
    parts.append(
        tag("section", tag("h2", "What was measured"), facts(result), tag("h3", "Left out, and why"), notes, id="about")
    )
    return "".join(parts)


def document(result):
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", "Sinter, measured"),
        tag("style", STYLE.read_text(encoding="utf-8")),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, tag("body", tag("main", body(result))), lang="en") + "\n"
