"""
Finds sentences that say what is left to do as a duty in the present: "The tests must be rerun."

The same words tell of rules and of wishes, which a summary should keep. So a sentence counts only if nothing before the
duty reports it (a user, a verb in the past, "that", a label such as "Rule:"), if it has no "each" or "always" and does
not go on with the way to do it ("through", "in cents"), and if it is about one definite thing and a task: "Passwords
must be hashed" is a rule. In German and Romance languages that is an article and a singular, or something done again;
in Russian a verb of one completed act.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

from gc_core.values.patterns import regex

_SENTENCE_END = regex(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")

_TASKS: Final = "|".join(
    """
    added adapted adjusted announced applied asked booked built bumped changed checked cleaned committed
    configured confirmed contacted corrected created deleted deployed disabled documented done enabled extended
    finished fixed implemented imported informed installed investigated lowered measured merged migrated monitored
    moved notified opened ordered paid picked prepared published pushed raised rebuilt redeployed released removed
    renamed repaired replaced rerun re-run restarted restored retried reverted reviewed rewritten rolled run
    scheduled sent set shipped signed started stopped submitted tested told translated updated uploaded verified
    written
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_ROMANCE_TASK: Final = r"(?!(?:usa|utiliza|guarda|mantene|mante|escribi|escreve|evita|salva|scrive)r)\w+"
_RUSSIAN_TASK: Final = (
    r"(?!использовать)(?:пере|про|до|вы|за|об|от|у|с|на|при|раз|по(?!мн|ним|могать|льз))"
    r"\w+(?:(?<!ва)(?<!ка)(?<!я)ть(?:ся)?|ти)"
)
_DUTY = regex(
    rf"(?P<passive>\b(?:must|should|ought to|has to|have to|(?:is|are)(?: still| yet)? to)(?: still| also| now| first)?"
    rf" be (?:{_TASKS}))\b"
    r"|\bit is (?:still )?(?:necessary|required|recommended|advisable) to\b(?! (?:use|keep|store|avoid|follow|name)\b)"
    r"|\bit (?:would|might) be (?:best|better|wise|advisable|sensible|safer|useful|worthwhile) to\b"
    r"|\bremains? to be \w+|\bit remains to \w+"
    r"|\b(?:must|should) (?:still )?(?:happen|follow|take place|go out) (?:on|before|after|next|tomorrow"
    r"|tonight|later|soon)\b"
    r"|\b(?:has|have|is|are) yet to (?:be )?\w+"
    r"|^\W{0,8}als nächstes (?:muss|müssen|wird|werden|soll|sollen|ist|sind|folg|steht|komm)\w*"
    r"|^\W{0,8}(?:der|die|das|diese[rs]?) [^.!?\n]{1,60}\bmuss\b[^.!?\n]{1,80}\bwerden\b"
    r"|\bmüssen (?:erneut|wieder|nochmals?) [^.!?\n]{0,80}\bwerden\b|\bbleibt (?:noch |nur )?[^.!?\n]{0,40}\bzu \w+en\b"
    r"|\b(?:ist|sind) noch (?:[^.!?\n]{0,40} )?zu \w+en\b|\bsteh(?:t|en) noch aus\b"
    r"|^\W{0,8}(?:l[ea] |l['’]|cette? )[^.!?\n]{1,60}\bdoit (?:aussi |maintenant )?être \w+"
    r"|\bdoi(?:t|vent) encore être \w+|\bdoivent être (?:r[eé]\w+|\w+ (?:à|de) nouveau)"
    r"|^\W{0,8}(?:el|la|est[ea]) [^.!?\n]{1,60}\bdebe ser \w+d[oa]\b|\bdeben? (?:todavía|aún) ser \w+d[oa]s?\b"
    r"|\bdeben ser \w+d[oa]s (?:otra vez|de nuevo)\b|\bdeben? volver a \w+r\b"
    rf"|^\W{{0,8}}es (?:necesario|preciso) {_ROMANCE_TASK}r\b|\bé (?:preciso|necessário) {_ROMANCE_TASK}r\b"
    r"|^\W{0,8}(?:[oa]|est[ea]) [^.!?\n]{1,60}\bdeve ser \w+d[oa]\b|\bdevem? ainda ser \w+d[oa]s?\b"
    r"|^\W{0,8}(?:il |la |lo |l['’]|quest[oa] )[^.!?\n]{1,60}\bdeve essere \w+t[oa]\b"
    rf"|\bdev(?:e|ono) ancora essere \w+t[oaie]\b|\bbisogna (?:ancora |anche )?{_ROMANCE_TASK}re\b|\bresta da \w+re\b"
    r"|^\W{0,8}(?:de|het|deze|dit) [^.!?\n]{1,60}\bmoet (?:nog )?[^.!?\n]{1,60}\bworden\b"
    r"|\bmoeten nog [^.!?\n]{1,60}\bworden\b"
    rf"|^\W{{0,8}}(?:ещё )?(?:нужно|надо|необходимо|следует) (?:ещё )?(?:завтра )?{_RUSSIAN_TASK}\b"
    r"|^\W{0,8}faltan? (?:ainda |aún |todavía )?\w{2,}(?:ar|er|ir)\b|\bmanca(?:no)? (?:ancora )?(?:da|di) \w+re\b"
    r"|^\W{0,8}(?:jeszcze )?(?:należy|trzeba) (?:jeszcze )?(?:za|po|wy|prze|do|na|z|s|od|ro|u)"
    r"\w+[ćc]\b(?<!ywać)(?<!iwać)(?<!ować)(?<!awać)|\bdo zrobienia (?:pozostaje|zostaje|jest)\b"
    r"|^\W{0,8}(?:ещё )?осталось (?:ещё )?\w+(?:ть|ться|ти)\b|还需要?|仍需|尚需",
    re.IGNORECASE,
)
_DEFINITE = regex(
    r"\W{0,8}(?:(?:The|This|These|It|They|Its)\b|[A-Z][a-z]{2,20}(?<!s) $|[A-Z][a-z]{2,20} (?:\d|[A-Z][a-z]{2,20} $)"
    r"|[^.!?\n]*(?:: |, (?:and|but) )the )"
)
_REPORTED = regex(
    r"\b(?:requires?|demands?|verlangt|fordert|exige|richiede|that|which|who|whether|if|when|why|what|how|because|since|user|rule|policy|according|(?:error|message)(?!\s*$)|was|were"
    r"|had|did|said|says|told|asked|[a-z]{2,}ed"
    r"|dass|ob|weil|wenn|laut|regel|benutzer(?:in)?|nutzer(?:in)?|sagte|wollte|war|wurden?|hatte|[a-zäöüß]{3,}te"
    r"|que|qu|si|usuario|utilisateur|utilisatrice|regla|règle|usuário|regra|utente|regola|che|dijo|pidió|disse|ha"
    r"|dat|als|gebruiker|regel|что|если|пользователь|правило)\b|用户|要求|规则",
    re.IGNORECASE,
)
_RULE_LABEL = regex(
    r"\W{0,12}(?:(?:project|team|user|hard|house|coding) )?(?:rules?|constraints?|conventions?|requirements?"
    r"|polic(?:y|ies)|guidelines?|standards?|preferences?|demands?|vorgaben?|regeln?|bedingung(?:en)?|konvention(?:en)?"
    r"|anforderung(?:en)?|richtlinien?|règles?|contraintes?|exigences?|consignes?|reglas?|restricci(?:ón|ones)|convenci(?:ón|ones)"
    r"|requisitos?|regras?|convenç(?:ão|ões)|regol[ae]|vincol[io]|convenzion[ei]|requisit[io]|regels?|afspraak|правил[оа]|требовани[ея])"
    r"\W{0,4}[:：]",
    re.IGNORECASE,
)
"""What introduces rules, to the end of its line."""

_WAY = regex(
    r"[^.!?\n]{0,40}?\b(?:through|via|using|only|by (?:at least |one|two|three|someone)|as an?"
    r"|in (?:cents|utc|utf|english|lower|upper|snake|camel|plain))\b",
    re.IGNORECASE,
)
_ALWAYS = regex(
    r"\b(?:each|every|always|any|never|jede[rsmn]?|immer|stets|chaque|toujours|cada|siempre|sempre|elke)\b",
    re.IGNORECASE,
)


def left_undone(prose: str) -> Iterator[str]:
    """Yield what says that something is still to be done, one phrase a sentence."""
    told = "\n".join(line for line in prose.split("\n") if not _RULE_LABEL.match(line))
    for sentence in _SENTENCE_END.split(told):
        if not _ALWAYS.search(sentence):
            open_duties = (duty[0].lower() for duty in _DUTY.finditer(sentence) if _is_open(duty, sentence))
            yield from itertools.islice(open_duties, 1)


def _is_open(duty: re.Match[str], sentence: str) -> bool:
    """Return whether nobody's rule or wish is reported, nor a rule for whatever there is."""
    before = sentence[: duty.start()]
    if _REPORTED.search(_DUTY.sub("", before)):
        return False
    if not duty["passive"]:
        return True
    return _DEFINITE.match(before) is not None and not _WAY.match(sentence, duty.end())
