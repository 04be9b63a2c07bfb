"""
Whose words a user's message holds: passages that the user quotes or pastes are somebody else's.

Quotations of several words, lines that machines write, labelled excerpts and letters with their head are not the
user's own. Everything is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gc_core.task import phrases
from gc_core.values.patterns import regex

_QUOTED_WORDS, _QUOTED_LETTERS = 4, 8
_LABEL_CHARS = 80
GONE: Final = "\ufffc"
"""Replaces a passage of someone else's words."""

_DENSE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PASSAGE = regex(
    r'"[^"\n]{1,2000}"|“[^“”]{1,2000}”|„[^„“”]{1,2000}[“”]|«[^«»]{1,2000}»|[「『][^「『」』]{1,2000}[」』]'
)
_ORDERS = (
    r"(?:please|never|always|don't|do not|only|no|use|keep|bitte|nie|immer|nur|kein|jamais|toujours|ne|nunca|siempre"
    r"|solo|sempre|mai|só|nooit|altijd|alleen|nigdy|zawsze|tylko|никогда|всегда|только|asla|daima|hep)\b"
    r"|[请总从只不必]|いつも|必ず|절대|항상"
)
"""A sentence that begins so is an order, and no label or line of a machine."""

_MACHINE = regex(
    r"\s*(?:[<>]|\"[\w-]+\":|hint:|\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s|\d{4}-\d\d-\d\d[T ]"
    r"|(?:npm|yarn|pip|git|gcc|make|cargo|error|warn(?:ing)?|info|debug|fatal|traceback|exception)\b\W*(?:WARN|ERR"
    rf"|[\[(!]|:(?!\s*(?:{_ORDERS})))"
    r"|Traceback\b|(?:FATAL|FEHLER|ERREUR|ERRO|ERRORE|FOUT|BŁĄD|ОШИБКА|HATA|LÍNEA|LIGNE|ZEILE|LINE|DETAIL"
    r"|HINT)(?: \d+)?: "
    r"|(?:art\.|§|clause|section|article|abschnitt|artikel|artículo|articolo|artigo"
    r"|step|schritt|étape|paso|passo|stap|krok|шаг|adım) ?\d+(?:[.: ]| -)"
    r"(?! ?(?:is|are|has|must|may|can|should|never|always)\b)"
    r"|(?:внимание|dikkat|uwaga|achtung|attenzione|atención|atenção|let op)!"
    r"|File \"|at [\w.$<>]+ ?\(|[+-]{3} |@@ |\$ |//|[│┃➜❯]|-\w, --\w|[\w-]+: ['\"]|\w+\.\.\w+\s)",
    re.IGNORECASE,
)
_SETTING_LINE = regex(r"[ \t]{1,16}[a-z][\w.-]{0,60}: (?:\S{1,200}\s*$|['\"])")
_HEADER = regex(
    r"(?:from|to|cc|subject|date|von|an|betreff|datum|de|à|objet|para|asunto|fecha|da|a|oggetto|assunto|data|van|aan"
    r"|onderwerp|od|do|temat|от|кому|тема|дата|kimden|kime|konu|发件人|收件人|主题|差出人|宛先|件名|보낸 사람"
    r"|받는 사람|제목)"
    rf"\s?[:：](?!\s*(?:{_ORDERS}))\s*\S",
    re.IGNORECASE,
)
"""A line at the head of a letter; two of them begin one."""
_LABEL = regex(
    rf"^(?!\W*(?:{_ORDERS})|\W*(?:error )?(?:logs|docs|messages|mails|e-mails|letters|articles):)"
    rf"[^:：]{{1,{_LABEL_CHARS}}}(?::(?=\s|$)|：)\s*",
    re.IGNORECASE,
)
"""What stands before a colon; an order is no label, nor is a plural, which says what a rule is about."""

_SOURCE: Final = phrases.words_of(
    r"read ?me|guide(?:line)?s?|manual|handbook|excerpt|extract|section|licen[cs]e|terms(?: of \w+)?|rfc(?: \d+)?"
    r"|spec"
    r"|quote[ds]?|verbatim|log|logs|output|trace(?:back)?|stack ?trace|console|terminal|stderr|stdout|error(?:"
    r" message)?"
    r"|mail|e-?mail|letter|article|blog|wiki|docs?|documentation|exam|textbook|chapter|paragraph|book|says|said|wrote"
    r"|writes|reads|according to|changelog|commit message|release notes|old \w+|their \w+|notice|instructions?"
    r"|leaflet"
    r"|contract|act|policy text",
    r"auszug|handbuch|anleitung|lizenz|protokoll|ausgabe|laut|schreibt|schrieb|sagt|zitat|wörtlich|vertrag|abschnitt",
    r"extrait|manuel|mail|courriel|notice|licence|sortie|selon|écrit|citation|contrat|article",
    r"extracto|manual|correo|licencia|salida|según|dice|escribió|cita|contrato|texto|artículo|instrucciones",
    r"manuale|estratto|dal|dalla|licenza|secondo|scrive|citazione|contratto|istruzioni|testo",
    r"manual|trecho|licença|saída|segundo|diz|escreveu|citação|contrato|texto|edital|instruções",
    r"handleiding|uittreksel|licentie|uitvoer|volgens|schrijft|citaat|contract|bijsluiter|tekst",
    r"instrukcj\w|podręcznik\w?|fragment|licencj\w|wynik|według|pisze|cytat|umow\w|regulamin\w?|tekst",
    r"инструкци\w|руководств\w|отрывок|лиценз\w\w?|вывод|лог|согласно|пишет|цитата|договор\w?|письм\w|памятк\w|текст",
    r"kılavuz(?:dan|da|un)?|talimat\w{0,4}|lisans\w{0,3}|çıktı|alıntı|sözleşme\w{0,4}|metin|yazıyor|broşür\w{0,4}",
    dense="说明书|手册|摘录|原文|协议|条款|日志|报错|输出|邮件|引用|文档里?写|説明書|マニュアル|抜粋|原文|規約|ログ"
    "|出力|メール|引用|안내문"
    "|설명서|매뉴얼|발췌|원문|약관|로그|출력|메일|인용",
)
"""A label that names the source of the words after it."""

_NOTICE: Final = phrases.words_of(
    "sent|posted|forwarded|pasted|copied|announcement|bekanntmachung|hausordnung|satzung|règlement|avis|aviso|reglamento|avviso|regolamento"
    "|regulamento|huisregels|reglement|regulamin|ogłoszenie|объявление|уведомление|устав|duyuru|yönetmelik",
    dense="通知|公告|通告|守则|お知らせ|通達|掲示|공지|안내|공고",
)
"""A label of what others sent or put up."""

_LAYS_DOWN: Final = phrases.words_of(
    "rules?|reminder|remember|important|correction|note to self|our (?:guide|policy|rule|convention)s?|we|my",
    "regeln?|wichtig|règles?|important|reglas?|importante|regol[ae]|regras?|regels?|belangrijk|zasad[ay]|ważne"
    "|правил\\w"
    "|важно|kural\\w{0,4}|önemli",
    dense="规则|规定|注意|重要|ルール|注意|重要|規則|규칙|중요|주의",
)
"""A label after which the user speaks."""


def own_words(text: str) -> str:
    """Return a text with ``GONE`` for each passage of someone else's words: quotations, excerpts, logs, chats."""
    marked = _PASSAGE.sub(lambda found: GONE if _is_passage(found[0]) else found[0], text)
    return "\n".join(_own_lines(marked.split("\n")))


def sentences_of(own: str) -> list[str]:
    """Return the sentences of what ``own_words`` returned, without those that hold a quotation; linear."""
    return [each for each in phrases.sentences_of(own) if GONE not in each]


def sentences_beside(own: str) -> frozenset[str]:
    """Return the sentences of what ``own_words`` returned that stand on a line with a quotation; linear."""
    lines = (line for line in own.split("\n") if GONE in line)
    return frozenset(each for line in lines for each in phrases.sentences_of(line))


def _is_passage(quotation: str) -> bool:
    return len(quotation.split()) >= _QUOTED_WORDS or len(_DENSE.findall(quotation)) >= _QUOTED_LETTERS


def _own_lines(lines: list[str]) -> Iterator[str]:
    introduced = False
    for place, line in enumerate(lines):
        if _HEADER.match(line) and _HEADER.match("".join(lines[place + 1 : place + 2])):
            yield GONE
            return
        if not line.strip():
            introduced = False
        if introduced or _MACHINE.match(line) or _SETTING_LINE.match(line):
            yield GONE
            continue
        label = _LABEL.match(line)
        sourced = label and (_SOURCE.search(label[0]) or _NOTICE.search(label[0]))
        if label and sourced and not _LAYS_DOWN.search(label[0]):
            introduced = label.end() >= len(line.rstrip()) or GONE in line
            yield GONE
            continue
        yield line
