"""
What a user states that applies beyond the next step, and in which form.

People state rules in any words, so no list of words decides: a linear model that was learned from labelled messages
does (``rule_model``). Whose words a sentence is, is decided here: what a user quotes or pastes is not theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from gc_core.task import phrases as wording
from gc_core.task import rule_phrases as phrases
from gc_core.task.forms import Form, form_of
from gc_core.task.rule_model import rule_model
from gc_core.values.patterns import regex

MOST_SENTENCES = 24
"""The most sentences of a message in which a mere statement counts: a longer message is a document."""

MOST_ANSWER = 12
"""The most words of a message that answers what the agent asked."""

STATEMENT_CHARS = 240
"""The most characters of a mere statement."""

_QUOTED_WORDS, _QUOTED_LETTERS = 4, 8
_LABEL_CHARS = 80
_GONE = "\ufffc"
"""Replaces a passage of someone else's words."""

_DENSE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PASSAGE = regex(r'"[^"\n]{12,2000}"|“[^”]{12,2000}”|„[^“”]{12,2000}[“”]|«[^»]{12,2000}»|[「『][^」』]{6,2000}[」』]')
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
    every = wording.sentences_of(own)
    beside = {each for line in own.split("\n") if _GONE in line for each in wording.sentences_of(line)}
    states = not (asked and len(text.split()) <= MOST_ANSWER) and len(every) <= MOST_SENTENCES
    sentences = [each for each in every if _GONE not in each]
    margins = rule_model().margins(sentences)
    return [
        Sentence(each, _form_in(each, states=states and each not in beside) if margin > 0 else None)
        for each, margin in zip(sentences, margins, strict=True)
    ]


def own_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a user's own words, without those that hold a quotation; linear."""
    return tuple(each for each in wording.sentences_of(_own(text)) if _GONE not in each)


def _form_in(sentence: str, *, states: bool) -> Form | None:
    """Return the form of a rule; None for a mere statement where these do not count, or that is long."""
    form = form_of(sentence)
    if form is not None and form is not Form.STATEMENT:
        return form
    return Form.STATEMENT if states and len(sentence) <= STATEMENT_CHARS else None


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
