"""
How deep and how early: the whole frontier of ``gc_rolling`` over the sized sessions, and other strategies' places.

``python -m benchmarks.frontier [--json FILE] [--from FILE] [--page FILE] [--image FILE]`` replays the sessions at six
windows, collected down to several targets from several thresholds, and prints a table in Markdown; ``--from`` prints
and draws again what an earlier run wrote, without replaying. ``--scheduler`` is another, smaller run: see
``benchmarks.frontier_sweep``. ``docs/measurements.md`` says how to read both. The defaults were chosen on
these sessions.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import cattrs
from ctxgc.evaluation.jobs import BASELINES_BY_NAME

from benchmarks import frontier_sweep
from benchmarks.counting import corpus
from benchmarks.frontier_picture import Dot, Kind, Line, picture
from benchmarks.frontier_runs import DEFAULT_THRESHOLD, NO_LIMIT, WINDOWS, Point, Run, Setting, measured
from benchmarks.sized import row, shown
from benchmarks.stamps import basis, put

MADE_BY = "make frontier"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table in Markdown, progress on stderr."""
    options = _options(arguments)
    if not corpus().is_dir() and not options.earlier:
        print(f"no recorded sessions in {corpus()}: nothing to keep or to lose; set GC_CORPUS")
        return
    if options.scheduler:
        text, made_by = frontier_sweep.text(), frontier_sweep.MADE_BY
    else:
        run = _earlier(options.earlier) if options.earlier else measured()
        text, made_by = "\n".join(markdown(run)), MADE_BY
        _write(run, options)
    print(text)
    if options.page:
        put(options.page, made_by, text, basis())


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--from", type=Path, dest="earlier", help="take the figures from this JSON file")
    parser.add_argument("--page", type=Path, help="put the table into this page, with a stamp")
    parser.add_argument("--image", type=Path, help="draw the picture here")
    parser.add_argument("--scheduler", action="store_true", help="sweep the scheduler's thresholds instead")
    return parser.parse_args(arguments)


def _earlier(path: Path) -> Run:
    return cattrs.structure(json.loads(path.read_text("utf-8")), Run)


def _write(run: Run, options: argparse.Namespace) -> None:
    if options.json:
        options.json.write_text(json.dumps(cattrs.unstructure(run), indent=1), "utf-8")
    if options.image:
        options.image.write_text(picture(map(dot, run.points)), "utf-8")


# -- what is shown ---------------------------------------------------------------------------------------------------


def markdown(run: Run) -> Iterator[str]:
    """The tables: a row a setting, and the default beside what has no limit, window by window."""
    yield run.made
    yield ""
    yield row(
        "strategy", "begins at most at %", "down to %", "edits that miss %", "90 % range", "cost with misses",
        "far fit %", "verbatim reuse %",
    )  # fmt: skip
    yield row("---", *["--:"] * 7)
    yield from map(_row, run.points)
    yield ""
    yield "`gc_rolling` by window: edits that miss % (cost with misses)."
    yield ""
    yield row("down to %", *(f"{window:,}" for window in WINDOWS))
    yield row("---", *["--:"] * len(WINDOWS))
    yield from map(_window_row, filter(_is_shown_by_window, run.points))


def _row(point: Point) -> str:
    setting = point.setting
    name = f"*{setting.system}*" if setting.system in BASELINES_BY_NAME else f"`{setting.system}`"
    return row(
        f"**{name}**" if setting.is_default else name,
        f"{setting.threshold:g}" if setting.target is not None else "-",
        _down_to(setting) if setting.target is not None else "-",
        f"{point.edits_that_miss:.1f}",
        f"{point.low:.0f}-{point.high:.0f}",
        f"{point.cost_with_misses:.3f}",
        f"{point.far_fit:.1f}",
        shown(point.verbatim_reuse),
    )


def _down_to(setting: Setting) -> str:
    return f"{setting.target:g}" + (", no limit" if setting.base == NO_LIMIT else "")


def _window_row(point: Point) -> str:
    figures = (f"{one.edits_that_miss:.1f} ({one.cost_with_misses:.2f})" for one in point.windows)
    return row(_down_to(point.setting), *figures)


def _is_shown_by_window(point: Point) -> bool:
    setting = point.setting
    return setting.threshold == DEFAULT_THRESHOLD and setting.target in {35.0, 47.0, 60.0}


def dot(point: Point) -> Dot:
    """A point as the picture has it."""
    setting = point.setting
    line = None if setting.target is None else Line(threshold=setting.threshold, limited=setting.base != NO_LIMIT)
    kind = Kind.BASELINE if setting.system in BASELINES_BY_NAME else Kind.STRATEGY
    return Dot(
        name=setting.system if setting.target is None else f"{setting.target:g} %",
        kind=Kind.SETTING if line else kind,
        line=line,
        is_default=setting.is_default,
        cost=point.cost_with_misses,
        misses=point.edits_that_miss,
        far_fit=point.far_fit,
    )


if __name__ == "__main__":
    main()
