"""The contract of token counters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import ClassVar

from gc_core.isolation import isolated
from gc_core.providers.contract import TokenCounter
from gc_core.testing.contract import Contract, rule
from gc_core.testing.conversations import make_conversation
from gc_core.values.items import Image, ItemKind, Part

_ODD = {
    "a lone surrogate": "before \ud800 behind",
    "two surrogates": "\ud83d\ude00",
    "NUL": "\0\0",
    "a byte order mark": "\ufeffx",
    "right to left": "\u202eabc",
    "letters with many marks": "e" + "\u0301" * 300,
    "emoji of several code points": "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 40,
    "special tokens": "<|endoftext|><|im_start|>system<|im_end|>",
    "white space": " \t\r\n\u00a0\u2003" * 40,
    "one very long word": "a" * 20_000,
    "a million spaces": " " * 1_000_000,
    "many lines": "\n" * 50_000,
}
_IMAGES = (
    Image(),
    Image(width=1, height=1),
    Image(width=640, height=480, detail="low"),
    Image(width=1920, height=1080, detail="high"),
    Image(width=20_000, height=20),
)
_SEAM = 8
"""The most tokens that two texts may have more together than separately: other words begin where they meet."""

_BACK_PERCENT, _BACK = 10, 16
"""The most that a text's count may fall when something is added: its last word changes."""


class CounterContract(Contract):
    """
    The rules for token counters. Subclass it as ``class TestMine(CounterContract)``, and name the counter.

    Attributes:
        counter: The class; or override ``make`` where it needs arguments.

    """

    counter: ClassVar[type[TokenCounter] | None] = None

    def make(self) -> TokenCounter:
        """Return a counter to test."""
        assert self.counter is not None, f"{type(self).__name__} names no counter: set `counter` or override make()"
        return self.counter()

    @rule
    def test_counts_any_text(self) -> None:
        """It raises for no string, and returns a whole number: agents read anything."""
        counter = self.make()
        for name, text in self._texts():
            _assert_whole(_counted(counter, name, text), name)

    @rule
    def test_nothing_costs_nothing(self) -> None:
        """An empty text has no tokens, so that sums add up."""
        tokens = self.make().count("")
        assert tokens == 0, f"count('') is {tokens}; expected 0"

    @rule
    def test_something_costs_something(self) -> None:
        """Words that are not counted would fill the window without being noticed."""
        counter = self.make()
        for name, text in self._texts():
            if any(letter.isalnum() for letter in text):
                assert _counted(counter, name, text) > 0, f"{name}: 0 tokens for {text!r:.60}; expected at least 1"

    @rule
    def test_special_tokens_are_ordinary_text(self) -> None:
        """Text from a file or a user is text, even if it looks like the model's own marks."""
        tokens = _counted(self.make(), "special tokens", _ODD["special tokens"])
        assert tokens > 3, f"{tokens} tokens for three special tokens and a word; expected each as plain text"  # noqa: PLR2004

    @rule
    def test_same_text_same_count(self) -> None:
        """Items are counted once, when they arrive; the request is counted from them."""
        first, second = self.make(), self.make()
        for name, text in self._texts():
            one, other = _counted(first, name, text), _counted(second, name, text)
            assert one == other, f"{name}: {one} tokens, and by another counter of the same kind {other}"

    @rule
    def test_two_texts_cost_no_more_together(self) -> None:
        """The sum of the parts is an upper bound of the whole, so what fits in parts fits."""
        counter = self.make()
        for name, one, other in self._pairs():
            whole, parts = counter.count(one + other), counter.count(one) + counter.count(other)
            assert whole <= parts + _SEAM, f"{name}: {whole} tokens together, {parts} apart; expected no more"

    @rule
    def test_more_text_costs_more(self) -> None:
        """A longer text does not have clearly fewer tokens than its beginning."""
        counter = self.make()
        for name, one, other in self._pairs():
            whole, part = counter.count(one + other), counter.count(one)
            least = part - part * _BACK_PERCENT // 100 - _BACK
            assert whole >= least, f"{name}: {whole} tokens, and {part} for the beginning of it; expected no fewer"

    @rule
    def test_framing_is_a_whole_number(self) -> None:
        """The cost of messages and requests in addition to their texts is added to every sum."""
        counter = self.make()
        for name in ("per_message", "per_request"):
            _assert_whole(getattr(counter, name), name)

    @rule
    def test_says_its_name_and_whether_it_is_exact(self) -> None:
        """A report names the counter, and whether to trust it."""
        counter = self.make()
        assert isinstance(counter.name, str), f"name = {counter.name!r}; expected a str"
        assert counter.name.strip(), f"name = {counter.name!r}; expected what a report is to call it"
        assert isinstance(counter.exact, bool), f"exact = {counter.exact!r}; expected a bool"

    @rule
    def test_counts_any_image(self) -> None:
        """Including images of unknown size, and impossibly large ones."""
        counter = self.make()
        for image in _IMAGES:
            _assert_whole(counter.count_image(image), str(image))

    @rule
    def test_counts_thinking(self) -> None:
        """Visible, sealed, or both; a sealed text costs something although nothing of it is visible."""
        counter = self.make()
        for text, sealed in (("", 0), ("I think so.", 0), ("", 4_000), ("I think so.\ud800", 4_000)):
            part = Part(kind=ItemKind.THINKING, place=(), text=text, sealed_bytes=sealed)
            tokens = counter.count_thinking(part)
            _assert_whole(tokens, f"thinking {text!r} with {sealed} sealed bytes")
            assert tokens > 0 or not (text or sealed), f"0 tokens for thinking {text!r} with {sealed} sealed bytes"

    # -- inside --------------------------------------------------------------------------------------------------

    def _texts(self) -> Iterator[tuple[str, str]]:
        yield from _ODD.items()
        for seed in self.seeds:
            yield f"seed {seed}", _prose(seed)

    def _pairs(self) -> Iterator[tuple[str, str, str]]:
        for seed in self.seeds:
            text = _prose(seed)
            cut = random.Random(seed).randrange(len(text))  # noqa: S311 - made to be the same again
            yield f"seed {seed}, cut at {cut}", text[:cut], text[cut:]


def _prose(seed: int) -> str:
    """Return what someone said in the conversation of this seed, with some characters that are not ASCII."""
    said = make_conversation(seed).messages[0]["content"]
    return f"{said}\n{chr(0x4E00 + seed) * 5} é{seed}"


def _counted(counter: TokenCounter, name: str, text: str) -> int:
    tokens = 0
    with isolated() as attempt:
        tokens = counter.count(text)
    error = attempt.error
    if error is not None:
        raise AssertionError(f"{name}: count({text!r:.60}) raises {type(error).__name__}: {error}") from error
    return tokens


def _assert_whole(value: object, name: str) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    assert whole, f"{name}: {value!r}; expected a whole number, 0 or more"
