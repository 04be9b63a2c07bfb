"""
What a user states that applies beyond the next step, and in which form.

People state rules in any words, so no words are searched: a user's own short sentence counts unless its form shows that
it is something else: a question, a greeting, an answer, news of what just happened, someone else's words, or an order
for the next step. What a list of words misses is kept, and ranks last.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Iterator

import attrs

from gc_core.relevance.task_messages import sets_task
from gc_core.task import passing, stances
from gc_core.task import phrases as wording
from gc_core.task import rule_phrases as phrases
from gc_core.task.withdrawals import withdrawal_in
from gc_core.values.patterns import regex

MOST_SENTENCES = 24
"""The most sentences of a message in which a mere statement counts: a longer message is a document."""

MOST_ANSWER = 12
"""The most words of a message that answers what the agent asked."""

STATEMENT_CHARS = 240
"""The most characters of a mere statement."""

_FEWEST_WORDS, _FEWEST_LETTERS = 2, 5
_QUOTED_WORDS, _QUOTED_LETTERS = 4, 8
_LABEL_CHARS = 80
_GONE = "\ufffc"
"""Replaces a passage of someone else's words."""

_PASSAGE = regex(r'"[^"\n]{12,2000}"|“[^”]{12,2000}”|„[^“”]{12,2000}[“”]|«[^»]{12,2000}»|[「『][^」』]{6,2000}[」』]')
_DENSE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MACHINE = regex(
    r"\s*(?:[<>]|\"[\w-]+\":|hint:|\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s|\d{4}-\d\d-\d\d[T ]"
    r"|(?:npm|yarn|pip|git|gcc|make|cargo|error|warn(?:ing)?|info|debug|fatal|traceback|exception)\b\W*(?:WARN|ERR"
    r"|[:\[(!]| \d)"
    r"|Traceback\b|(?:FATAL|FEHLER|ERREUR|ERRO|ERRORE|FOUT|BŁĄD|ОШИБКА|HATA|LÍNEA|LIGNE|ZEILE|LINE|DETAIL"
    r"|HINT)(?: \d+)?: "
    r"|(?:art\.|§|clause|section|article|abschnitt|artikel|artículo|articolo|artigo"
    r"|step|schritt|étape|paso|passo|stap|krok|шаг|adım) ?\d+(?:[.: ]| -)(?! (?:is|are|has|must)\b)"
    r"|(?:внимание|dikkat|uwaga|achtung|attenzione|atención|atenção|let op)!"
    r"|File \"|at [\w.$<>]+ ?\(|[+-]{3} |@@ |\$ |//|[│┃➜❯]|-\w, --\w|[\w-]+: ['\"]|\w+\.\.\w+\s)",
    re.IGNORECASE,
)
_SETTING_LINE = regex(r"[ \t]{1,16}[a-z][\w.-]*: \S")
_HEADER = regex(
    r"(?:from|to|cc|subject|date|von|an|betreff|datum|de|à|objet|para|asunto|fecha|da|a|oggetto|assunto|data|van|aan"
    r"|onderwerp|od|do|temat|от|кому|тема|дата|kimden|kime|konu|发件人|收件人|主题|差出人|宛先|件名|보낸 사람"
    r"|받는 사람|제목)"
    r"\s?[:：]\s*\S",
    re.IGNORECASE,
)
"""A line at the head of a letter; two of them begin one."""

_LABEL = regex(rf"^[^:：]{{1,{_LABEL_CHARS}}}[:：]\s*")
_SMILE = regex(r"[:;]-?[)D(P]\W*$|[\U0001F300-\U0001FAFF]\W*$")
_PATH = regex(r"(?<!\S)(?:[~.]{0,2}/|[\w.-]+/[\w.-]+/)\S*")
_CLAUSE = regex(r"[:;]\s+|\s[—–]\s+")
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


@attrs.frozen
class Sentence:
    """A user's sentence, verbatim except for white space; its form, or None if it states nothing."""

    text: str
    form: Form | None


def sentences_in(text: str, *, asked: bool = False) -> list[Sentence]:
    """
    Return the sentences of a user's own words, without quotations; linear.

    Mere statements do not count in a document, beside a quotation on its line, nor in a short answer to what the agent
    had ``asked``.
    """
    own = _own(text)
    sentences = wording.sentences_of(own)
    beside = {each for line in own.split("\n") if _GONE in line for each in wording.sentences_of(line)}
    states = not (asked and len(text.split()) <= MOST_ANSWER) and len(sentences) <= MOST_SENTENCES
    found = [_sentence(each) for each in sentences if _GONE not in each]
    return [
        Sentence(each.text, None) if each.form is Form.STATEMENT and (not states or each.text in beside) else each
        for each in found
    ]


@functools.lru_cache(maxsize=4_096)
def form_of(sentence: str) -> Form | None:
    """Return the form in which a user's sentence states something; None if it does not. Cached; linear."""
    plain = _spelled(wording.straight(sentence).strip())
    if not _is_said(plain) or phrases.UNKNOWING.search(plain) or stances.is_unadopted(plain):
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


# -- quotations -----------------------------------------------------------------------------------------------------


def _own(text: str) -> str:
    """Return a text with a mark for each passage of someone else's words: quotations, excerpts, logs, chats."""
    marked = _PASSAGE.sub(lambda found: _GONE if _is_passage(found[0]) else found[0], text)
    return "\n".join(_own_lines(marked.split("\n")))


def _is_passage(quotation: str) -> bool:
    return len(quotation.split()) >= _QUOTED_WORDS or len(_DENSE.findall(quotation)) >= _QUOTED_LETTERS


def _own_lines(lines: list[str]) -> Iterator[str]:
    introduced = False
    for place, line in enumerate(lines):
        if _HEADER.match(line) and _HEADER.match("".join(lines[place + 1 : place + 2])):
            yield _GONE
            return
        if not line.strip():
            introduced = False
        if introduced or _MACHINE.match(line) or _SETTING_LINE.match(line):
            yield _GONE
            continue
        label = _LABEL.match(line)
        sourced = label and (phrases.SOURCE.search(label[0]) or phrases.NOTICE.search(label[0]))
        if label and sourced and not phrases.LAYS_DOWN.search(label[0]):
            introduced = label.end() >= len(line.rstrip()) or _GONE in line
            yield _GONE
            continue
        yield line


# -- forms ---------------------------------------------------------------------------------------------------


def _sentence(text: str) -> Sentence:
    """Return a sentence with its form, or what it states after a colon or a dash."""
    form = form_of(text)
    other = form is None and _is_of_others(text)
    cut = _CLAUSE.search(text) if form is None and not other else None
    if cut and not phrases.REQUESTS.search(text[: cut.start()]):
        rest = text[cut.end() :].strip()
        form = form_of(rest)
        text = rest if form is not None else text
    if form is None and not other:
        form = _concluded(text)
    if form is Form.STATEMENT and len(text) > STATEMENT_CHARS:
        form = None
    return Sentence(text, form)


def _is_of_others(text: str) -> bool:
    """Return whether it is a question, a document's, someone else's or imagined: no part of it is a rule."""
    asked = wording.asks(text) or phrases.DOCUMENT.search(text) is not None
    return asked or stances.is_unadopted(wording.straight(text))


def _concluded(text: str) -> Form | None:
    """Return the conclusion of news: what follows with a "so", or what is forbidden."""
    end = phrases.THUS.search(text)
    form = form_of(text[end.end() :].strip()) if end else None
    return form if form in {Form.NORM, Form.ORDER} or (end and end["so"]) else None


def _is_said(plain: str) -> bool:
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
