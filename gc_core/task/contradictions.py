"""The subject of a demand or a decision, and whether a later one contradicts it."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from gc_core.task import phrases
from gc_core.task.openings import Opening, are_of_other_things, is_among, opening_of
from gc_core.task.withdrawals import Withdrawal
from gc_core.values.patterns import regex

_WORD = regex(r"[^\W\u3040-\u9fff\uac00-\ud7af](?:[\w./:+@#-]*\w)?")
_DENSE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_NUMBER = regex(r"(?<![\w.#/-])\d[\d,]*(?:\.\d+)?(?=\s*(%|[A-Za-z]+)?)")
_STOP = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "it", "its", "we", "you", "i", "they", "he", "she"),
        *("our", "your", "my", "their", "us", "me", "them", "is", "are", "be", "been", "being", "was", "were"),
        *("will", "would", "shall", "should", "must", "can", "could", "may", "might", "do", "does", "did", "done"),
        *("have", "has", "had", "to", "of", "in", "on", "at", "by", "for", "with", "from", "into", "onto", "as"),
        *("and", "or", "but", "so", "if", "then", "than", "when", "while", "there", "here", "now", "just"),
        *("please", "also", "still", "too", "very", "really", "always", "never", "not", "no", "only", "ever"),
        *("any", "all", "every", "each", "some", "don't", "dont", "doesn't", "can't", "cannot", "won't"),
        *("shouldn't", "avoid", "ensure", "sure", "make", "need", "needs", "want", "wants", "let's", "lets", "let"),
        *("i'd", "i'm", "i've", "we'd", "we've", "i'll", "we'll", "wrong", "actually", "instead", "rather", "longer"),
        *("again", "anymore", "decided", "decision"),
        *("decide", "chose", "chosen", "settled", "agreed", "going", "go", "went", "ahead", "use", "using", "used"),
        *("prefer", "keep", "because", "since", "second", "thought", "sorry", "correction", "mind", "changed"),
        *("wait", "allowed", "fine", "okay", "ok", "free", "feel", "required", "require", "requires", "forbidden"),
        *("stop"),
        *("der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einer", "im", "am", "auf", "bei", "mit"),
        *("für", "von", "zu", "zum", "zur", "und", "oder", "ist", "sind", "wird", "werden", "nicht", "immer", "nur"),
        *("le", "la", "les", "un", "une", "du", "de", "dans", "sur", "avec", "pour", "par", "et", "ou", "est", "sont"),
        *("el", "los", "las", "una", "del", "al", "con", "por", "para", "en", "y", "se", "es", "son", "van", "siempre"),
        *("il", "lo", "gli", "della", "delle", "dei", "per", "che", "di", "da", "e", "sono", "sempre", "si"),
        *("os", "um", "uma", "do", "dos", "das", "na", "nos", "nas", "com", "em", "são", "não", "é"),
        *("het", "een", "op", "met", "voor", "van", "naar", "te", "zijn", "wordt", "altijd", "niet", "we", "ze"),
        *("w", "z", "i", "nie", "się", "są", "dla", "od", "zawsze", "и", "в", "на", "с", "не", "для", "по", "к"),
        *("ve", "bir", "bu", "ile", "için", "her"),
    )
)
_NEGATIVE = regex(
    r"\b(?:never|not|don't|dont|doesn't|no|avoid|without|forbidden|cannot|can't|won't|shouldn't|mustn't|stop)\b",
    re.IGNORECASE,
)
_END = (
    r"(?=\s{0,9}(?:[.;:,!?)]\s|[.;:,!?)]?$|\s(?:because|since|so that|instead of|rather than|not|and|but|from now)\b))"
)
_DROPPED = (
    regex(
        rf"\b(?:instead of|rather than|in place of|and not|, not|au lieu d[eu']|en lugar de|en vez de|invece (?:di"
        rf"|che)|em vez de|in plaats van"
        rf"|zamiast|вместо|an?statt|anstelle von|statt)\s{{1,9}}(?P<old>.{{2,80}}?){_END}",
        re.IGNORECASE,
    ),
    regex(
        r"\b(?:switch\w{0,30}|mov\w{1,30}|migrat\w{1,30}|chang\w{1,30})\s{1,9}(?:\w{1,30}\s{1,9}){0,4}?"
        r"from\s{1,9}(?P<old>.{2,60}?)\s{1,9}to\b",
        re.IGNORECASE,
    ),
    regex(r"\breplac(?:e|ed|ing)\s{1,9}(?P<old>.{2,60}?)\s{1,9}(?:with|by)\b", re.IGNORECASE),
    regex(
        r"\b(?:drop|dropped|abandon\w{0,30}|moved? away from|ruled out|stop using)\s{1,9}"
        rf"(?P<old>.{{2,60}}?){_END}",
        re.IGNORECASE,
    ),
)
_RETRACTED = regex(
    r"\b(?:forget(?: about)?|ignore|drop|scrap|cancel|disregard|discard|lift|remove|never mind|nevermind|scratch)"
    r"\s{1,9}"
    r"(?:what i said about|my (?:earlier |previous )?|the |that |this |our |your )*"
    r"(?:earlier |previous |old |last )?"
    r"(?:rule|constraint|requirement|demand|instruction|restriction|ban|limit|decision|request|point|wish|part|bit)?s?"
    r"(?:\s(?:about|on|of|that|to|for|not to|regarding))*\s{0,9}(?P<topic>.{2,120})",
    re.IGNORECASE,
)
_NO_LONGER = regex(
    r"\b(?:no longer|not (?:required|needed|necessary) any ?more|any ?more\b|is lifted|does not apply|doesn't apply)",
    re.IGNORECASE,
)
_PERMITTED = regex(
    r"\b(?:you|we) (?:may|can)(?: now)?\b|\bfeel free to\b|\b(?:is|it's|are) (?:now )?(?:fine|ok|okay|allowed)\b"
    r"|\bgo ahead and\b",
    re.IGNORECASE,
)
_CORRECTS = regex(
    r"^\W*(?:actually|correction|on second thought|scratch that|change of plans?|instead|sorry|wait|no,)\b"
    r"|\b(?:actually|after all|from now on|changed my mind|is now|are now|should now|must now|now be|instead)\b"
    r"(?! of\b)",
    re.IGNORECASE,
)
_CHOSEN = regex(
    r"\b(?:us(?:e|ing)|prefer|choose|chose|chosen|pick(?:ed)?|adopt(?:ed)?|go(?:ing)? with|went with"
    r"|switch(?:ing|ed)? to|stick(?:ing)? (?:with|to)|settled? on|decided on|opt(?:ed|ing)? for)\s{1,9}"
    r"(?P<value>[^.;!?]{1,60}?)"
    rf"(?:\s{{1,9}}(?:for|as|when|in|to)\s{{1,9}}(?P<subject>[^;!?]{{2,80}}?))?{_END}",
    re.IGNORECASE,
)
_IS = regex(
    r"^\W{0,40}(?P<subject>[^.;!?]{2,60}?)\s{1,9}(?:(?:must|should|shall|has to|have to|needs? to|will)\s{1,9}"
    r"(?:always |only |now )?(?:be set to|be|stay|remain|equal|target|live in|go (?:to|in)|run on|use)|is now|are now)"
    r"\s{1,9}"
    rf"(?!not\b)(?P<value>[^;!?]{{1,60}}?){_END}",
    re.IGNORECASE,
)
_SET = regex(
    r"\b(?:set|change|keep|limit|cap|bump|raise|lower|increase|decrease|reduce|make|name|call|rename|store|put|write)"
    r"\s{1,9}"
    r"(?P<subject>[^.;!?]{2,60}?)\s{1,9}(?:to|at|below|under|within|as|in|at most|no more than)\s{1,9}"
    rf"(?P<value>[^;!?]{{1,60}}?){_END}",
    re.IGNORECASE,
)
_COUNTED = frozenset(
    ("issue", "pr", "step", "task", "section", "test", "case", "page", "line", "item", "ticket", "phase", "chapter")
)
_CODE_LIKE = regex(r"[`'\"/_]|\w\.\w|\d|^[A-Z]{2,}\b")
_SHORT_VALUE = 3
_FEW = 2
_ROOT = 3
_MOULD = 4
"""The least significant words of a sentence of which two positions are not all of it."""

_CLOSE, _NEAR, _HALF, _THIRD = 0.75, 0.6, 0.5, 0.3
_CLEARLY = 1.5


@attrs.frozen(kw_only=True)
class Subject:
    """
    The subject of a sentence.

    Attributes:
        words: Its significant words, without those that it drops.
        order: All its significant words, in order.
        negative: It forbids something.
        chosen: Words of what it says to use.
        slots: The values it sets, by the words of what they are set for.
        dropped: The things it says not to use any more: one set of words for each.
        topic: Words of what it retracts; empty if it retracts nothing by name.
        no_longer: It says that something no longer applies.
        permits: It allows something.
        corrects: It says itself that it changes something.
        skeleton: Its words with every number as a placeholder, with ``numbers``.
        opening: What it begins with.
        numbers: See ``skeleton``; each with the word after it.

    """

    words: frozenset[str]
    negative: bool
    order: tuple[str, ...] = ()
    chosen: frozenset[str] = frozenset()
    slots: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    dropped: tuple[frozenset[str], ...] = ()
    topic: frozenset[str] = frozenset()
    no_longer: bool = False
    permits: bool = False
    corrects: bool = False
    opening: Opening | None = None
    skeleton: str = ""
    numbers: tuple[tuple[str, str], ...] = ()


@functools.lru_cache(maxsize=4_096)
def subject_of(text: str) -> Subject:
    """Return the subject of a sentence; linear, and cached for the newest few thousand."""
    plain = text.replace("’", "'").replace("`", "")
    dropped = tuple(dict.fromkeys(filter(None, (meaning(old) for old in _dropped_in(plain)))))
    unwanted = frozenset(word for words in dropped for word in words)
    topic = _RETRACTED.search(plain)
    chosen = [meaning(found["value"]) for found in _CHOSEN.finditer(plain)]
    numbers, skeleton = _numbers_in(plain)
    return Subject(
        words=meaning(plain) - unwanted,
        order=tuple(_meaningful(plain)),
        negative=bool(_NEGATIVE.search(plain.partition(" instead of ")[0])),
        chosen=frozenset(word for words in chosen for word in words) - unwanted,
        slots=tuple(_slots_in(plain)),
        dropped=dropped,
        topic=meaning(topic["topic"]) if topic and _is_about_words(plain, topic) else frozenset(),
        no_longer=bool(_NO_LONGER.search(plain)),
        permits=bool(_PERMITTED.search(plain)),
        corrects=bool(_CORRECTS.search(plain) or phrases.LASTING.search(plain) or phrases.CORRECTS.search(plain)),
        opening=opening_of(text),
        skeleton=skeleton,
        numbers=numbers,
    )


@functools.lru_cache(maxsize=4_096)
def meaning(text: str) -> frozenset[str]:
    """Return the significant words of a text, in lower case, without plural endings."""
    return frozenset(_meaningful(text)).union(*map(_pairs, _DENSE.findall(text)))


def _meaningful(text: str) -> Iterator[str]:
    words = (word.strip("./:-").lower() for word in _WORD.findall(text))
    return (_stem(word) for word in words if word and word not in _STOP)


def _pairs(run: str) -> Iterator[str]:
    """Return text without blanks as overlapping pairs of letters: those of two sentences about one thing agree."""
    return map("".join, itertools.pairwise(run))


def supersedes(new: Subject, old: Subject) -> float:
    """
    Return the certainty that a later sentence retracts an earlier one, from 0 (it does not) to 1.

    At 1 it certainly does, and may retract several; below, only the likeliest one is meant.
    """
    if _replaces(new, old) or _sets_otherwise(new, old) or _counts_otherwise(new, old):
        return 1.0
    return max(_takes_back(new, old), _turns_round(new, old), _corrects(new, old))


def topic_among(words: frozenset[str], others: Sequence[frozenset[str]]) -> int | None:
    """
    Return which of several sentences has the same subject as these words; None if none clearly has.

    A word counts less the more of the sentences contain it, so that a unique one is worth several common ones.
    """
    common = Counter(word for other in others for word in other & words)
    worth = [sum(1 / common[word] ** 2 for word in other & words) for other in others]
    best = max(range(len(others)), key=lambda place: (worth[place], place), default=None)
    if best is None or worth[best] < 1 or len(others[best] & words) < _THIRD * len(others[best]):
        return None
    second = max((worth[place] for place in range(len(others)) if place != best), default=0.0)
    return best if worth[best] >= _CLEARLY * second else None


def withdrawn_among(withdrawn: Withdrawal, texts: Sequence[str]) -> int | None:
    """Return which of several statements, the oldest first, is taken back: the newest, unless another one is named."""
    named = {word for word in meaning(withdrawn.named.replace("-", " ")) if len(word) >= _ROOT or not word.isascii()}
    if not named:
        return len(texts) - 1 if texts and not withdrawn.named else None
    shares = [sum(is_among(word, meaning(text.replace("-", " "))) for word in named) for text in texts]
    best = max(range(len(texts)), key=lambda place: (shares[place], place), default=None)
    return best if best is not None and shares[best] >= max(1, _HALF * len(named)) else None


def are_of_one_mould(new: Subject, old: Subject) -> bool:
    """
    Return whether two sentences differ by exactly two or more words: then one says the same of another thing, and
    corrects nothing.
    """
    import difflib

    if len(new.order) < _MOULD or len(old.order) < _MOULD:
        return False
    changes = [
        change for change, *_ in difflib.SequenceMatcher(None, old.order, new.order, autojunk=False).get_opcodes()
    ]
    return changes.count("replace") >= _FEW and not {"insert", "delete"} & set(changes)


def are_elsewhere(new: Subject, old: Subject) -> bool:
    """Return whether each begins with what the other does not mention."""
    return new.opening is not None and old.opening is not None and are_of_other_things(new.opening, old.opening)


# -- inside ----------------------------------------------------------------------------------------------------------


def _stem(word: str) -> str:
    if len(word) > _ROOT and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + _ROOT and word.endswith(ending) and word.isalpha():
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > _ROOT and word.isalpha() else word


def _dropped_in(text: str) -> Iterator[str]:
    return (found["old"] for pattern in _DROPPED for found in pattern.finditer(text))


def _is_about_words(text: str, found: re.Match[str]) -> bool:
    """
    Return whether it is about words: to ignore the lint warnings is a demand; to ignore the rule about lint retracts
    one.
    """
    verb = found[0].split(maxsplit=1)[0].lower()
    request = text[found.start() : found.start("topic")].lower()
    named = re.search(
        r"\b(?:rule|constraint|requirement|demand|instruction|restriction|ban|limit|decision|request|wish|point)s?\b"
        r"|what i said",
        f"{request} {found['topic'][:40].lower()}",
    )
    return named is not None or verb in {"forget", "never", "nevermind", "scratch", "scrap"}


def _slots_in(text: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for pattern in (_CHOSEN, _IS, _SET):
        for found in pattern.finditer(text):
            subject, value = meaning(found["subject"] or ""), meaning(found["value"])
            if not subject or not value or _NEGATIVE.search(found[0]):
                continue
            strict = len(value) <= _SHORT_VALUE if pattern is _CHOSEN else bool(_CODE_LIKE.search(found["value"]))
            yield subject if strict else subject | {""}, value


def _numbers_in(text: str) -> tuple[tuple[tuple[str, str], ...], str]:
    numbers, parts, place = [], [], 0
    for found in _NUMBER.finditer(text):
        before = text[: found.start()].rsplit(maxsplit=1)
        if before and before[-1].lower().strip("(") in _COUNTED:
            continue
        numbers.append((found[0].replace(",", ""), _stem((found[1] or "").lower())))
        parts.append(text[place : found.start()])
        place = found.end()
    parts.append(text[place:])
    skeleton = " ".join(sorted(meaning(" ".join(parts)))) if numbers else ""
    return tuple(numbers), skeleton


def _replaces(new: Subject, old: Subject) -> bool:
    """Return whether it names what the earlier one chose as not to be used any more."""
    for dropped in new.dropped:
        if not dropped <= old.words or old.negative:
            continue
        others = any(is_among(word, new.words) for word in old.words - dropped)
        chosen = any(not word.isdigit() for word in dropped & old.chosen)  # "not 20" is said of any number
        if chosen or others or _FEW * len(dropped) >= len(old.words):
            return True
    return False


def _sets_otherwise(new: Subject, old: Subject) -> bool:
    """Return whether it sets the same thing to another value."""
    for subject, value in new.slots:
        for known, was in old.slots:
            loose = "" in subject or "" in known
            if loose and not (new.corrects or new.no_longer):
                continue
            same = subject - {""} == known - {""}
            if same and not value <= was and not was <= value and (loose or _alike(value, was)):
                return True
    return False


def _of_other_things(new: Subject, old: Subject) -> bool:
    """Return whether both set something in similar words, but each for something that the other does not mention."""
    pairs = [(subject - {""}, known - {""}) for subject, _ in new.slots for known, _ in old.slots]
    return bool(pairs) and all(subject - known and known - subject for subject, known in pairs)


def _alike(value: frozenset[str], was: frozenset[str]) -> bool:
    """Return whether both are numbers, or neither is: "30 seconds" and "src/" say different things of one subject."""
    return _has_digit(value) == _has_digit(was)


def _has_digit(words: Iterable[str]) -> bool:
    return any(word[0].isdigit() for word in words)


def _counts_otherwise(new: Subject, old: Subject) -> bool:
    """Return whether they are the same words with other numbers of the same things."""
    if not new.numbers or not new.skeleton or new.numbers == old.numbers or new.negative != old.negative:
        return False
    units = [unit for _, unit in new.numbers]
    return new.skeleton == old.skeleton and units == [unit for _, unit in old.numbers]


def _takes_back(new: Subject, old: Subject) -> float:
    topic = new.topic or (new.words if new.no_longer else frozenset())
    shared = len(topic & old.words)
    if not shared or (shared == 1 and len(topic) > _FEW):
        return 0.0
    share = shared / len(topic)
    return 0.9 * share if share >= (_HALF if new.topic else _NEAR) else 0.0


def _turns_round(new: Subject, old: Subject) -> float:
    """Return the certainty that something forbidden is now demanded or allowed, or the reverse."""
    if new.negative == old.negative or not new.words or not old.words or new.no_longer:
        return 0.0
    shared = len(new.words & old.words)
    alike = shared / min(len(new.words), len(old.words)) if new.permits else shared / len(new.words | old.words)
    return 0.8 * alike if alike >= _CLOSE else 0.0


def _corrects(new: Subject, old: Subject) -> float:
    if not new.corrects or are_elsewhere(new, old) or _of_other_things(new, old) or are_of_one_mould(new, old):
        return 0.0
    both, shared = new.words | old.words, len(new.words & old.words)
    alike, overlap = shared / len(both) if both else 0.0, shared / len(new.words) if new.words else 0.0
    if alike >= _HALF or (shared >= _FEW and overlap >= _NEAR):
        return 0.7 * alike if alike >= _HALF else 0.6 * overlap
    chosen = len(new.chosen & old.chosen)
    if chosen and chosen / len(new.chosen) >= _HALF and not old.negative:
        return _HALF
    units = {unit for _, unit in new.numbers} & {unit for _, unit in old.numbers} - {""}
    named = {word for word in new.words - units if not word[0].isdigit()}
    return _NEAR * 0.5 if units and named <= old.words else 0.0
