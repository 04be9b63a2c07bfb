"""
Finds sentences that say what is left to do as a duty in the present: "The tests must be rerun."

The same words tell of rules and of wishes, which a summary should keep. So a sentence counts only if nothing before the
duty reports it (a user, a verb in the past, "that"), if it has no "each" or "always", and, in English, if it is about
one definite thing and a task: "Passwords must be hashed" is a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gc_core.values.patterns import regex

_SENTENCE_END = regex(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")

_TASKS: Final = "|".join(
    """
    added adapted adjusted announced applied asked booked changed checked cleaned committed configured confirmed
    contacted created deleted deployed disabled documented done enabled extended finished fixed implemented imported
    informed installed investigated measured merged migrated moved notified opened ordered paid picked prepared
    published pushed rebuilt released removed renamed repaired replaced rerun re-run restarted restored retried reverted
    reviewed rewritten rolled run scheduled sent set shipped signed started stopped submitted tested told translated
    updated uploaded verified written
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_DUTY = regex(
    rf"(?P<passive>\b(?:must|should|ought to|has to|have to|(?:is|are)(?: still| yet)? to)(?: still| also| now| first)?"
    rf" be (?:{_TASKS}))\b"
    r"|\bit is (?:still )?(?:necessary|required|recommended|advisable) to\b|\bremains? to be \w+|\bit remains to \w+"
    r"|\b(?:has|have|is|are) yet to (?:be )?\w+"
    r"|^\W{0,8}als nächstes (?:muss|müssen|wird|werden|soll|sollen|ist|sind|folg|steht|komm)\w*"
    r"|\bm(?:uss|üssen)\b[^.!?\n]{1,80}\bwerden\b|\bbleibt (?:noch |nur )?[^.!?\n]{0,40}\bzu \w+en\b"
    r"|\b(?:ist|sind) noch (?:[^.!?\n]{0,40} )?zu \w+en\b|\bsteh(?:t|en) noch aus\b"
    r"|\bdoi(?:t|vent) (?:encore |aussi |maintenant )?être \w+"
    r"|\bdeben? (?:todavía |aún )?(?:ser \w+d[oa]s?|volver a \w+r)\b|^\W{0,8}es (?:necesario|preciso) \w+r\b"
    r"|\bdevem? (?:ainda )?ser \w+d[oa]s?\b|\bé (?:preciso|necessário) \w+r\b"
    r"|\bdev(?:e|ono) (?:ancora )?essere \w+t[oaie]\b|\bbisogna \w+re\b|\bresta da \w+re\b"
    r"|\bmoet(?:en)? (?:nog )?[^.!?\n]{1,60}\bworden\b"
    r"|^\W{0,8}(?:ещё )?(?:нужно|надо|необходимо|следует|осталось) (?:ещё )?\w+(?:ть|ться|ти)\b|还需要?|仍需|尚需",
    re.IGNORECASE,
)
_DEFINITE = regex(
    r"\W{0,8}(?:(?:The|This|These|Both|It|They|Its|All|One|Two|Three)\b|[A-Z][a-z]{2,20}(?<!s) $|[^.!?\n]*: the )"
)
_REPORTED = regex(
    r"\b(?:that|which|who|whether|if|when|why|what|how|because|since|user|rule|policy|according|error|message|was|were"
    r"|had|did|said|says|told|asked|[a-z]{2,}ed"
    r"|dass|ob|weil|wenn|laut|regel|benutzer(?:in)?|nutzer(?:in)?|sagte|wollte|war|wurden?|hatte|[a-zäöüß]{3,}te"
    r"|que|qu|si|usuario|utilisateur|utilisatrice|regla|règle|usuário|regra|utente|regola|che|dijo|pidió|disse|ha"
    r"|dat|als|gebruiker|regel|что|если|пользователь|правило)\b|用户|要求|规则",
    re.IGNORECASE,
)
_ALWAYS = regex(
    r"\b(?:each|every|always|any|never|jede[rsmn]?|immer|stets|chaque|toujours|cada|siempre|sempre|elke)\b",
    re.IGNORECASE,
)


def left_undone(prose: str) -> Iterator[str]:
    """Yield what says that something is still to be done, one phrase a sentence."""
    for sentence in _SENTENCE_END.split(prose):
        duty = _DUTY.search(sentence)
        if duty and not _ALWAYS.search(sentence) and _is_open(duty, sentence[: duty.start()]):
            yield duty[0].lower()


def _is_open(duty: re.Match[str], before: str) -> bool:
    """Return whether nobody's rule or wish is reported, nor a rule for whatever there is."""
    return not _REPORTED.search(before) and (not duty["passive"] or _DEFINITE.match(before) is not None)
