"""The texts of the panel: its head, and the details of an item or a collection."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping

import attrs
from rich.text import Text

from ctxgc.cli.console import plain
from ctxgc.inspector.follower import MOST_ORIGINALS, Follower
from ctxgc.inspector.panel import Doing, Panel
from ctxgc.inspector.rows import Path, action_words, doing_at, preview, removal_at
from gc_core.values.items import Form, Item
from gc_core.values.policy import GCPolicy
from gc_core.values.references import LOG_NAME
from gc_core.values.removals import GCRemovalItem

MOST_LETTERS = 200_000
"""The most characters of a text; ``ctxgc recall`` prints all of it."""

_KEPT = "\n\t"
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_FULL, _FREE, _THRESHOLD = "█", "░", "┃"

Styles = Mapping[GCPolicy, str]
"""The colours of policies, in rich's terms."""


@attrs.frozen(kw_only=True)
class Detail:
    """
    The details of one line.

    Attributes:
        title: Its title.
        facts: The facts, a line each.
        text: Its current text.
        original: Its original text, if that differs; otherwise "".
        source: The origin of ``original``, for a title.

    """

    title: str
    facts: tuple[str, ...]
    text: str
    original: str = ""
    source: str = "as it arrived"


# -- the head --------------------------------------------------------------------------------------------------------


def who(panel: Panel) -> str:
    """Return strategy, model and format."""
    return plain(f"{', '.join(panel.strategy)} · {panel.model or 'no model named'} · {panel.format}")


def usage(panel: Panel) -> str:
    """Return the fill of the window."""
    about = "" if panel.exact else "about "
    return f"{panel.usage:.1f} %  {about}{panel.estimated:,} of {panel.usable:,} tokens"


def limits(panel: Panel) -> str:
    """Return when it collects, and the results so far."""
    config = panel.config
    mode = "continuous" if config.continuous else f"collects at {config.begins_percent:g} %"
    count = len(panel.collections)
    collections = f"{count:,} collection{'s' * (count != 1)}"
    freed = f", {panel.freed:,} tokens freed" if count else ""
    turn = f"turn {panel.turn} · " if panel.turn >= 0 else ""
    return f"{turn}{mode}, down to {config.ends_percent:g} % · {collections}{freed}"


def usage_bar(panel: Panel, width: int, styles: Styles) -> Text:
    """Return the window as a bar of this many cells, by policy, with the threshold in it."""
    total = panel.budget.total
    scale = width * panel.estimated / total / panel.usable if total and panel.usable > 0 else 0.0
    cells, reached = list[tuple[str, str]](), 0.0
    for policy, tokens in _held(panel):
        start, reached = round(reached), reached + tokens * scale
        cells += [(_FULL, styles[policy])] * (min(width, round(reached)) - min(width, start))
    cells += [(_FREE, "dim")] * (width - len(cells))
    mark = min(width - 1, int(width * panel.config.begins_percent / 100.0))
    cells[mark] = (_THRESHOLD, "bold")
    return Text.assemble(*cells)


def legend(styles: Styles) -> Text:
    """Return the meaning of the colours and marks."""
    return Text("  ").join(Text(f"{policy.indicator} {policy.name}", style=styles[policy]) for policy in GCPolicy)


def bar(share: float, width: int) -> str:
    """Return a bar of at most this many cells, to an eighth of one; anything above 0 is visible."""
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    return (_FULL * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(width)


def _held(panel: Panel) -> Iterable[tuple[GCPolicy, int]]:
    """Yield tokens by policy, the strongest first; the framing of messages counts as theirs."""
    entries = [panel.budget.entry(source.name) for source in panel.budget.sources]
    for place, policy in enumerate(GCPolicy):
        framing = panel.budget.overhead if policy is GCPolicy.LOCKED else 0
        yield policy, sum(entry.sums[place] for entry in entries) + framing


# -- details -------------------------------------------------------------------------------------------------


def item_detail(panel: Panel, key: str, follower: Follower) -> Detail | None:
    """
    Return a resident item, or one that left and is in the log; None for an id that was never given.
    Raises LogError.
    """
    item = panel.items.get(key)
    if item is not None:
        return _resident(panel, item, follower)
    text = follower.original(key)
    if text is None:
        return None
    return Detail(title=f"{key}, not in the window", facts=(), text=shown(text, f"ctxgc recall DIR {key}"))


def doing_detail(panel: Panel, path: Path, follower: Follower) -> Detail | None:
    """
    Return a collection, or one of its removals with the originals of what it removed; None if it is not there. Raises
    LogError.
    """
    doing, removal = doing_at(panel, path), removal_at(panel, path)
    if doing is None:
        return None
    when = dt.datetime.fromtimestamp(doing.time, tz=dt.UTC).isoformat(sep=" ", timespec="seconds")
    if removal is not None:
        return _removed(removal, when, follower)
    facts = [f"{when}  {doing.what} {plain(doing.why)}"]
    if doing.before or doing.after:
        facts.append(f"{doing.before:,} to {doing.after:,} tokens, {doing.freed:,} freed; target {doing.target:,}")
        facts.append("in force" if doing.place in panel.done else "undone, or taken back")
    return Detail(title=doing.what, facts=tuple(facts), text="\n".join(_removal_lines(doing)))


def shown(text: str, whole: str) -> str:
    """Return a text without terminal control characters; of a very long one the beginning, and how to get the rest."""
    cut = text[:MOST_LETTERS]
    clean = "".join(letter if letter.isprintable() or letter in _KEPT else "\ufffd" for letter in cut)
    more = len(text) - len(cut)
    return f"{clean}\n\n[{more:,} letters more: {whole}]" if more else clean


def _resident(panel: Panel, item: Item, follower: Follower) -> Detail:
    schema = panel.schemas.get(item.id)
    text = item.text if schema is None else json.dumps(schema.payload, indent=2, ensure_ascii=False)
    recall = f"ctxgc recall DIR {item.id}"
    original, source = "", "as it arrived"
    if item.reference is not None and item.form is not Form.STUB:
        parts = follower.originals(item.reference)
        original = shown("\n\n".join(f"[{key}]\n{each}" for key, each in parts), recall)
        source = f"what it replaces, {item.reference.first} to {item.reference.last}"
        source += f", the first {MOST_ORIGINALS}" * (len(parts) == MOST_ORIGINALS)
    elif item.form is Form.STUB:
        original = shown(follower.original(item.id) or "", recall)
    title = plain(f"{item.id}  {item.kind.value.replace('_', ' ')} {item.name}")
    return Detail(title=title, facts=tuple(_facts(item)), text=shown(text, recall), original=original, source=source)


def _facts(item: Item) -> list[str]:
    held = f"{item.policy.indicator} {item.policy.name}{', pinned' * item.pinned}"
    size = f"{item.tokens:,} tokens"
    if item.original_tokens != item.tokens:
        size += f", {item.original_tokens:,} when it arrived"
    where = f"source {plain(item.source)}"
    if item.turn >= 0:
        where += f", turn {item.turn}" + (f", step {item.step}" if item.step >= 0 else "")
    place = "" if item.logged is None else f"  {LOG_NAME}:{item.logged.start}-{item.logged.end}"
    return [f"{held}  {size}", where + place]


def _removal_lines(doing: Doing) -> Iterable[str]:
    for removal in doing.removals:
        phase = f" ({plain(removal.phase)})" if removal.phase else ""
        who_did = f", {plain(removal.strategy)}" if removal.strategy else ""
        items = plain(", ".join(removal.items))
        yield f"{removal.tokens_freed:>9,}  {action_words(removal)} {items}"
        yield f"{'':>9}  {plain(removal.reason)}{phase}{who_did}"


def _removed(removal: GCRemovalItem, when: str, follower: Follower) -> Detail:
    texts = [(key, follower.original(key)) for key in removal.items[:MOST_ORIGINALS]]
    originals = "\n\n".join(f"[{key}]\n{text}" for key, text in texts if text is not None)
    more = len(removal.items) - len(texts)
    facts = (
        f"{when}  {plain(removal.reason)}",
        f"{removal.tokens_freed:,} tokens freed, proposed by {plain(removal.strategy) or 'the core'}"
        + (f" in phase {plain(removal.phase)}" if removal.phase else "")
        + (f"; the first {len(texts)} of {len(removal.items)} items" if more else ""),
    )
    title = f"{action_words(removal)} {preview(', '.join(removal.items))}"
    return Detail(title=title, facts=facts, text=shown(originals, "ctxgc recall DIR ID"))
