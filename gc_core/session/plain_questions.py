"""Finds what a message asks for in plain words: the item that has most of them, if it is not in the window any more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import attrs

from gc_core.relevance.mentions import asks, sentences_in
from gc_core.relevance.plain_words import PlainWord, together
from gc_core.session.asked_words import MOST_HOLDING, SAID, AskedWords, Meaning
from gc_core.session.history import History
from gc_core.session.meant_calls import CallMatcher, MeantCall
from gc_core.session.named_calls import CallFinder
from gc_core.session.remarks import Remark
from gc_core.session.shown_texts import ShownTexts, may_return
from gc_core.storage.search.sharing import Sharer
from gc_core.values.items import Form, Item, ItemKind, Unit, number_of
from gc_core.values.references import ByteRange

_TELLING = SAID | {ItemKind.TOOL_RESULT.value}
_LOOKED_AT = 3  # of the best items: whether their words stand together


@attrs.frozen
class Answer:
    """
    An item that a message means.

    Attributes:
        item: Its id.
        words: The message's words in it, as they are spelt there.
        reason: Why it comes back.

    """

    item: str
    words: tuple[str, ...]
    reason: str


class PlainQuestions:
    """
    Finds items by the plain words of a message.

    Args:
        history: Searches the log.
        calls: Finds earlier calls.
        recall: Reads an original, also of an earlier session.
        remark_of: Finds the call that an agent's text is about.
        is_taken_back: Whether a line of the log does not count any more: nothing of it answers.

    """

    def __init__(
        self,
        history: History,
        calls: CallFinder,
        recall: Callable[[str], str],
        remark_of: Callable[[Sharer], Remark | None],
        is_taken_back: Callable[[ByteRange], bool],
    ) -> None:
        self._history = history
        self._calls = CallMatcher(calls, recall, remark_of)
        self._recall = recall
        self._is_taken_back = is_taken_back

    def answers(
        self, said: Unit, words_said: str, items: Sequence[Item], without: Collection[str] = ()
    ) -> tuple[Answer, ...]:
        """
        Return the collected item that a message clearly means, and if it is a user's message what the agent said to it
        at once; nothing if there is none, or the window shows as much. The words of some names do not count.

        What a call returned counts together with its arguments; what was said later in the same words comes first. Any
        other item has at least two rare words of a user's message, which with the others near them have most of the
        weight.
        """
        asked = AskedWords.of(said, words_said, without)
        if not asked.words:
            return ()
        found = self._history.sharing(asked.words, MOST_HOLDING + 1)  # the message is one of them
        meaning = Meaning.of(asked.words, found)
        whole = {item.id for item in items if item.form is Form.WHOLE}
        before = number_of(said.items[0].id)
        earlier = [
            each for each in found.sharers if number_of(each.item) < before and not self._is_taken_back(each.bytes)
        ]
        call = self._calls.meant(asked, earlier, meaning, whole, before=before)
        if call is not None and not ShownTexts.of(items).shows(call.known.item, call.told.values()):
            return self._with_news(call, items, asked, meaning, earlier)
        return () if said.is_step else self._said(asked, earlier, meaning, items)

    # -- inside --------------------------------------------------------------------------------------------------

    def _with_news(
        self, call: MeantCall, items: Sequence[Item], asked: AskedWords, meaning: Meaning, earlier: Sequence[Sharer]
    ) -> tuple[Answer, ...]:
        """Return what is known by a call, behind what was said later in the same words if the window lacks that."""
        known = Answer(call.known.item, tuple(call.told.values()), call.reason)
        said, words = self._said_later(call, asked, meaning, earlier)
        if said is None or ShownTexts.of(items).shows(said.item, words):
            return (known,)
        return Answer(said.item, words, f"it was said later of {', '.join(words)}"), known

    def _said_later(
        self, call: MeantCall, asked: AskedWords, meaning: Meaning, earlier: Sequence[Sharer]
    ) -> tuple[Sharer | None, tuple[str, ...]]:
        """Return the newest text after a result that tells something in the words for which the result comes back."""
        rare = meaning.rare & call.words
        after = [each for each in earlier if number_of(each.item) > number_of(call.known.item)]
        for each in sorted(after, key=lambda each: -number_of(each.item)):
            if each.kind in SAID and rare.issubset(each.words):
                told = "\n".join(part for part in sentences_in(self._recall(each.item)) if not asks(part))
                here = together(told, asked.words, meaning.share)
                if call.words.issubset(here):
                    return each, tuple(here.values())
        return None, ()

    def _said(
        self, asked: AskedWords, earlier: Sequence[Sharer], meaning: Meaning, items: Sequence[Item]
    ) -> tuple[Answer, ...]:
        """Return the item, and the reply to it, in which most of a user's words stand together."""
        whole = {item.id for item in items if item.form is Form.WHOLE}
        shown = max((meaning.share(each.words) for each in earlier if each.item in whole), default=0.0)
        meant = [each for each in earlier if may_return(each, _TELLING, whole) and meaning.share(each.words) > shown]
        for each in sorted(meant, key=lambda each: -meaning.share(each.words))[:_LOOKED_AT]:
            here = together(self._recall(each.item), asked.words, meaning.share)
            if meaning.is_clear(here, each) and meaning.share(here) > max(shown, meaning.shown_for_others(items)):
                return self._with_reply(each, here, whole)
        return ()

    def _with_reply(self, each: Sharer, here: Mapping[PlainWord, str], whole: Collection[str]) -> tuple[Answer, ...]:
        words = tuple(here.values())
        reason = f"the user asks for {', '.join(words)}"
        reply = self._history.reply_to(each.item) if each.kind == ItemKind.USER_TEXT.value else None
        if reply is None or reply[1] in whole or self._is_taken_back(reply[0]):
            return (Answer(each.item, words, reason),)
        return Answer(each.item, words, reason), Answer(reply[1], (), reason)
