# SPDX-License-Identifier: Apache-2.0
"""How quantities read in sentences, tables and on axes."""

from __future__ import annotations

from kvroof_reports.rows import MODELLED, Interval

# What a run asks of its samples: `target_half_width` of suites/harness/sampler.h.
TARGET = "the sampler's target, 5 % of the figure each way"

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1.0, ""))


def digits(value: float) -> str:
    """Return a number with three digits, without an exponent: 1,234 / 123 / 12.3 / 1.23 / 0.123."""
    size = abs(value)
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 0.9995 or size == 0 else f"{value:#.3g}"


def times(value: float) -> str:
    """Return a factor with three digits, as in 1.95x, 20.6x and 1,234x; small ones with two."""
    return f"{value:.2g}x" if value < 0.1 else f"{digits(value)}x"


def tokens(count: float) -> str:
    """Return a context in full, as sentences have it: 102,400."""
    return f"{count:,.0f}"


def short_tokens(count: float) -> str:
    """Return a context as axes have it, in units of 1,024: 100K."""
    whole, rest = divmod(int(count), 1024)
    return f"{whole}K" if whole and not rest else f"{count:g}"


def _scaled(value: float, scale: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    return next((step for step in scale if abs(value) >= step[0]), scale[-1])


def seconds(value: float) -> str:
    """Return a time in the unit that suits it: 12.3 ms."""
    unit, name = _scaled(value, _TIMES)
    return f"{digits(value / unit)} {name}"


def milliseconds(value: float) -> str:
    """Return a time in milliseconds to the tenth, without the unit: for columns of them."""
    return f"{1e3 * value:,.1f}"


def band(low_high: Interval) -> str:
    """Return a range of times in milliseconds, without the unit."""
    return f"{milliseconds(low_high[0])} to {milliseconds(low_high[1])}"


def rate(value: float, unit: str) -> str:
    """Return a rate with a decimal prefix: 51.3 GB/s, 612 TFLOP/s."""
    factor, prefix = _scaled(value, _RATES)
    return f"{digits(value / factor)} {prefix}{unit}"


def percent(share: float) -> str:
    """Return a share of one as a percentage."""
    return f"{100 * share:.1f} %"


_READ_AS = {
    "s": seconds,
    "x": times,
    "share": percent,
    "tiny": lambda value: f"{value:.1e}",
    "tokens": lambda value: f"{tokens(value)} tokens",
    "bytes": lambda value: rate(value, "B"),
    "bytes/s": lambda value: rate(value, "B/s"),
    "FLOP": lambda value: rate(value, "FLOP"),
    "FLOP/s": lambda value: rate(value, "FLOP/s"),
}


def quantity(value: float, unit: str) -> str:
    """Return a value in the way that its unit is usually read."""
    return _READ_AS[unit](value) if unit in _READ_AS else f"{digits(value)} {unit}"


def interval(ci95: Interval | None, unit: str) -> str:
    """Return an interval, or say that there is none."""
    if ci95 is None:
        return "no interval"
    low, high = (quantity(end, unit) for end in ci95)
    same_unit = " " in low and low.split(" ")[1:] == high.split(" ")[1:]
    return f"{low.split(' ')[0] if same_unit else low} to {high}"


def figure(value: float, ci95: Interval | None, unit: str) -> str:
    """Return a value with its interval behind it, where there is one: 2.00x (1.90x to 2.10x)."""
    text = quantity(value, unit)
    return f"{text} ({interval(ci95, unit)})" if ci95 else text


def standing(basis: str) -> str:
    """Return the word that has to stand beside every figure of this basis."""
    return f"modelled (basis: {basis})" if basis in MODELLED else basis


def aside(basis: str) -> str:
    """Return `standing` as it reads between brackets."""
    return f"modelled, basis: {basis}" if basis in MODELLED else basis


def join(words: list[str]) -> str:
    """Return words as a sentence lists them: a, b and c."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
