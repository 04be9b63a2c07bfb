"""Finds the earlier call that a message means by words of its arguments, and what is known by it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import attrs

from gc_core.relevance.argument_names import is_part, is_telling, values_asked
from gc_core.relevance.deeds import gives_text, is_done_to
from gc_core.relevance.mentions import asks, sentences_in, without_names
from gc_core.relevance.plain_words import PlainWord, spelt, together
from gc_core.session.asked_words import LEAST_WORDS, AskedWords, Meaning
from gc_core.session.logged_calls import Called
from gc_core.session.named_calls import CallFinder, Known
from gc_core.session.remarks import Remark
from gc_core.storage.search.sharing import Sharer
from gc_core.values.agent_tool_schemas import is_agent_tool
from gc_core.values.items import ItemKind, number_of

MOST_READ = 12
"""The most calls with rare words of a message whose arguments are read."""

_LOOKED_AT = 3  # of the best calls: what is known by them


@attrs.frozen(kw_only=True)
class MeantCall:
    """
    A call that a message means.

    Attributes:
        known: What is known by it, or by a later one about the same thing.
        called: The message's words in its arguments, as they are spelt there.
        said: The other ones in what the agent said of it.
        told: Those in what is known.

    """

    known: Known
    called: Mapping[PlainWord, str]
    said: Mapping[PlainWord, str]
    told: Mapping[PlainWord, str]

    @property
    def words(self) -> frozenset[PlainWord]:
        """All its words."""
        return frozenset(self.called) | frozenset(self.said) | frozenset(self.told)

    @property
    def reason(self) -> str:
        """Why what is known comes back."""
        said = f"of which the agent said {', '.join(self.said.values())}" if self.said else ""
        names = ", ".join(self.called.values())
        called = self.known.reason_for(names) if names else f"what {self.known.tool} told"
        return f"{called}, {said}" if said else called


class CallMatcher:
    """
    Finds calls by words of a message, each with its result as one document.

    Args:
        calls: Reads calls and what is known by them.
        recall: Reads an original, also of an earlier session.
        remark_of: Finds the call that an agent's text is about.

    """

    def __init__(
        self, calls: CallFinder, recall: Callable[[str], str], remark_of: Callable[[Sharer], Remark | None]
    ) -> None:
        self._calls = calls
        self._remark_of = remark_of
        self._recall = recall

    def meant(
        self, asked: AskedWords, earlier: Sequence[Sharer], meaning: Meaning, whole: Collection[str], *, before: int
    ) -> MeantCall | None:
        """
        Return the call that has most of a message's words, if it is clear that it is meant; None if the window shows
        what is known by it, or the step asks for it itself.

        The message names it with a rare word of its arguments, in a sentence that asks for something, and another rare
        word of it or of what it returned; one word of the arguments is enough if it is a name. What the agent said of
        the result counts as the arguments do.
        """
        sharing = [each for each in earlier if meaning.rare.intersection(each.words)]
        sharing.sort(key=lambda each: -meaning.share(each.words))
        remarks = self._remarks(sharing)
        calls = {each.item: each for each in [each for each in sharing if _is_call(each)][:MOST_READ]}
        calls.update((key, remark.call) for key, remark in remarks.items())
        matches = [_Match.of(self._calls.called(each), asked, remarks.get(key)) for key, each in calls.items()]
        clear = (each for each in self._known(matches, asked, meaning, before) if each.known.item not in whole)
        return max(clear, key=lambda each: meaning.share(each.words), default=None)

    # -- inside --------------------------------------------------------------------------------------------------

    def _remarks(self, sharing: Sequence[Sharer]) -> Mapping[str, Remark]:
        """Return what the agent said of calls, by their ids."""
        said = [each for each in sharing if each.kind == ItemKind.ASSISTANT_TEXT.value][:MOST_READ]
        return {remark.call.item: remark for remark in map(self._remark_of, said) if remark is not None}

    def _known(
        self, matches: Sequence[_Match], asked: AskedWords, meaning: Meaning, before: int
    ) -> Iterator[MeantCall]:
        """Yield what is known by the best of some calls that are meant."""
        for match in sorted(matches, key=lambda match: -meaning.share(match.words))[:_LOOKED_AT]:
            heads = meaning.rare & match.words.keys() & asked.meant
            if not heads or len(spelt(asked.own, tuple(match.words))) == len(match.words):
                continue
            same = [each.call for each in matches if each.is_about_same(match)]
            meant = self._meant(match, same, asked, meaning, before)
            if meant is not None and match.is_clear(meant, heads, asked, meaning):
                yield meant

    def _meant(
        self, match: _Match, same: Sequence[Called], asked: AskedWords, meaning: Meaning, before: int
    ) -> MeantCall | None:
        """Return what is known by a call, or by a later one about the same thing; None if the message needs nothing."""
        if match.remark is not None:  # a later call may have none of its words
            same = [*same, *self._calls.about_same(match.call, before)]
        by_item = {call.hit.item: call for call in same}
        others = [word for word in asked.words if word not in match.words]
        calls = sorted(by_item.values(), key=lambda call: -number_of(call.hit.item))
        known = self._calls.told(calls, others)
        if known is None:
            return None
        text = self._recall(known.item)
        told = together(text, asked.words, meaning.share)
        told_besides = {word.run for word in meaning.rare & told.keys() - match.words.keys()}
        if len(told_besides) < LEAST_WORDS and match.is_deed(asked, text):
            return None
        return MeantCall(known=known, called=match.called, said=match.said, told=told)


@attrs.frozen
class _Match:
    """
    A call that has words of a message in its arguments.

    Attributes:
        call: The call.
        values: The values of its arguments.
        names: The joined names of the message that are in them.
        called: The message's words in them, as they are spelt there.
        said: The other ones in what the agent said of the result.
        remark: What the agent said of the result, if that has words of it.

    """

    call: Called
    values: tuple[str, ...]
    names: tuple[str, ...]
    called: Mapping[PlainWord, str]
    said: Mapping[PlainWord, str]
    remark: Remark | None = None

    @property
    def words(self) -> Mapping[PlainWord, str]:
        """The message's words in the arguments and in what the agent said of the result."""
        return {**self.said, **self.called}

    @classmethod
    def of(cls, call: Called, asked: AskedWords, remark: Remark | None) -> _Match:
        """Return the words outside of joined names that the arguments do not have: these mean other things."""
        values = values_asked(call.part.text)
        names = tuple(name for name in asked.names if any(is_part(name, value) for value in values))
        others = set(asked.names).difference(names)
        own = tuple(spelt(without_names(asked.text, others), asked.words)) if others else asked.words
        words = spelt("\n".join(values), own)
        if remark is None or any(map(_is_id, others)):
            return cls(call, values, names, words, {})
        said = spelt(remark.text, [word for word in own if word not in words])
        return cls(call, values, names, words, said, remark if said else None)

    def is_clear(self, meant: MeantCall, heads: Collection[PlainWord], asked: AskedWords, meaning: Meaning) -> bool:
        """Return whether it is clear that a message means this call by some of its words."""
        if asked.asking.isdisjoint(heads):
            return bool(self.names) and not meant.told.keys() <= self.words.keys()
        runs = {word.run for word in meaning.rare & meant.words}
        are_enough = len(runs) >= LEAST_WORDS or bool(self.names)
        return are_enough or any(self._is_telling(word, asked) for word in heads)

    def is_about_same(self, other: _Match) -> bool:
        """Return whether the arguments have all words of those of another call, which have some, or are the same."""
        if self.call.part.name == other.call.part.name and self.call.part.text == other.call.part.text:
            return True
        return bool(other.called) and self.called.keys() >= other.called.keys()

    def is_deed(self, asked: AskedWords, text: str) -> bool:
        """Return whether the message only does something to what the call was about, of which this text is known."""
        known = "\n".join((*self.values, text, self.remark.text if self.remark else ""))
        for sentence in sentences_in(asked.text):
            thing = next(iter(spelt(sentence, tuple(self.words)).values()), "")
            is_deed = not thing or is_done_to(sentence, thing) or gives_text(sentence, known)
            if not is_deed or (thing and not asked.is_plan and asks(sentence)):
                return False
        return True

    def _is_telling(self, word: PlainWord, asked: AskedWords) -> bool:
        pairs = sum(other.run == word.run for other in self.words)
        return pairs > 1 if word.is_pair else is_telling(spelt(asked.text, [word])[word], self.words[word], asked.text)


def _is_call(each: Sharer) -> bool:
    return each.kind == ItemKind.TOOL_CALL.value and not is_agent_tool(each.tool)


def _is_id(name: str) -> bool:
    return any(map(str.isdigit, name)) and any(map(str.isalpha, name))
