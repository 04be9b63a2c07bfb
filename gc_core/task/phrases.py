"""
Phrases by which demands, decisions, errors and their resolutions are recognised, derived from recorded sessions.

Every pattern consists of fixed words and bounded repeats, and is applied to single sentences, so all of it is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gc_core.task import rule_phrases as phrases
from gc_core.values.patterns import regex

SENTENCE_CHARS: Final = 560
"""The most characters of a sentence: a longer one is cut at a blank."""

MOST_SENTENCES: Final = 120
"""The sentences of a text that are read, half of them from either end: the middle was pasted."""

_ONLY_A_HEAD = 50
_ONLY_WORDS = 15
_DAY = r"(?:[a-zà-ÿ]|Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)"
"""Words after the number of a day or of a row, which do not begin a sentence."""

_TITLE = r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)"
_SENTENCE = regex(rf"[^\n]+?(?:(?:[!?]|(?<!\d){_TITLE}\.|(?<=\d)\.(?!\s{_DAY}))(?=\s)|[。！？]|(?=\n)|\Z)")
_BULLET = regex(r"\s*(?:[-*•>#]+\s+|\d{1,3}[.)]\s+)*")


def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, each once, in order; verbatim except for white space and bullets."""
    found: dict[str, None] = {}
    long = len(text) > SENTENCE_CHARS * MOST_SENTENCES
    half = SENTENCE_CHARS * MOST_SENTENCES // 2
    for part in (text[:half], text[-half:]) if long else (text,):
        for sentence in _SENTENCE.findall(part):
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


def user_chooses(sentence: str) -> bool:
    """Return whether a user's sentence chooses one of several options; the next step and today's are no choices."""
    if asks(sentence) or (phrases.RECENT.search(sentence) and not phrases.LASTING.search(sentence)):
        return False
    if _has(sentence, _SETTLED_STEMS) and _SETTLED.search(sentence):
        return True
    return _has(sentence, _CHOICE_STEMS) and _USER_CHOOSES.search(sentence) is not None


def corrects(sentence: str) -> bool:
    """Return whether a sentence may retract something."""
    return not asks(sentence) and _CORRECTING.search(sentence) is not None


def assistant_decides(sentence: str) -> bool:
    """Return whether an assistant's sentence settles how something is done; announcing the next look does not."""
    if asks(sentence):
        return False
    decides = _settles(sentence) or any(
        _has(sentence, stems) and pattern.search(sentence) for stems, pattern in _ASSISTANT_CHOOSES
    )
    if not decides:
        reason = _has(sentence, _REASON_STEMS) and _FOR_A_REASON.search(sentence)
        decides = bool(reason) and _WILL_DO.search(sentence) is not None
    return decides and not (_TO_SOMEBODY.search(sentence) or phrases.HEARSAY.search(sentence))


def _settles(sentence: str) -> bool:
    """Return whether someone states a choice, or an action with its reason."""
    if phrases.DECIDES.search(sentence):
        return True
    return phrases.BECAUSE.search(sentence) is not None and phrases.RESOLVES.search(sentence) is not None


def says_why(sentence: str) -> bool:
    """Return whether a sentence gives a reason."""
    told = _has(sentence, _REASON_STEMS) and _WHY.search(sentence) is not None
    return told or phrases.BECAUSE.search(sentence) is not None


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
_SETTLED_STEMS = ("decided", "decision", "choice", "chose", "settled", "agreed", "opt", "ruled", "rejected")
_CHOICE_STEMS = (
    *("let's", "lets", " with", "option", "we ", "we'll", "i'll", "i will", "i'd", "i would", " is ", "choose", "pick"),
    *("opt", "yes", "yeah", "yep", "sure", "ok", "perfect", "great", "please", "implement", "do ", "fix", "apply"),
    *("address", "take"),
)
_USE_STEMS = ("us", "with", "switch", "stick", "keep", "kept", "prefer", "mov", "stay")
_WAY_STEMS = (
    *("approach", "way", "fix", "option", "solution", "choice", "strategy", "design", "plan", "place", "move", "idea"),
    *("recommend", "decision", "better", "best", "simpler", "cleaner", "safer", "easier", "sense", "no need"),
)
_TURN_STEMS = ("instead", "for now", "until", "as is", "as-is", "unchanged", "approach", "way", "tack", "strategy")
_REASON_STEMS = (
    *("instead", "rather than", "because", "since", "so ", "in order", "given", "pattern", "as ", "without", "for now"),
    *("no longer", "not to", "consistent", "to avoid", "to prevent", "to ensure", "to match", "to keep", "avoids"),
    *("due to", "reason", " way", "keeps", "otherwise", "means", "therefore", "thus", "hence", "this makes"),
)
_FAILURE_STEMS = (
    *("fail", "issue", "problem", "bug", "cause", "error", "culprit", "broken", "crash", "wrong", "missing"),
    *("incorrect", "found", "work", "availab", "enough", "stuck", "timed out", "unable", "not able", "complain"),
    *("still", "stale", "undefined", "out of date", "exception", "traceback", "cannot find", "could not", "ends up"),
    *("mistakenly", "silently", "40", "41", "42", "50"),
)
_SUCCESS_STEMS = ("pass", "work", "fixed", "resolved", "solved", "succe", "compile", "clean", "green", "no more")

_CORRECTING = _any(
    "forget", "ignore", "drop", "scrap", "disregard", "discard", "lift", "never ?mind", "scratch", "no longer",
    "any ?more", "may", "can now", "feel free", "(?:is|it's) (?:fine|ok)", "allowed", "do(?:es not|esn't) apply",
    "go ahead", "actually", "(?:is|are) now", "correction", "on second thought", "instead",
)  # fmt: skip
_SETTLED = regex(
    r"\b(?:decided|(?:the|my) (?:decision|choice) (?:is|was)|chose|chosen|settled on|agreed|opted (?:for|to)"
    r"|opting for"
    r"|ruled out|rejected)\b",
    re.IGNORECASE,
)
_USER_CHOOSES = regex(
    r"\blet'?s (?:also |just |rather |instead |first )*(?:go|do|use|implement|start|stick|keep|try|focus|make|add|move"
    r"|switch|skip|leave|drop|remove|take|pick|choose|proceed|continue|put|call|rename|split|have|create|fix|merge)\b"
    r"|\b(?:go(?:ing)?|went|stick|proceed|go ahead|move forward) with\b|\b(?:we|i)(?:'ll| will) (?:use|take|go|keep)\b"
    r"|\b(?:implement|use|take|choose|pick|prefer|do|with|like) (?:the )?options? (?:\d|[a-d]\b)|^option \w\b"
    r"|\bis (?:the )?(?:right|best|better|way to go|correct)\b.{0,20}\b(?:approach|way|option|choice|go)\b"
    r"|\bi(?:'d| would) (?:rather|replace|go|pick|choose|use|do|keep|drop|remove|suggest|opt)\b"
    r"|(?<!if )(?<!how )(?<!what )\bwe (?:should|need to)\b(?! now\b)"
    r"|^(?:\w+,? ){0,3}(?<!if )(?<!how )(?<!what )we (?:could"
    r"|can)\b"
    r"|\bi (?:choose|pick|opt for)\b|\bi(?:'d| would) like to (?:use|do|go|take|proceed|choose)\b"
    r"|^(?:yes|yeah|yep|sure|ok(?:ay)?|perfect|great)\b[,.! ]*(?:please |then |let'?s |go ahead and )*"
    r"(?:do|proceed|go|use|cancel|book|change|update|upgrade|downgrade|keep|remove|make|apply|implement|add|fix"
    r"|exchange|return|refund|send|charge|pay|switch|drop|commit|create|modify)\b"
    r"|^please (?:go ahead|proceed|use)\b|^(?:implement|do|fix|apply|address|take) (?:#|all\b|both\b|\d)",
    re.IGNORECASE,
)
_TO_SOMEBODY = regex(
    r"\b(?:should|shall|could|would) (?:i|we) |^if you\b|\bwould you\b|\blet me know\b|\byou(?:'d| would) (?:like"
    r"|prefer)"
    r"|\bplease (?:confirm|provide|let|note|follow|check|try|reply|tell)\b|\bcontact(?:ing)?\b"
    r"|\byou (?:can|could|may|might|need to|will need)\b|\bwant me to\b"
    r"|\b(?:use|using)\s+(?:the |a |my )?[`'\"]?[\w-]+[`'\"]?\s+(?:tool|command|agent|skill|subagent)s?\b",
    re.IGNORECASE,
)
_PARTS = "best|right|simplest|cleanest|correct|better|proper|easiest|safest|cleaner|simpler|only"
_BEST = "best|right|simplest|cleanest|better|easiest|safest|cleaner|simpler"
_WAYS = "approach|way|fix|option|solution|choice|strategy|design|plan|place|move|idea"
_ASSISTANT_CHOOSES = (
    (_SETTLED_STEMS, _SETTLED),
    (
        _USE_STEMS,
        regex(
            r"\b(?:i|we|let'?s)\b.{0,40}\b(?:use|using|go with|going with|went with|switch\w*|stick\w*|keep|kept"
            r"|prefer)\b"
            r".{0,200}\b(?:instead|rather than|because|since|for now|so that|to avoid|as it|as is)\b"
            r"|\b(?:i|we)(?:'ll| will|'m going to|'re going to) (?:use|go with|stick with|stay with|switch to|keep)\b"
            r"|\b(?:going|went) with\b|\bsticking with\b|\b(?:switching|switched|(?:i'm|we're) moving"
            r"|i(?:'ve)? moved) (?:to|from)\b"
            r"|^(?:using|use) .{2,80}\b(?:instead|rather than)\b|^switch(?:ing)? (?:to|from)\b|\bi'm using\b",
            re.IGNORECASE,
        ),
    ),
    (
        _WAY_STEMS,
        regex(
            rf"\b(?:the|my|our|a) (?:(?:{_PARTS}) )?(?:{_WAYS}) (?:is|was|will be|would be|here is"
            rf"|should be)(?: still| simply| just)? "
            r"(?:not )?(?:to|that|in|at|option|using|only|`).{8,}"
            rf"|\b(?:the|my|our) (?:{_BEST}) (?:{_WAYS})(?: for [\w `'./-]{{2,60}}?)?"
            r" (?:is|was|will be|would be) .{4,}"
            r"|^\W*(?:recommendation|decision|approach|recommended)\W{0,3}:\W{0,4}\w.{12,}"
            r"|\b(?:the|my) fix(?: here)? is to\b|\bi(?:'d| would)? recommend (?:using|keeping|going|option|adding"
            r"|removing)"
            r"|\b(?:it's|it is|it would be|would be|is) (?:better|best|simpler|cleaner|safer|easier) to\b"
            r"|\bmakes? (?:more |most )?sense to\b(?!.*\bwhat\b)|\b(?:no need for|there's no need to)\b",
            re.IGNORECASE,
        ),
    ),
    (
        _TURN_STEMS,
        regex(
            r"^instead of\b.{4,}|\binstead,? (?:i|we|let)\b"
            r"|\bfor now,? (?:let me|let's|i'll|i will|we'll|we|skip|keep|use|just)\b"
            r"|^(?:skip|keep|leave|option \w)\b.{3,}\b(?:until|for now|as[- ]is|unchanged)\b"
            r"|^\W*option \w\b.{0,40}\bfor now\b"
            r"|\b(?:try|take) (?:a different|another) (?:approach|way|tack|strategy)\b",
            re.IGNORECASE,
        ),
    ),
)
_WILL_DO = regex(
    r"\b(?:i'll|i will|i'm going to|let me|let's|we'll|we will|we should|i should|i need to|we need to|i can|we can)"
    r"(?: (?:actually|just|simply|instead|also|now|first|then|not|only|therefore|keep it|try to))* "
    r"(?:use|reuse|skip|keep|leave|revert|replace|convert|switch|stick|remove|drop|treat|store|follow|mirror|extract|"
    r"split|create|add|make|put|take|refactor|delegate|change|move|rename|define|implement|rewrite|write|update|set|"
    r"pass|return|wrap|apply|simplify|inline|avoid|restore|fix|clear|modify|adjust|include|exclude|combine|merge"
    r"|undo)\b"
    r"|^\W*(?:updated|changed|replaced|used|moved|renamed|converted|kept|removed|simplified)\b"
    r"|^(?:should|need to|needs to) (?:use|be|set|return|check)\b",
    re.IGNORECASE,
)
_FOR_A_REASON = regex(
    r"\b(?:instead|rather than|because|since|so that|to avoid|in order to|given that|following the same"
    r"|the same pattern|as (?:the|it|this|they|we|requested|you)|to prevent|without|so (?:it|they|we|the|this|i|both)"
    r"|for now|no longer|not to|to ensure|consistent with|to match|to keep)\b",
    re.IGNORECASE,
)
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
