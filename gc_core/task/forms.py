"""
In which form a sentence states something, as its words indicate: closed lists of words, in twelve languages.

It is one cue among others of whether a sentence is a rule, and says how binding a rule is.
"""

from __future__ import annotations

import enum
import functools
import re

from gc_core.relevance.task_messages import sets_task
from gc_core.task import passing, stances
from gc_core.task import phrases as wording
from gc_core.task import rule_phrases as phrases
from gc_core.task.withdrawals import withdrawal_in
from gc_core.values.patterns import regex

_FEWEST_WORDS, _FEWEST_LETTERS = 2, 5
_DENSE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SMILE = regex(r"[:;]-?[)D(P]\W*$|[\U0001F300-\U0001FAFF]\W*$")
_PATH = regex(r"(?<!\S)(?:[~.]{0,2}/|[\w.-]+/[\w.-]+/)\S*")
_SETTING = regex(
    r"^(?:with|given|considering|based|after|once|if|when|since|as|while|before)\b[^,]{2,60},\s+", re.IGNORECASE
)
_WISH = regex(
    r"^(?:i|we)(?:'d| would)?(?: (?:really|just|also|only|still|do|now))* (?:want|need|like|love|ask|expect) (?:you"
    r" )?to ",
    re.IGNORECASE,
)
_NO = regex(r"^\W*(?:(?:no|nope|nah|nein|ne|nö|non|não|nie|nee|нет|hayır|아니(?:요|오)?)\b\W*)+", re.IGNORECASE)
_HURRIED = regex(
    r"\b((?:do(?!nt (?:le|la|les|il|elle|on|nous|vous|je|tu|un|une)\b)|does|did|is|are|was|were|ca|wo|would|could"
    r"|should"
    r"|have|has|had)n(?=t\b)|(?:that|there|what)(?=s\b)|(?:you|they)(?=[rv]e\b)|(?:i|we)(?=ve\b)"
    r"|i(?=m (?:not|on|at|a|just|still|only|so|also|back|\w+ing)\b))",
    re.IGNORECASE,
)
_SAYS_NOTHING = (
    *(phrases.QUERIES, phrases.INTERJECTIONS, phrases.FRAGMENT),
    *(phrases.POINTS, phrases.SYMPTOM, passing.REPLIES, passing.MOMENT),
)
"""What lays nothing down, unless a strong word says that it does."""
_TELLS = (phrases.MYSELF, phrases.HAPPENED, phrases.GUESSES, phrases.TEMPORARY)
"""What is told so is news, also where it says of how much it is true."""
_COMPOUND = regex(r"(?:pull|merge|change) requests?\b", re.IGNORECASE)
_FIRST = regex(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HAS_VERB = regex(
    r"^(?!(?:the|a|an|all|any|each|every|my|our|your|this|that|these|those|me|it)\b)(?:(?!to\b)[\w.'’/-]+ ){0,3}"
    r"(?:is|are|has|have|must|can|may|should|will|needs?|goes|runs|gets?|stays?)\b",
    re.IGNORECASE,
)
"""What precedes the verb is the subject of the sentence: "port 8443 is taken"."""
_DEFINITE = regex(
    r"^(?:me |us |back |up |out |down |of |at |for |with )*(?:the|this|that|these|those|it|them|a|an|one|two|three"
    r"|another|both|my|your(?! (?:\w+ )?\w+s\b)|our|how|what|why|where|which|if|whether|something|everything|\d)\b",
    re.IGNORECASE,
)
_EACH = regex(
    r"\b(?:each|every|any|jede[rsnm]?|stets|chaque|cada|ogni|elke?|każd\w{1,3}|кажд\w{2}|hep|her)\b|每|毎"
    r"|마다",
    re.IGNORECASE,
)
_AT_HAND = regex(r"\b(?:the|this|these|those|it)\b", re.IGNORECASE)


class Form(enum.IntEnum):
    """The form of a statement, the most binding first."""

    NORM = 0
    """It says what must, may not, always or never is."""

    ORDER = 1
    """It tells the agent how to work, beyond the next step."""

    PREFERENCE = 2
    """It states a preference."""

    CORRECTION = 3
    """It corrects something."""

    STATEMENT = 4
    """It describes something."""


@functools.lru_cache(maxsize=4_096)
def form_of(sentence: str) -> Form | None:
    """Return the form in which a user's sentence states something; None if it does not. Cached; linear."""
    plain = _spelled(wording.straight(sentence).strip())
    if not is_said(plain) or phrases.UNKNOWING.search(plain) or stances.is_unadopted(plain):
        return None
    binding = phrases.NORM.search(plain) is not None
    if _is_taken_back(plain) or _is_passing(plain, binding):
        return None
    form = _marked(plain)
    agreed = phrases.YES.match(plain)
    if agreed:
        rest = form_of(plain[agreed.end() :].lstrip(" ,.!;:-"))
        return rest if rest in {Form.NORM, Form.ORDER, Form.PREFERENCE} and (binding or rest > Form.NORM) else None
    if phrases.CORRECTS.match(plain):
        return None if form is Form.CORRECTION and _contradicts(plain) else Form.CORRECTION
    return None if form is not Form.CORRECTION and _is_news(plain, form) else _in_kind(plain, _ordered(plain, form))


def _is_taken_back(plain: str) -> bool:
    """Return whether it only takes something back."""
    withdrawn = withdrawal_in(plain)
    return withdrawn is not None and form_of(withdrawn.instead) is None


def _is_passing(plain: str, binding: bool) -> bool:
    """Return whether it says nothing, orders one step, or is a joke; what applies from now on does not."""
    if not binding and any(pattern.search(plain) for pattern in _SAYS_NOTHING):
        return True
    if phrases.LASTING.search(plain):
        return False
    if passing.LAUGHS.search(plain):
        return True
    if passing.ERRAND.search(plain) and not phrases.GENERAL.search(plain):
        return True
    return (
        not (binding or phrases.GENERAL.search(plain) or _EACH.search(plain))
        and passing.ONE_STEP.search(plain) is not None
    )


def _in_kind(plain: str, form: Form | None) -> Form | None:
    """Return the form, adjusted: exclamations may be small talk, and what someone wants done is not a way to work."""
    if form is Form.STATEMENT and plain.endswith(("!", "！")):
        return None
    return Form.PREFERENCE if form is Form.ORDER and _WISH.match(plain) else form


def is_said(plain: str) -> bool:
    """
    Return whether it is a whole sentence of someone talking about a task: no question, heading,
    document or small talk.
    """
    said = _PATH.sub("", phrases.ADDRESS.sub("", plain))
    if len(_FIRST.findall(said)) < _FEWEST_WORDS and len(_DENSE.findall(said)) < _FEWEST_LETTERS:
        return False
    if (
        plain.endswith((":", "："))
        or wording.asks(plain)
        or phrases.ASKS.search(plain)
        or phrases.DOCUMENT.search(plain)
        or (phrases.PARTIES.search(plain) and phrases.NORM.search(plain))
    ):
        return False
    return sets_task(plain) and not phrases.CHATS.search(plain) and not _SMILE.search(plain)


def _marked(plain: str) -> Form | None:
    """Return the form that its words indicate, or None."""
    if phrases.CORRECTS.search(plain):
        return Form.CORRECTION
    if phrases.REFUSES.search(plain) or phrases.PREFERS.search(plain):
        return Form.PREFERENCE
    return Form.NORM if phrases.NORM.search(plain) or phrases.EXTENT.search(plain) else None


def _is_news(plain: str, form: Form | None) -> bool:
    """Return whether it only reports what someone did, what just happened, or that something is wrong."""
    if phrases.RECENT.search(plain):
        return phrases.LASTING.search(plain) is None
    if phrases.WANTS.match(phrases.ADDRESS.sub("", plain)):
        return False
    if form is not None and (form is Form.PREFERENCE or phrases.NORM.search(plain)):
        return form is not Form.PREFERENCE and phrases.ONESELF.search(phrases.ADDRESS.sub("", plain)) is not None
    if any(pattern.search(plain) for pattern in _TELLS):
        return True
    if form is not None:
        return phrases.ONESELF.search(phrases.ADDRESS.sub("", plain)) is not None
    told = any(pattern.search(plain) for pattern in (phrases.PAST, phrases.LEANS, phrases.FEELS))
    return told or wording.user_tells_failure(plain) or wording.tells_success(plain)


def _contradicts(plain: str) -> bool:
    """Return whether it contradicts what was said of the past: a correction of what is to be says nothing of it."""
    rest = _NO.sub("", plain)
    return rest != plain and any(
        pattern.search(rest) for pattern in (phrases.MYSELF, phrases.HAPPENED, phrases.PAST, phrases.LEANS)
    )


def _ordered(plain: str, form: Form | None) -> Form | None:
    """Return its form, unless it orders one step."""
    order = _SETTING.sub("", phrases.ADDRESS.sub("", plain))
    if (phrases.REQUESTS.search(plain) or phrases.REQUESTS.search(order)) and not phrases.LASTING.search(plain):
        return None
    if phrases.LASTING.search(plain):
        return _at_least(form, Form.ORDER)
    verb = None if _COMPOUND.match(order) else _FIRST.match(_WISH.sub("", order))
    word, rest = (verb[0].lower(), verb.string[verb.end() :].strip()) if verb else ("", "")
    if word in phrases.LASTING_VERBS:
        return None if phrases.THIS_ONE.search(rest) and form is None else _at_least(form, Form.ORDER)
    is_step = form is not Form.NORM and _is_favour(plain)
    if not is_step and (word not in phrases.STEP_VERBS | phrases.EITHER_VERBS or _HAS_VERB.match(rest)):
        return Form.STATEMENT if form is None else form
    if (
        word in phrases.EITHER_VERBS
        and not phrases.THIS_ONE.search(rest)
        and (_is_general(plain, form) or not _DEFINITE.match(rest))
    ):
        return _at_least(form, Form.ORDER)
    again = (
        (phrases.GENERAL.search(plain) or _is_of_each(rest))
        and not phrases.THIS_ONE.search(rest)
        and not phrases.DEICTIC.search(rest)
    )
    return _at_least(form, Form.ORDER) if again else None


def _is_of_each(rest: str) -> bool:
    """Return whether an order is for each of a kind, and names nothing at hand."""
    return _EACH.match(rest) is not None and _AT_HAND.search(rest) is None


def _is_general(plain: str, form: Form | None) -> bool:
    """Return whether it is marked by more than a word for all of something: all of what is at hand is one step."""
    if form is Form.NORM:
        return phrases.NORM.search(plain) is not None or _EACH.search(plain) is not None
    return form is not None


def _is_favour(plain: str) -> bool:
    """Return whether it asks for one thing, by softening words, or by what is at hand or soon."""
    begs = phrases.BEGS_DENSE.search(plain) and phrases.SOON_DENSE.search(plain)
    return bool(begs) or any(
        pattern.search(plain) for pattern in (phrases.STEP_DENSE, phrases.SOFTENED, phrases.POINTED)
    )


def _spelled(plain: str) -> str:
    """Return English with the apostrophes that hurried writers leave out."""
    return _HURRIED.sub(r"\1'", plain)


def _at_least(form: Form | None, other: Form) -> Form:
    return other if form is None else min(form, other)
