"""
Phrases by which reasons, errors and their resolutions are recognised, derived from recorded sessions.

Every pattern consists of fixed words and bounded repeats, and is applied to single sentences, so all of it is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gc_core.values.patterns import regex
from gc_core.values.sentences import split_sentences

SENTENCE_CHARS: Final = 560
"""The most characters of a sentence: a longer one is cut at a blank."""

MOST_SENTENCES: Final = 120
"""The sentences of a text that are read, half of them from either end: the middle was pasted."""

_ONLY_A_HEAD = 50
_ONLY_WORDS = 15
_BULLET = regex(r"\s*(?:[-*•>#]+\s+|\d{1,3}[.)]\s+)*")


def words_of(*languages: str, dense: str = "") -> re.Pattern[str]:
    """Return a pattern for whole words of alphabetic languages, and plain letters for languages without blanks."""
    spaced = "|".join(language.strip("|") for language in languages)
    every = rf"(?<![\w'-])(?:{spaced})(?![\w'-])" + (f"|{dense}" if dense else "")
    return regex(every, re.IGNORECASE)


BECAUSE: Final = words_of(
    "because|since|so (?:i|we)|as (?:it|the|they|there|this|we)|so that|due to|owing to|on account of|given(?:"
    " that)?|in view of"
    "|seeing (?:that|how)|in order (?:to|that)|the reason|reason:|which means|that's why|that is why|therefore|for"
    " that reason"
    "|thanks to|considering",
    "weil|da (?:das|die|der|es|wir|sonst)|denn|deshalb|deswegen|daher|wegen|damit|sodass|aufgrund|um",
    "parce que?|car|puisque|comme|afin (?:de|que)|pour que|c'est pourquoi|grâce à|à cause de|vu que|étant donné",
    "porque|ya que|puesto que|como|para que|debido a|dado que|por eso|gracias a|pues",
    "perché|visto che|poiché|dato che|siccome|così|a causa di|quindi|affinché",
    "porque|pois|já que|como|para que|devido a|dado que|por isso|uma vez que|visto que",
    "omdat|want|aangezien|zodat|daarom|vanwege|doordat|gezien",
    "bo|ponieważ|gdyż|dlatego|aby|żeby|ze względu na|skoro",
    "потому что|так как|поскольку|чтобы|поэтому|из-за|ибо|ведь",
    "çünkü|zira|için|diye|dolayı|yüzünden|nedeniyle|böylece",
    dense="因为|由于|这样|以便|所以|因此|免得|ため|ので|から|なぜなら|때문|거든|니까|므로|위해|아서|어서",
)
"""It gives a reason."""


def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, each once, in order; verbatim except for white space and bullets."""
    found: dict[str, None] = {}
    long = len(text) > SENTENCE_CHARS * MOST_SENTENCES
    half = SENTENCE_CHARS * MOST_SENTENCES // 2
    for part in (text[:half], text[-half:]) if long else (text,):
        for sentence in split_sentences(part):
            line = _BULLET.sub("", " ".join(sentence.split()), count=1)
            for piece in _pieces(line):
                found[piece] = None
    every = tuple(found)
    half = MOST_SENTENCES // 2
    return every if len(every) <= MOST_SENTENCES else (*every[:half], *every[-half:])


def straight(sentence: str) -> str:
    """Return a sentence as the patterns read it, with straight apostrophes."""
    return sentence.replace("’", "'") if "’" in sentence else sentence


def asks(sentence: str) -> bool:
    """Return whether a sentence is a question."""
    return sentence.rstrip("\"'”*_) ").endswith(("?", "？", "؟"))


def says_why(sentence: str) -> bool:
    """Return whether a sentence gives a reason."""
    return _WHY.search(sentence) is not None or BECAUSE.search(sentence) is not None


def goes_on(sentence: str) -> bool:
    """Return whether a sentence continues the one before it: after a choice it usually gives the reason."""
    return _GOES_ON.match(sentence) is not None


def user_tells_failure(sentence: str) -> bool:
    """Return whether a user's sentence says that something is wrong; a following question does not matter."""
    return tells_failure(_ASKED_BEHIND.split(sentence, maxsplit=1)[0])


def tells_failure(sentence: str) -> bool:
    """Return whether a sentence says that something is wrong: not that it might be, nor that it is being looked for."""
    if asks(sentence) or (sentence.endswith(":") and len(sentence) <= _ONLY_A_HEAD):
        return False
    fails = _has(sentence, _FAILURE_STEMS) and _FAILS.search(sentence)
    return bool(fails) and _NO_FAILURE.search(sentence) is None


def tells_fix(sentence: str) -> bool:
    """Return whether a sentence says how something was overcome, or what had caused it."""
    if asks(sentence) or len(sentence) < _ONLY_WORDS or sentence.endswith(":"):
        return False
    return _FIXED.search(sentence) is not None and _NO_FIX.search(sentence) is None


def names_error(sentence: str) -> bool:
    """Return whether a sentence about a fix also names what was wrong."""
    return _ERROR_LIKE.search(sentence) is not None


def tells_success(sentence: str) -> bool:
    """Return whether a sentence says that what failed works now."""
    if asks(sentence) or not _has(sentence, _SUCCESS_STEMS):
        return False
    return _WORKS.search(sentence) is not None and _NO_FIX.search(sentence) is None


# -- inside ----------------------------------------------------------------------------------------------------------


def _has(sentence: str, stems: Sequence[str]) -> bool:
    """Return whether a sentence contains one of these strings: a hundred times cheaper than a pattern."""
    lower = sentence.lower()
    for stem in stems:  # noqa: SIM110 - asked some hundred times a text
        if stem in lower:
            return True
    return False


def _pieces(line: str) -> Iterator[str]:
    while len(line) > SENTENCE_CHARS:
        cut = line.rfind(" ", SENTENCE_CHARS // 2, SENTENCE_CHARS)
        cut = cut if cut > 0 else SENTENCE_CHARS
        yield line[:cut]
        line = line[cut:].lstrip()
    if line:
        yield line


def _any(*words: str, start: str = r"(?<![\w./-])", end: str = r"(?![\w(])") -> re.Pattern[str]:
    return regex(f"{start}(?:{'|'.join(words)}){end}", re.IGNORECASE)


# Letters without which the pattern of that name cannot match.
_FAILURE_STEMS = (
    *("fail", "issue", "problem", "bug", "cause", "error", "culprit", "broken", "crash", "wrong", "missing"),
    *("incorrect", "found", "work", "availab", "enough", "stuck", "timed out", "unable", "not able", "complain"),
    *("still", "stale", "undefined", "out of date", "exception", "traceback", "cannot find", "could not", "ends up"),
    *("mistakenly", "silently", "40", "41", "42", "50"),
)
_SUCCESS_STEMS = ("pass", "work", "fixed", "resolved", "solved", "succe", "compile", "clean", "green", "no more")

_WHY = _any(
    "because", "so that", "since", "due to", "the reason", "in order to", "this avoids", "that avoids", "to avoid",
    "this way", "that way", "this keeps", "otherwise", "which means", "therefore", "given (?:that|this)", "this means",
    "as it", "as the", "thus", "hence", "so we", "so the", "so it(?:'s)?", "to prevent", "to ensure", "this makes",
)  # fmt: skip
_GOES_ON = regex(r"(?:it|this|that|they|otherwise|then)(?:'s)?\b(?!.{0,30}[:?]$)", re.IGNORECASE)
_ASKED_BEHIND = regex(r"[,;.]? (?:can|could|would) you\b|[,;.] why\b|[,;.] please\b", re.IGNORECASE)
_THING = "issue|problem|bug|root cause|cause|error|culprit|failure"
_FAILS = regex(
    rf"\b(?:the|a|another|this|main|real|new|critical|subtle|only) (?:\w+ ){{0,2}}(?:{_THING})s?(?: here)?"
    r"(?: with [\w `'./-]{2,40})? (?:is|was|are|were|seems|appears|lies|occur\w*|comes|came|happens|says"
    r"|trace shows)\b"
    rf"|\bthere(?:'s| is| are| was| were) (?:still |also )?(?:an?|\d{{1,9}}|some|several)? ?(?:\w+ ){{0,2}}(?:{_THING}"
    r"|test failures?|lint (?:errors?|issues?))s?\b"
    rf"|^\W*(?:{_THING})s?\W{{0,3}}:\W{{0,3}}\w.{{15,}}|\b(?:is|are) (?:also |actually )?an? (?:\w+ )?(?:bug|problem)\b"
    rf"|\b(?:real|critical|subtle|actual) (?:bug|issue|problem)\b.{{12,}}|\bcauses? (?:the|an?) .{{0,60}}(?:{_THING})\b"
    r"|\b(?:i found|found|i see|we have|there's|hit|got|getting|shows?|showing) (?:an?|one|the|this|some|\d+)"
    rf" (?:\w+ ){{0,2}}(?:{_THING})s?\b.{{12,}}"
    r"|\b(?:is|are|still|now|keeps?|tests?|build|call|request|command) (?:\w+ ){0,2}(?:fail(?:s|ed|ing)|broken"
    r"|crash\w*)\b"
    r"|\bfail(?:s|ed)? (?:to|because|with|due|since|when|as|on)\b|\bhas failed\b|\bfailed\b.{0,30}\berror\b"
    r"|\b(?:unable|not able) to\b.{3,80}\b(?:due to|because|since|as)\b|\bcomplains?\b|\btimed out\b|\bgot stuck\b"
    r"|\b(?:do(?:es)?n't|do not|does not|did(?:n't| not)|isn't|is not|aren't|not) work(?:ing)?\b"
    r"|\b(?:return(?:s|ed)|throw(?:s|n)?|raise[sd]?|gave|gives|shows?|showing) (?:an? |some )?(?:\w+ ){0,2}"
    r"(?:errors?|exceptions?|[45]\d\d)\b"
    r"|\b(?:is|are|was|were) (?:\w+ )?(?:incorrectly|wrongly|mistakenly|silently)\b"
    r"|\b(?:is|are|was|were) (?:wrong|missing|incorrect|not found|out of date|stale|undefined)\b"
    r"|\b(?:not|isn't|aren't|no) (?:enough|available|found)\b|\bcannot find\b|\bcould not (?:find|be)\b"
    r"|\bends up (?:not )?\w+ing\b|\bstill (?:display|show|see|get|happen|appear)\w*\b"
    r"|(?-i:(?<![\w`/])[A-Z]\w*(?:Error|Exception)\b)|^error\b|\berror:|\btraceback\b|\b(?:HTTP "
    r"|status )?[45]\d\d (?:error|response|status)\b",
    re.IGNORECASE,
)
_NO_FAILURE = regex(
    r"\b(?:no|any|without|zero|0|avoid|prevent|handle|handles|handling|in case of) (?:\w+ ){0,2}"
    r"(?:errors?|issues?|problems?|bugs?|failures?|exceptions?)\b"
    r"|^(?:no problem|if|when|whether|in case|once|unless)\b|\b(?:let me|let's|i'll|i will|i need to|now|to) "
    r"(?:\w+ ){0,2}(?:check|see|look|verify|find|understand|investigate|debug|figure|fix|address|resolve|reproduce"
    r"|test"
    r"|read|examine|determine|confirm)\b"
    r"|\b(?:might|may|could|would|should|can) (?:\w+ ){0,2}(?:fail|be|cause|break|occur|happen|crash|error)\b"
    r"|\bbug fix\b|\b(?:nothing|ensures?|as expected|even if|unrelated)\b|\bapologi[sz]e\b|\bif (?:you|there|the|it"
    r"|any|they|this)\b|\b(?:tests?|verif\w+|checks?) (?:that|if|whether|for)\b"
    r"|\byour (?:phone|device)\b|\breturns? (?:an? )?error (?:if|when)\b|\bexpected\b.{0,20}\bfail"
    r"|\bfixed\b|\bresolved\b|\bno longer\b",
    re.IGNORECASE,
)
_FIXED = regex(
    r"(?<![\w-])(?:fixed|resolved|solved|the fix|root cause|caused by|workaround|worked around|fixes"
    r"|(?:the|this|that|real|actual|main) (?:\w+ )?(?:issue|problem|bug|cause|error|reason|culprit) was"
    r"|solution was|turned out|turns out|was because|was due to|this was|failed because|g[eo]ts? around"
    r"|works? around)(?![\w(-])",
    re.IGNORECASE,
)
_ERROR_LIKE = regex(
    r"\b\w*(?:Error|Exception|Warning)\b|\berrors?\b|\bfail\w*|\b(?:E[A-Z]{4,}|[A-Z]+\d{3,})\b|\bcrash"
    r"|\b(?:issue|problem|bug|cause|culprit) (?:\w+ )?was\b"
)
_WORKS = regex(
    r"\b(?:all|the|both|these|those)? ?(?:\w+ ){0,2}(?:tests?|checks?|lint(?:ing|er)?|build|suite|code"
    r"|types?) (?:\w+ )?"
    r"(?:pass(?:es|ed|ing)?|succeeds?|succeeded|compiles?|is clean|are green)\b"
    r"|\b(?:is|are|it's|now) (?:\w+ )?(?:working|works|fixed|resolved|passing)\b|\bworks? (?:now|as expected"
    r"|correctly)\b"
    r"|\ball pass(?:es|ing)?\b|\bno more (?:errors|failures)\b|^(?:\W*)(?:fixed|resolved|solved)\b",
    re.IGNORECASE,
)
_NO_FIX = regex(
    r"\b(?:let me|i'll|will|needs?|should|if|not|until|to be fixed|but|however|except|may|might|would|to (?:verify"
    r"|check"
    r"|see|make sure|ensure|confirm))\b|n't\b",
    re.IGNORECASE,
)
