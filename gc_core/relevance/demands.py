"""
Finds what a user demands: rules, preferences and corrections that apply beyond the next answer.

Form decides first, so that no language is excluded: a short sentence that is not a question and more than an
acknowledgement may bind. Words of some languages only raise its rank. In doubt a sentence counts as a demand: it is
better to keep a user's words too long than to lose them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import Final

import attrs

from gc_core.values.patterns import regex
from gc_core.values.sentences import split_sentences

MOST_CHARS: Final = 300
"""The most characters of a sentence written as a rule; longer ones are narrative."""

MOST_TEXT: Final = 4_000
"""The characters of a message that are read; the rest of a longer one was pasted."""

_BEHIND_STOPS = regex(r"(?<=[.!?;])\s+")
_DENSE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_WORDS, _LEAST_DENSE = 3, 5
_QUESTION = "?？؟"

_ASKING = regex(
    r"(?:(?:so|and|but|und|et|y|e|а|и) )?(?:what|why|who|whom|whose|which|when|where|how|is|are|was|were"
    r"|do(?! not\b)|does|did|can|could|would|will|shall|has|have|any idea|tell me|explain"
    r"|was|warum|wer|welche\w*|wann|wo|wie|kannst|können"
    r"|pourquoi|qui|quel\w*|quand|où|comment|est-ce|peux|pouvez|qué|por qué|quién|cuál\w*|cuándo|dónde|cómo|puedes"
    r"|o que|por que|quem|qual|quais|quando|onde|como|você pode|che cosa|perché|chi|dove|puoi"
    r"|что|почему|кто|какой|какая"
    r"|какие|когда|где|как|можешь|co|dlaczego|kto|który|która|kiedy|gdzie|jak|czy)\b",
    re.IGNORECASE,
)
_ASKING_DENSE = regex(r"(?:吗|呢|什么|怎么|为什么|哪|谁|ですか|ますか|か$|なぜ|どう|何|까\b|나요|뭐|왜|어떻게)")

_POLITE = regex(
    r"\b(?:thanks?|thank you|thx|cheers|great|perfect|cool|nice|awesome|hello|hi|hey|good (?:morning|evening|night)|bye"
    r"|ok|okay|got it|go on|continue|sounds good|danke|super|prima|hallo|guten|weiter|merci|bonjour|salut|d'accord"
    r"|gracias|hola|vale|buenos|obrigad[oa]|olá|bom dia|grazie|ciao|perfetto|спасибо|привет|хорошо|отлично|ладно"
    r"|dzięki|dziękuję|cześć|dobrze|shukran|شكرا|مرحبا|धन्यवाद|नमस्ते|ठीक)(?!\w)|谢谢|你好|好的|继续|ありがとう|こんにちは"
    r"|감사|안녕|고마워",
    re.IGNORECASE,
)
_MOST_POLITE_WORDS = 8

_BINDING = regex(
    r"\b(?:must(?:n't)?|never|always|only|don'?t|do not|avoid|prefer|make sure|ensure|require[ds]?|at (?:least|most)"
    r"|no more than|instead|rather|without|from now on|keep|use|stick|should(?:n't)?|cannot|can't|have to|has to|limit"
    r"|maximum|minimum|forbidden|allerg\w+|budget|deadline|please"
    r"|muss|müssen|nie|niemals|immer|nur|kein\w*|nicht|bitte|ohne|statt|vermeide\w*|höchstens|mindestens|soll\w*"
    r"|bevorzug\w*"
    r"|jamais|toujours|seulement|uniquement|ne|pas|sans|veuillez|doit|doivent|évite\w*|préfère|maximum|plutôt"
    r"|nunca|siempre|solo|sólo|sin|no|debe\w*|evita\w*|prefiero|máximo|mínimo|por favor"
    r"|sempre|apenas|somente|sem|não|deve\w*|evite|prefiro|mai|senza|non|devi\w*|deve|evita|preferisco|per favore"
    r"|никогда|всегда|только|не|без|нужно|должн\w+|пожалуйста|используй\w*|избегай\w*"
    r"|nigdy|zawsze|tylko|nie|bez|musi\w*|proszę|unikaj\w*|używaj\w*)(?!\w)"
    r"|不要|别|必须|只|总是|永远|请|不能|禁止|至少|最多|不得|绝不|务必|ないで|必ず|常に|だけ|してください|禁止|以内|しないで|반드시|항상|절대"
    r"|마세요|만\b|하지|لا |دائما|فقط|يجب|أبدا|बिना|हमेशा|कभी|केवल|सिर्फ|मत",
    re.IGNORECASE,
)


class Strength(enum.IntEnum):
    """The certainty that a sentence is a demand."""

    NONE = 0
    UNCLEAR = 1
    CLEAR = 2


@attrs.frozen
class Demand:
    """A user's sentence that may bind, verbatim, with its certainty."""

    text: str
    strength: Strength


def is_demand(text: str) -> bool:
    """Return whether a user's message contains a sentence that may bind."""
    return any(True for _ in demands_in(text))


def demands_in(text: str) -> Iterator[Demand]:
    """Yield the sentences of a user's message that may bind, in order. O(length)."""
    if len(text) > MOST_TEXT:
        return
    for sentence in _sentences(text):
        strength = strength_of(sentence)
        if strength:
            yield Demand(sentence, strength)


def strength_of(sentence: str) -> Strength:
    """Return the certainty that a sentence binds."""
    words, dense = len(sentence.split()), len(_DENSE.findall(sentence))
    if len(sentence) > MOST_CHARS or _asks(sentence):
        return Strength.NONE
    binds = _BINDING.search(sentence) is not None
    if words < _LEAST_WORDS and dense < _LEAST_DENSE and not (binds and words + dense > 1):
        return Strength.NONE
    if _POLITE.search(sentence) and words <= _MOST_POLITE_WORDS and not (binds and words > _LEAST_WORDS):
        return Strength.NONE
    return Strength.CLEAR if binds else Strength.UNCLEAR


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences; one too long for a rule is cut behind every stop, also where an abbreviation may be."""
    for sentence in map(str.strip, split_sentences(text)):
        yield from (sentence,) if len(sentence) <= MOST_CHARS else _BEHIND_STOPS.split(sentence)


def _asks(sentence: str) -> bool:
    if sentence.rstrip("\"'”»*_) ")[-1:] in _QUESTION:
        return True
    return _ASKING.match(sentence) is not None or _ASKING_DENSE.search(sentence) is not None
