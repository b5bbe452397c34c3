# SPDX-License-Identifier: Apache-2.0
"""Every figure draws what its rows say."""

from __future__ import annotations

import importlib
import pkgutil
import re
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from matplotlib.axes import Axes

from kvroof_reports import figures, style
from kvroof_reports.figures import (
    crossover_by_batch_and_link,
    host_measured,
    speedup_by_context,
    ttft_by_context,
    two_roofs,
    wind_tunnel,
)
from kvroof_reports.load import load_record
from kvroof_reports.published import load_published
from kvroof_reports.rows import Record
from kvroof_reports.series import Series, series_of
from kvroof_reports.testing import (
    HOST,
    LLAMA_1B,
    PARAMS,
    TUNNEL,
    TUNNEL_512,
    alone,
    crossover,
    document,
    pair,
    record,
    save,
    skipped,
)
from kvroof_reports.tunnel_comparison import Tunnel, tunnel_of


def series(cases: list[dict[str, Any]], **others: Any) -> Series:
    """Return the only series of a record with these cases."""
    with tempfile.TemporaryDirectory() as folder:
        (only,) = series_of(record(cases, Path(folder), **others))
    return only


def drawn(axes: Axes) -> dict[str, list[float]]:
    """Return the heights of each labelled line."""
    lines = {str(line.get_label()): list(line.get_ydata()) for line in axes.get_lines()}
    return {label: heights for label, heights in lines.items() if not label.startswith("_")}


def modules() -> dict[str, ModuleType]:
    """Return every module of the package that draws, by name."""
    names = [info.name for info in pkgutil.iter_modules(figures.__path__)]
    found = {n: importlib.import_module(f"{figures.__name__}.{n}") for n in names}
    return {name: module for name, module in found.items() if hasattr(module, "draw")}


def tells_y(axes: Axes) -> bool:
    """Whether y has a label or marks in words, on these axes or on those that share it."""
    sharing = axes.get_shared_y_axes().get_siblings(axes)
    marks = [mark.get_text() for each in sharing for mark in each.get_yticklabels()]
    return any(each.get_ylabel() for each in sharing) or any("batch" in mark for mark in marks)


class FiguresTest(unittest.TestCase):
    def setUp(self) -> None:
        style.use()
        self.gpu = series([*pair(1024, 0.04, 0.02), *pair(10240, 0.26, 0.04)])
        cases = pair(256, 0.1, 0.05, spread=0.1, basis="measured")
        self.host = series(cases, device=HOST, model=LLAMA_1B)

    def test_ttft_has_a_line_for_each_plan(self) -> None:
        (axes,) = ttft_by_context.draw(self.gpu).axes
        lines = drawn(axes)
        self.assertEqual(lines["recompute, modelled (basis: published)"], [0.04, 0.26])
        self.assertEqual(lines["copy, modelled (basis: published)"], [0.02, 0.04])
        self.assertIn("modelled", axes.get_title(loc="left"))
        self.assertEqual([t.get_text() for t in axes.get_xticklabels()], ["1K", "10K"])

    def test_ttft_shows_only_published_points_that_were_tried(self) -> None:
        (published,) = load_published()
        (axes,) = ttft_by_context.draw(self.gpu, published).axes
        labels = [str(text.get_text()) for text in axes.get_legend().get_texts()]
        self.assertEqual(sum("published: vLLM" in label for label in labels), 2)
        containers = [c for c in axes.containers if "published: vLLM" in c.get_label()]
        self.assertEqual(len(containers), 2)
        for container in containers:
            self.assertEqual(list(container.lines[0].get_xdata()), [1024, 10240])

    def test_a_case_without_a_result_is_no_point(self) -> None:
        gap = series([*pair(1024, 2.0, 1.0), skipped(2048, "copy", "No room.")])
        (axes,) = ttft_by_context.draw(gap).axes
        self.assertEqual(drawn(axes)["copy, modelled (basis: published)"], [1.0])

    def test_measured_points_have_their_intervals(self) -> None:
        (axes,) = ttft_by_context.draw(self.host).axes
        low_high = [c.lines[2][0].get_segments()[0][:, 1] for c in axes.containers]
        self.assertAlmostEqual(low_high[0][0], 0.09)
        self.assertAlmostEqual(low_high[0][1], 0.11)

    def test_speedup_has_the_published_band(self) -> None:
        (published,) = load_published()
        (axes,) = speedup_by_context.draw(self.gpu, published).axes
        self.assertEqual(drawn(axes)["kvroof, modelled (basis: published)"], [2.0, 6.5])
        labels = [str(text.get_text()) for text in axes.get_legend().get_texts()]
        self.assertIn("published claim, 2x to 22x", labels)

    def test_cases_stand_under_both_roofs(self) -> None:
        left, right = two_roofs.draw([self.under_roofs()]).axes
        for axes, rate, roof in ((left, 14e9 * 1024 / 0.04, 9e14), (right, 2**27 / 0.02, 6e10)):
            (heights,) = drawn(axes).values()
            self.assertAlmostEqual(heights[0] / rate, 1)
            self.assertEqual(list(axes.get_lines()[-1].get_ydata()), [roof, roof])

    def test_a_roof_of_several_records_is_drawn_and_labelled_once(self) -> None:
        records = [self.under_roofs(), self.under_roofs(link=5e9, live=8), self.under_roofs()]
        figure = two_roofs.draw(records)
        for axes, labels in (
            (figure.axes[0], ["900 TFLOP/s"]),
            (figure.axes[1], ["5.00 GB/s", "60.0 GB/s"]),
        ):
            self.assertEqual([text.get_text() for text in axes.texts], labels)
            roofs = [line for line in axes.get_lines() if str(line.get_label()).startswith("_")]
            self.assertEqual(len(roofs), len(labels))
            self.assertEqual({line.get_color() for line in roofs}, {style.REFERENCE_COLOUR})

    def test_roofs_too_near_to_be_labelled_apart_share_a_label(self) -> None:
        axes = two_roofs.draw([self.under_roofs(), self.under_roofs(link=6.1e10)]).axes[1]
        self.assertEqual([text.get_text() for text in axes.texts], ["60.0 GB/s to\n61.0 GB/s"])

    def test_many_records_under_the_roofs_have_legend_entries_of_their_own(self) -> None:
        records = [self.under_roofs(live=i) for i in range(18)]
        figure = two_roofs.draw(records)
        (legend,) = figure.legends
        self.assertEqual(len({text.get_text() for text in legend.get_texts()}), 18)
        lines = [one for one in figure.axes[0].get_lines() if one.get_linestyle() == "None"]
        self.assertEqual(len({(one.get_color(), one.get_marker()) for one in lines}), 18)

    def under_roofs(self, link: float = 6e10, live: int = 0) -> Record:
        """Return a record whose cases carry their ceilings."""
        cases = pair(1024, 0.04, 0.02, params={**PARAMS, "live": live})
        cases[0]["metrics"]["compute_ceiling"] = {"unit": "FLOP/s", "median": 9e14}
        cases[1]["metrics"]["link_ceiling"] = {"unit": "bytes/s", "median": link}
        with tempfile.TemporaryDirectory() as folder:
            return record(cases, Path(folder))

    def test_a_crossover_that_is_no_context_is_drawn_as_none(self) -> None:
        found = [crossover(1, 1024, "below_smallest"), crossover(2, None, "none_in_range")]
        closed = {**crossover(1, 10240, "found"), "question": "crossover_closed_form"}
        figure = crossover_by_batch_and_link.draw(self.concluded([*found, closed]))
        axes = figure.axes[0]
        marks = {
            str(line.get_marker()): line.get_xdata()[0]
            for line in axes.get_lines()
            if len(line.get_xdata())
        }
        ticks = zip(axes.get_xticks(), [t.get_text() for t in axes.get_xticklabels()])
        lanes = {text: place for place, text in ticks if text in ("all", "none")}
        self.assertLess(lanes["all"], 1024)
        self.assertGreater(lanes["none"], 10240)
        self.assertEqual(marks["<"], lanes["all"])
        self.assertEqual(marks["x"], lanes["none"])
        self.assertEqual(marks["|"], 10240)
        said = [text.get_text() for text in figure.legends[0].get_texts()]
        for words in ("at every context that ran", "at none that ran", "inside the interval"):
            self.assertTrue(any(words in one for one in said), words)
        self.assertEqual(list(axes.patches), [])
        self.assertEqual([t.get_text() for t in axes.get_yticklabels()], ["batch 1, live 0, bf16"])

    def test_settings_that_differ_in_anything_have_rows_of_their_own(self) -> None:
        kinds = ({}, {"serving_cost": "vllm"}, {"layout": "layer_first"})
        both = [{"serving_cost": "none", "layout": "block_first", **kind} for kind in kinds]
        found = [crossover(1, 1024 * (i + 1), "found", **own) for i, own in enumerate(both)]
        closed = [{**one, "question": "crossover_closed_form"} for one in found]
        axes = crossover_by_batch_and_link.draw(self.concluded(found + closed)).axes[0]
        self.assertEqual(
            [text.get_text() for text in axes.get_yticklabels()],
            [
                "batch 1, live 0, bf16, serving cost none, layout block_first",
                "batch 1, live 0, bf16, serving cost vllm, layout block_first",
                "batch 1, live 0, bf16, serving cost none, layout layer_first",
            ],
        )
        for marker in "o|":
            lines = [x for x in axes.get_lines() if x.get_marker() == marker and len(x.get_xdata())]
            self.assertEqual(len({line.get_ydata()[0] for line in lines}), 3, marker)

    def test_a_context_that_did_not_run_is_shaded(self) -> None:
        found = [crossover(2, None, "none_in_range")]
        closed = {**found[0], "question": "crossover_closed_form"}
        cases = [skipped(102400, "copy", "No room.")]
        figure = crossover_by_batch_and_link.draw(self.concluded([*found, closed], cases))
        field, _ = figure.axes[0].patches  # the second one is the legend's
        self.assertGreater(field.get_x(), 10240)
        self.assertLess(field.get_x(), 102400)
        self.assertGreater(field.get_x() + field.get_width(), 102400)
        said = [text.get_text() for text in figure.legends[0].get_texts()]
        self.assertIn("no result at this context", said)

    def concluded(
        self, answers: list[dict[str, Any]], others: Sequence[dict[str, Any]] = ()
    ) -> Record:
        """Return a record with these answers."""
        whole = document([*pair(1024, 0.04, 0.02), *pair(10240, 0.26, 0.04), *others])
        whole["answers"] = answers
        with tempfile.TemporaryDirectory() as folder:
            return load_record(save(whole, Path(folder)))

    def test_host_stands_beside_the_modelled_device(self) -> None:
        left, right = host_measured.draw(self.host, self.gpu).axes
        self.assertEqual(len(drawn(left)), 4)
        self.assertEqual(drawn(right)["host CPU, measured"], [2.0])
        self.assertEqual(drawn(right)["h100-sxm, modelled (basis: published)"], [2.0, 6.5])

    def test_the_tunnel_stands_beside_what_it_imitates(self) -> None:
        left, right = wind_tunnel.draw(self.tunnel()).axes
        lines = drawn(left)
        self.assertEqual([v for k, v in lines.items() if "tunnel-512" in k], [[9.0, 9.5]])
        self.assertEqual([v for k, v in lines.items() if "llama-3.1-8b" in k], [[8.0, 9.6]])
        self.assertEqual(len(drawn(right)), 2)

    def tunnel(self) -> Tunnel:
        """Return a tunnel of two contexts beside a machine of three."""
        machine = series([*alone(1024, 8.0), *alone(10240, 9.6), *alone(20480, 11.0)])
        own = [*alone(128, 9.0, basis="emulated"), *alone(1280, 9.5, basis="emulated")]
        found = tunnel_of([series(own, device=TUNNEL, model=TUNNEL_512), machine])
        assert found
        return found

    def test_colours_are_those_of_the_style(self) -> None:
        for file in Path(__file__).parent.glob("*.py"):
            found = re.findall(r"""["'](#[0-9a-fA-F]{3,8})["']""", file.read_text(encoding="utf-8"))
            self.assertEqual(found, [], f"{file.name}: colours belong in style.py")

    def test_every_figure_has_titles_and_labelled_axes(self) -> None:
        samples = self.samples()
        self.assertEqual(set(modules()), set(samples), "each figure needs a sample in this test")
        for name, module in modules().items():
            figure = module.draw(*samples[name])
            self.assertTrue(figure.axes, name)
            for axes in figure.axes:
                self.assertTrue(axes.get_title(loc="left"), f"{name}: a panel without a title")
                self.assertTrue(axes.get_xlabel(), f"{name}: x without a label")
                self.assertTrue(tells_y(axes), f"{name}: y without a label")

    def samples(self) -> dict[str, tuple[Any, ...]]:
        """Return what each figure draws, by the figure's name."""
        concluded = self.concluded([crossover(1, 1024, "found")])
        return {
            "ttft_by_context": (self.gpu,),
            "speedup_by_context": (self.gpu,),
            "host_measured": (self.host, self.gpu),
            "two_roofs": ([self.under_roofs()],),
            "crossover_by_batch_and_link": (concluded,),
            "wind_tunnel": (self.tunnel(),),
        }


if __name__ == "__main__":
    unittest.main()
