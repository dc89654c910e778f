"""Scales from values to coordinates, their ticks, and the formatting of values."""

import math


class Log:
    """Logarithmic, from `low` to `high`, mapped to `start` to `end`."""

    def __init__(self, low, high, start, end):
        if high <= low:
            high = low * 10
        self.low, self.high, self.start, self.end = math.log10(low), math.log10(high), start, end

    def __call__(self, value):
        at = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + at * (self.end - self.start)

    def ticks(self, most=6):
        """Powers of ten in the range, at most `most`; with 2 and 5 in between if there are few."""
        first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
        step = max(1, math.ceil((last - first + 1) / most))
        powers = [10.0**e for e in range(first, last + 1, step)]
        if last - first >= 2:
            return powers
        between = [m * 10.0**e for e in range(first - 1, last + 1) for m in (1, 2, 5)]
        return [v for v in between if self.low - 1e-9 <= math.log10(v) <= self.high + 1e-9][: most + 2]


class Linear:
    """From 0 to `high`, mapped to `start` to `end`."""

    def __init__(self, high, start, end):
        self.high, self.start, self.end = high or 1, start, end

    def __call__(self, value):
        return self.start + value / self.high * (self.end - self.start)

    def ticks(self, most=5):
        raw = self.high / most
        power = 10 ** math.floor(math.log10(raw))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
        return [i * step for i in range(int(self.high / step + 1e-9) + 1)]


def apart(places, distance, low, high):
    """Moves labels' positions as little as needed to be `distance` apart, within low and high."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = [places[i] for i in order]
    for _ in range(200):
        changed = False
        for i in range(len(moved) - 1):
            overlap = distance - (moved[i + 1] - moved[i])
            if overlap > 0.01:
                moved[i], moved[i + 1], changed = moved[i] - overlap / 2, moved[i + 1] + overlap / 2, True
        if moved:
            moved = [min(max(place, low), high) for place in moved]
        if not changed:
            break
    result = [0.0] * len(places)
    for i, place in zip(order, moved):
        result[i] = place
    return result


def significant(value, digits=2):
    """1234 -> 1200, 0.01234 -> 0.012, 9.96 -> 10."""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    rounded = round(value, decimals)
    return f"{rounded:,.{max(0, decimals)}f}".replace(",", "\u2009")


def duration(ns, digits=3):
    for limit, unit, name in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms"), (float("inf"), 1e9, "s")):
        if float(f"{ns / unit:.{digits - 1}e}") * unit < limit:
            return f"{significant(ns / unit, digits)} {name}"
    return ""


def tick_duration(ns):
    """A tick's round value: 500 ns, 2 ms."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= unit * 0.999:
            return f"{ns / unit:g} {name}"
    return f"{ns:g} ns" if ns else "0"


def power(value):
    """A tick on a logarithmic axis: 0.1, 20, or a power of 10 if that is shorter."""
    if 0.001 <= value < 100_000:
        return f"{value:g}"
    exponent = str(round(math.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{exponent}"


def count(n):
    """1000 -> 1k, 30 000 000 -> 30M."""
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if n >= unit:
            return f"{n / unit:g}{name}"
    return f"{n:g}"


def times(ratio):
    return f"{significant(ratio, 2)}\u00d7"
