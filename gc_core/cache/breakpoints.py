"""The breakpoints of a request, placed by what earlier requests wrote."""

from __future__ import annotations

import bisect
import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import attrs

from gc_core.providers import Provider, provider_named
from gc_core.providers.cache_breakpoints import MarkShape, field_of
from gc_core.providers.cache_terms import CacheTerms, terms_of
from gc_core.providers.model_families import family
from gc_core.providers.payload_keys import BINARY
from gc_core.providers.rules.prefix import same
from gc_core.values.config import CACHE_TTLS, FIVE_MINUTES, GCConfig
from gc_core.values.json_values import objects, strings
from gc_core.values.messages import Payload, Request

_SELF = -1
"""The block number of a mark on a tool schema or a system block itself."""

_SYSTEM = frozenset({"system", "developer"})

_BINARY_LETTERS = 4_000
"""The number of characters that base64 counts as, since its length says nothing about tokens."""


@attrs.frozen(kw_only=True, eq=False)
class _Piece:
    """
    A tool schema, a system block or a message, read once; it keeps the payload alive, so that its identity stays.

    ``blocks`` counts the positions that a look-back passes, ``letters`` is the basis of token estimates, ``own`` are
    the caller's marks (block numbers and lives), and ``inner`` those inside a tool result's own content.
    """

    payload: Payload
    blocks: int
    letters: int
    own: tuple[tuple[int, str], ...] = ()
    inner: tuple[tuple[int, str], ...] = ()


class _Place(NamedTuple):
    """A position of a prefix: piece and block, in the order in which a prefix is cached; many are compared."""

    piece: int
    block: int


@attrs.frozen(kw_only=True)
class _Layout:
    """
    A request as its pieces, with running sums.

    ``as_before`` is how many leading pieces are those of the previous request, ``marked`` are the numbers of those with
    a caller's mark.
    """

    request: Request
    payloads: tuple[Payload, ...]
    pieces: tuple[_Piece, ...]
    blocks: tuple[int, ...]
    letters: tuple[int, ...]
    as_before: int
    marked: tuple[int, ...]

    @property
    def head(self) -> int:
        """The number of pieces before the messages."""
        return len(self.request.tools) + len(self.request.system)

    def own(self) -> dict[_Place, str]:
        """Return the caller's marks at the ends of blocks with their lives, in order."""
        return {_Place(number, at): ttl for number in self.marked for at, ttl in self.pieces[number].own}

    def inner(self) -> list[tuple[_Place, str]]:
        """Return the caller's marks inside blocks: they use up marks, but are not positions that we could name."""
        return [(_Place(number, at), ttl) for number in self.marked for at, ttl in self.pieces[number].inner]

    def tokens(self, place: _Place) -> float:
        """
        Return the tokens up to the end of the place's piece: an estimate, the request's tokens distributed by
        characters.
        """
        return self.request.tokens * self.letters[place.piece] / max(1, self.letters[-1])

    def position(self, place: _Place) -> int:
        """Return the number of blocks up to this place."""
        before = self.blocks[place.piece] - self.pieces[place.piece].blocks
        return before + max(place.block, 0) + 1


class Marks:
    """
    The breakpoints of one session, and what its earlier requests wrote.

    It sets at most the provider's number of marks, including the caller's: one on the last markable block, one where an
    earlier request wrote and a look-back would not reach, one at the end of what the last change wrote, after which the
    next change may begin, one at the end of the system text and one at the end of the tool schemas; with fewer
    available, the first of these have priority. A prefix below the model's minimum gets none, because it would not be
    cached; its length is an estimate, by characters.

    Args:
        config: ``cache_marks``, ``cache_ttl``, ``stable_cache_ttl``, ``prompt_cache_key`` and ``betas`` are used.
        format_name: The session's format.
        model: The session's model; ``terms_of`` says what it supports.
        key: Sent as ``prompt_cache_key`` unless the configuration names another one.

    """

    def __init__(self, config: GCConfig, *, format_name: str, model: str | None, key: str = "") -> None:
        self._config = config
        self._terms: CacheTerms = terms_of(model, format_name)
        self._shape: MarkShape | None = None
        provider = provider_named(format_name)
        if config.cache_marks:
            self._shape = provider.breakpoint_shape(self._terms.explicit_marks)
        self._lengths = dict.fromkeys(provider.keys.sealed, 0) | {BINARY: _BINARY_LETTERS}
        self._options = _options(config, self._terms, provider, key if _is_listed(model, format_name) else "")
        self.forget()

    def forget(self) -> None:
        """Forget the written prefixes: the window has changed, or another model's cache is used."""
        self._last: _Layout | None = None
        self._sent: frozenset[_Place] = frozenset()
        self._written: list[_Place] = []
        self._settled: Payload | None = None

    def optioned(self, request: Request) -> Request:
        """Return the request with only its options, which go with every request."""
        return attrs.evolve(request, options={**request.options, **self._options}) if self._options else request

    def placed(self, request: Request) -> Request:
        """
        Return the request with breakpoints, on shallow copies of the payloads that carry them, and with its options.

        The same request gets the same marks again: what it writes counts once another one follows. O(messages).
        """
        request = self.optioned(request)
        if self._shape is None:
            return request
        layout = _read(request, self._last, self._shape, self._lengths)
        if not layout.pieces:
            return request
        self._settle(layout, self._shape)
        own, inner = layout.own(), layout.inner()
        room = min(self._terms.most_marks, self._shape.ours) - len(own) - len(inner)
        chosen = self._chosen(layout, own, self._shape)[: max(0, room)]
        self._last = layout
        self._sent = frozenset(place for place in (*own, *chosen) if self._is_cached(layout, place))
        lives = self._lives(layout, chosen, sorted([*own.items(), *inner], key=operator.itemgetter(0)))
        return _with_marks(layout, lives, self._shape)

    def _settle(self, layout: _Layout, shape: MarkShape) -> None:
        """Keep the written prefixes that are still valid: the same bytes up to there."""
        if self._last is None:
            return
        change = _first_change(self._last, layout, shape)
        if change is None:
            return
        if change.piece < len(self._last.pieces):
            self._settled = _last_new(self._last, layout, change.piece) or self._settled
        for place in self._sent:
            at = bisect.bisect_left(self._written, place)
            if place not in self._written[at : at + 1]:
                self._written.insert(at, place)
        del self._written[bisect.bisect_left(self._written, change) :]

    def _chosen(self, layout: _Layout, own: Mapping[_Place, str], shape: MarkShape) -> list[_Place]:
        """Return the places of our own marks, the most useful first."""
        newest = _newest(layout, shape)
        bridge = None if newest is None else self._bridge(layout, newest, own)
        settled = self._settled_end(layout, shape)
        wanted = [place for place in (newest, bridge, settled, *_stable_ends(layout, shape)) if place is not None]
        fit = (place for place in dict.fromkeys(wanted) if place not in own and _may_carry(layout, place, shape))
        return [place for place in fit if self._is_cached(layout, place)]

    def _bridge(self, layout: _Layout, newest: _Place, own: Iterable[_Place]) -> _Place | None:
        """Return the last position that an earlier request wrote and that is still valid, unless a mark reaches it."""
        before = bisect.bisect_left(self._written, newest)
        if not before:
            return None
        place = self._written[before - 1]
        position, reach = layout.position(place), max(1, self._terms.look_back)
        reached = any(0 <= layout.position(mark) - position < reach for mark in (newest, *own))
        return None if reached else place

    def _settled_end(self, layout: _Layout, shape: MarkShape) -> _Place | None:
        """
        Return the last markable block of what the last change wrote, or before it, while that is valid: the next change
        may begin right after it.
        """
        if self._settled is None:
            return None
        settled = map(operator.is_, layout.payloads, itertools.repeat(self._settled))
        number = next(itertools.compress(itertools.count(), settled), None)
        if number is None:
            return None
        return next(_markable_up_to(layout, number, shape), None)

    def _is_cached(self, layout: _Layout, place: _Place) -> bool:
        return layout.tokens(place) >= self._terms.least_tokens

    def _lives(
        self, layout: _Layout, chosen: Iterable[_Place], theirs: Sequence[tuple[_Place, str]]
    ) -> dict[_Place, str]:
        """
        Return how long each of our marks should live. Longer lives must precede shorter ones, including the caller's:
        ours is at most that of a mark before it, and at least that of one after it.
        """
        lives = {}
        for place in chosen:
            wanted = self._config.cache_ttl if place.piece >= layout.head else self._config.stable_cache_ttl
            before = min((_rank(ttl) for there, ttl in theirs if there <= place), default=len(CACHE_TTLS) - 1)
            after = max((_rank(ttl) for there, ttl in theirs if there > place), default=0)
            offered = wanted if wanted in self._terms.ttl_choices else FIVE_MINUTES
            lives[place] = CACHE_TTLS[max(after, min(before, _rank(offered)))]
        return lives


def _read(request: Request, before: _Layout | None, shape: MarkShape, lengths: Mapping[str, int]) -> _Layout:
    """Return a request as its pieces, reusing those of the previous request."""
    old = before.pieces if before is not None else ()
    if before is not None and request.system == before.request.system:
        request = attrs.evolve(request, system=before.request.system)  # its blocks are created for every request
    payloads = (*request.tools, *request.system, *request.messages)
    there = before.payloads if before is not None else ()
    shorter = min(len(there), len(payloads))
    as_before = next(itertools.compress(itertools.count(), map(operator.is_not, there, payloads)), shorter)
    known = {id(piece.payload): piece for piece in old[as_before:]}
    head = len(request.tools) + len(request.system)
    fresh = [
        known.get(id(payload)) or _piece(payload, shape, lengths, is_head=number < head)
        for number, payload in enumerate(payloads[as_before:], start=as_before)
    ]
    blocks, letters, marked = _sums(before, as_before)
    return _Layout(
        request=request,
        payloads=payloads,
        pieces=(*old[:as_before], *fresh),
        blocks=(*blocks, *_running(blocks, [piece.blocks for piece in fresh])),
        letters=(*letters, *_running(letters, [piece.letters for piece in fresh])),
        as_before=as_before,
        marked=(*marked, *(at for at, piece in enumerate(fresh, start=as_before) if piece.own or piece.inner)),
    )


def _sums(before: _Layout | None, number: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return blocks, characters and marked pieces of this many leading pieces."""
    if before is None:
        return (), (), ()
    marked = before.marked[: bisect.bisect_left(before.marked, number)]
    return before.blocks[:number], before.letters[:number], marked


def _running(sums: Sequence[int], more: Sequence[int]) -> Iterator[int]:
    """Continue the running sums."""
    return itertools.islice(itertools.accumulate(more, initial=sums[-1] if sums else 0), 1, None)


def _rank(ttl: str) -> int:
    return CACHE_TTLS.index(ttl) if ttl in CACHE_TTLS else 0


def _may_carry(layout: _Layout, place: _Place, shape: MarkShape) -> bool:
    """Return whether the block at this place may carry a mark: a caller may have marked a block that may not."""
    payload = layout.pieces[place.piece].payload
    return place.block == _SELF or shape.may_carry(payload, shape.blocks(payload)[place.block])


def _newest(layout: _Layout, shape: MarkShape) -> _Place | None:
    """Return the last block that may carry a mark."""
    for number in range(len(layout.pieces) - 1, layout.head - 1, -1):
        payload = layout.pieces[number].payload
        blocks = shape.blocks(payload)
        for at in range(len(blocks) - 1, -1, -1):
            if shape.may_carry(payload, blocks[at]):
                return _Place(number, at)
    return None


def _stable_ends(layout: _Layout, shape: MarkShape) -> Iterator[_Place]:
    """
    Yield the ends of the stable layers: everything before the conversation, the part of it that many sessions share,
    tools.
    """
    request, tools, head = layout.request, len(layout.request.tools), layout.head
    if not shape.on_head:
        yield from _leading_system(layout, shape)
        return
    if request.system:
        yield _Place(head - 1, _SELF)
    if 0 < request.stable < len(request.system):
        yield _Place(tools + request.stable - 1, _SELF)
    # A tool that is loaded by a search is not part of the prefix, and may not be marked.
    fixed = (number for number in range(tools - 1, -1, -1) if not request.tools[number].get("defer_loading"))
    yield from (_Place(number, _SELF) for number in itertools.islice(fixed, 1))


def _leading_system(layout: _Layout, shape: MarkShape) -> Iterator[_Place]:
    """Yield the last block of the opening system message, and of its part that many sessions share."""
    payload = layout.pieces[layout.head].payload if layout.request.messages else {}
    if payload.get("role") in _SYSTEM:
        blocks = shape.blocks(payload)
        ends = dict.fromkeys((len(blocks), min(layout.request.stable, len(blocks))))
        yield from (_Place(layout.head, end - 1) for end in ends if end and shape.may_carry(payload, blocks[end - 1]))


def _first_change(before: _Layout, after: _Layout, shape: MarkShape) -> _Place | None:
    """Return the first place that has changed; None if the whole request is the same."""
    start = after.as_before
    for number, (old, new) in enumerate(zip(before.pieces[start:], after.pieces[start:], strict=False), start=start):
        if old is not new and not same(old.payload, new.payload):
            return _Place(number, _common(old.payload, new.payload, shape) if number >= after.head else _SELF)
    shorter = min(len(before.pieces), len(after.pieces))
    return None if len(before.pieces) == len(after.pieces) else _Place(shorter, _SELF)


def _markable_up_to(layout: _Layout, number: int, shape: MarkShape) -> Iterator[_Place]:
    """Yield the blocks of this piece and those before it that can carry a mark, the last first."""
    for place in range(number, -1, -1):
        payload = layout.pieces[place].payload
        blocks = shape.blocks(payload)
        yield from (_Place(place, at) for at in range(len(blocks) - 1, -1, -1) if shape.may_carry(payload, blocks[at]))


def _last_new(before: _Layout, after: _Layout, start: int) -> Payload | None:
    """Return the last change, if part of the previous request follows it unchanged."""
    known = {id(piece.payload) for piece in before.pieces[start:]}
    there = [id(piece.payload) in known for piece in after.pieces[start:]]
    if True not in there:
        return None
    last = len(there) - 1 - there[::-1].index(True)
    new = [at for at in range(last) if not there[at]]
    return after.pieces[start + new[-1]].payload if new else None


def _common(old: Payload, new: Payload, shape: MarkShape) -> int:
    """Return how many leading blocks of a message are unchanged: results join those that came before."""
    field = field_of(old)
    if field != field_of(new) or {**old, field: ""} != {**new, field: ""}:
        return _SELF
    blocks = list(zip(shape.blocks(old), shape.blocks(new), strict=False))
    return next((at for at, (was, now) in enumerate(blocks) if not same(was, now)), len(blocks))


def _with_marks(layout: _Layout, lives: Mapping[_Place, str], shape: MarkShape) -> Request:
    payloads = [*layout.payloads]
    for place, ttl in lives.items():
        payloads[place.piece] = shape.marked(payloads[place.piece], place.block, ttl)
    tools, head = len(layout.request.tools), layout.head
    return attrs.evolve(
        layout.request,
        tools=tuple(payloads[:tools]),
        system=tuple(payloads[tools:head]),
        messages=tuple(payloads[head:]),
    )


def _piece(payload: Payload, shape: MarkShape, lengths: Mapping[str, int], *, is_head: bool) -> _Piece:
    if is_head:
        marked = [(_SELF, shape.life(payload))] if shape.field in payload else []
        return _Piece(payload=payload, blocks=1, letters=_letters(payload, lengths), own=tuple(marked))
    blocks = shape.blocks(payload)
    parts = [(at, part) for at, block in enumerate(blocks) for part in _parts(block) if shape.field in part]
    return _Piece(
        payload=payload,
        blocks=max(1, len(blocks)),
        letters=_letters(payload, lengths),
        own=tuple([(at, shape.life(block)) for at, block in enumerate(blocks) if shape.field in block]),
        inner=tuple([(at, shape.life(part)) for at, part in parts]),
    )


def _parts(block: Payload) -> Sequence[Any]:
    content = block.get("content")
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else ()


def _letters(value: object, lengths: Mapping[str, int]) -> int:
    """
    Return the characters of all texts in a payload; those of some keys count as a fixed number. Signatures of thinking
    count as none, so that a prefix is rather taken for too long: an extra mark costs nothing, a missing one the whole
    prefix.
    """
    keys = sum([len(key) for each in objects(value) for key in each])
    return keys + sum([lengths.get(key, len(text)) for key, text in strings(value)])


def _is_listed(model: str | None, format_name: str) -> bool:
    """Return whether the model's vendor is known: servers that copy an API need not accept what they do not know."""
    return family(model, format_name).name != "unknown"


def _options(config: GCConfig, terms: CacheTerms, provider: Provider, key: str) -> dict[str, Any]:
    """Return the options of every request of the session."""
    options: dict[str, Any] = {}
    key = config.prompt_cache_key or (key if config.cache_marks else "")
    if key and terms.has_cache_key and provider.takes_cache_key:
        options["prompt_cache_key"] = key
    return options | provider.beta_options(config.betas) if config.betas else options
