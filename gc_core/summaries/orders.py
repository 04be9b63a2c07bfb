"""
Finds what a summary must not hold: orders, and what is left to do.

It goes by form. A sentence that begins with a bare verb and its object has no subject, and so is an order; a word such
as "Pending" before a colon, or a box that is not ticked, is a list of things to do. Words of the future are known in a
dozen languages, orders in English (`english_orders`), German, French, Spanish and Japanese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gc_core.summaries.beginnings import BEGIN, mark_wishes, without_past
from gc_core.summaries.english_orders import ENGLISH_PAST, english_orders
from gc_core.summaries.left_undone import left_undone
from gc_core.values.patterns import regex

_FUTURE = regex(
    r"\b(?:will|won't|shall|gonna|(?<!was )(?<!were )going to|let's|let us|please|need to|needs to|must now|should now"
    r"|must not|have to|has to|you should|you must|you can|you need|we should|we must|(?:i|we|you|it|they|he|she)'ll"
    r"|remember to|to do:|tbd|action items?:|(?<!no )(?:next|remaining|open|further) (?:steps|tasks|todos|action items)"
    r"|what(?: is|'s) (?:left|still) to (?:do|be done)|don't forget"
    r"|bitte|nächste schritte|vergessen sie|man sollte|m(?:uss|üssen) noch|prochaines étapes|étapes suivantes|n'oubliez"
    r"|veuillez|pensez à|(?<!qu')il (?:faut|faudra)|reste(?:nt)? à|próximos pasos|no olvide|recuerde"
    r"|(?<!que )(?:hay|habrá) que|(?:queda|falta)n? por|próximos passos|prossimi passi|по-прежнему нужно"
    r"|следующие шаги|не забудьте|następne kroki|sonraki adımlar"
    r"|(?<!no )next (?:step|task|action|thing) is"
    r"|next, (?:the|all|both|each) \w+(?: \w+)? (?:is|are) to be"
    r"|(?:once|as soon as) (?:the )?(?:user|customer|client|reviewer|owner|manager|he|she|they)"
    r" (?:(?:has|have) \w+ed|agrees?|confirms?|approves?|answers?|replies|reply|decides?|responds?|accepts?)"
    r"|be sure to|(?<!to )(?:make sure|ensure that)|continue with|proceed to)(?!\w)"
    r"|下一步|接下来|记得|请(?!求)|次のステップ|今後の|忘れずに|してください|とってください|다음 단계|하세요"
)


QUOTATION: Final = " ¤ "
"""Stands for what was quoted, so that a sentence about it keeps its subject."""


_NAMED_WILL = regex(r"(?<=[a-z,] )Will(?= [A-Z])")

# -- headings ----------------------------------------------------------------------------------------------------------

_LEFT: Final = (
    r"pending|remaining|outstanding|left to do|still (?:to do|open)|(?:still )?to be done|what(?:'s| is) next"
    r"|next(?: up)?|follow-?ups?|open (?:points|items)"
    r"|ausstehend|(?:noch )?offen(?:e punkte)?|verbleibend|(?:noch )?zu (?:tun|erledigen)|als nächstes|nächster schritt"
    r"|en attente|en suspens|(?:reste )?à faire(?: avant [^.:\n]{1,20}(?=\s?:))?|prochaine étape|restant"
    r"|pendientes?|por hacer|siguientes? pasos?|próximo paso|pendentes?|por fazer|próximo passo|da fare|in sospeso"
    r"|осталось|предстоит|далее|do zrobienia|nog te doen|openstaand|volgende stap(?:pen)?"
    r"|(?:sıradaki|kalan) (?:adımlar|işler)|yapılacaklar|sonraki adım|passi successivi|a fazer"
    r"|nästa steg|att göra|återstår|næste skridt|наступні кроки"
    r"|další kroky|langkah selanjutnya|الخطوات التالية|अगले कदम"
    r"|待办(?:事项)?|剩余(?:工作|任务)?|待处理|未完成|未完了|残り|残作業|残タスク|やること"
    r"|次にやること|要対応|남은 작업|할 일"
)
_NOTHING: Final = r"none|nothing|no\b|keine|nichts|aucun|rien|ning|nada|nessun|なし|无|ない|—|-\s*$"
_HEADING = regex(
    rf"(?:^[ \t\-*•–#>\d.)_]{{0,20}}|[.!?;]\s{{1,9}}|[。！？；])((?:{_LEFT})(?: (?:work|tasks|items|steps|points))?)"
    rf"[*_]{{0,2}}(?:\s?[:：][*_]{{0,2}}+\s{{0,9}}+(?!{_NOTHING})|[ \t]{{0,9}}$)",
    re.MULTILINE,
)
_NO_TASK = regex(rf"\W*(?:{_NOTHING})")
_SECTION = regex(r"(?:\n(?!#)[^\n]*)*")
_NOTE = regex(
    r"(?:^[ \t\-*•–#>\d.)_]{0,20}|[.!?;:]\s{1,9})((?:to-?do|fixme)s?)\b|\b((?:to-?do|fixme)s?):", re.MULTILINE
)
_BOX = regex(r"^[ \t]{0,20}(?:[-*•]\s{1,4})?(\[ \])", re.MULTILINE)

# -- orders in other languages than English ----------------------------------------------------------------------------

_GERMAN = regex(
    rf"{BEGIN}(?:(?:Jetzt|Nun|Dann|Danach|Zuerst|Und) )?((?!\w*t[e] )(?!(?:Alle|Beide|Diese|Jede|Eine|Keine|Seine|Ihre"
    r"|Meine|Deine|Unsere|Ohne|Viele|Einige|Mehrere|Andere|Solche|Welche|Manche|Wurde|Würde|Werde|Habe|Wie|Nahe|Gerade"
    r"|Ende|Ursache|Sowie|Sie|Die) )[A-ZÄÖÜ][a-zäöüß]{2,}e (?:die|das|den|dem|ein|eine|einen|alle|noch|bitte)\b"
    r"|(?:Teste|Starte|Richte|Beachte|Achte|Warte|Schalte|Bearbeite|Leite|Führe|Rufe|Prüfe|Lasse) (?!wurde|war)[a-zäöü]"
    r"|[A-ZÄÖÜ][a-zäöüß]{2,}e?n Sie\b(?<!aben Sie)(?<!atten Sie)(?<!aren Sie)(?<!urden Sie)(?<!onnten Sie)"
    r"(?<!ind Sie))",
    re.MULTILINE,
)
_GERMAN_PAST = regex(
    r"\b(?:wurden?|war(?:en)?|hatten?|ist|sind|hat|haben|[a-zäöüß]{2,}ten?|blieb|ging|lief|fiel|ließ|gab|kam|stand|lag)\b"
)
_ROMANCE_PAST = regex(
    r"\b(?:a|ont|est|sont|\w+ai(?:t|ent)|fut|furent|\w+èrent|\w+ó|\w+(?:ar|ier)on|\w+aban?|\w+ían?|\w+[aei]v(?:a|ano)|\w+[aei]rono|\w+ò|fue|era|eran|ha|han"
    r"|hizo|dio)(?!\w)"
)
_ROMANCE_OTHERS: Final = (
    "ahora|ancora|antes|aunque|autre|cada|cerca|cette|chaque|come|comme|contra|contre|cuya|delante|desde|donde|double"
    "|durante|elle|encore|ensuite|entre|environ|este|fuera|hacia|hasta|lorsque|mediante|mentre|même|nada|ninguna|notre"
    "|nunca|oltre|onze|otra|outre|para|parce|porque|presque|puisque|quatre|quoique|sauve|seule|siempre|sobre|suite|sulla"
    "|toda|toute|tutta|votre|mala|buena|nella|della|dalla|alla|cualquiera|quelque"
)
_ROMANCE = regex(
    rf"{BEGIN}(?:(?:ahora|luego|después|maintenant|puis|ensuite),? )?"
    rf"((?!(?:{_ROMANCE_OTHERS}) )[a-zà-ÿ]{{3,}}(?:e|(?<!ab)(?<!í)a) (?:la|el|los|las|le|les|un|une|una)\b)",
    re.MULTILINE,
)
_FRENCH = regex(
    rf"{BEGIN}(?:(?:maintenant|puis|ensuite),? )?((?!(?:assez|chez|rendez) )[a-zà-ÿ]{{3,}}ez"
    r"(?! (?:a|est|était|et|ont|avait|ne)\b) (?=[a-zà-ÿ])"
    r"|(?!(?:hier|premier|dernier|contre|entre|outre|notre|votre|autre|quatre|lettre) )[a-zà-ÿ]{3,}(?:er|ir|re)"
    r" (?:(?:le|la|les|une?|des|à (?:nouveau|jour))\b|l'))",
    re.MULTILINE,
)
_IS_FRENCH = regex(r"\b(?:le|la|les|des|une|est|été|du)\b|\bl'")
_SPANISH = regex(
    rf"{BEGIN}(?:(?:ahora|luego|después),? )?((?:vuelv[ae] a|ejecut[ae]|revis[ae]|actualiz[ae]|corrij[ae]|corrige"
    r"|añad[ae]|comprueb[ae]|prueb[ae]) (?=[a-z]))",
    re.MULTILINE,
)
_JAPANESE = regex(
    r"(?:^[ \t\-*•・\d.)]{0,20}|(?<=[。！？]))"
    r"((?:次に|次は|続いて|今後)[^。\n]{1,80}(?:[うくぐすつぬぶむる]|ます)(?=。|\s*$)"
    r"|[^。\nはがも]{1,60}を[^。\nはがもた]{0,40}(?:する|します|直す|行う|加える|消す|書く|送る)(?=。|\s*$)"
    r"|[^。\n]{1,80}(?:せよ|しろ|なさい|ましょう|ください|べき|する必要がある|しなければならない)(?=。|\s*$))",
    re.MULTILINE,
)


def orders_in(prose: str, tools: Iterable[str] = ()) -> dict[str, None]:
    """
    Return what gives orders, tells the future, or is left to do, once each, but not what somebody wished.

    The names of the agent's tools are nouns: "Finish with seven agencies" tells of a call.
    """
    prose = mark_wishes(_NAMED_WILL.sub("", prose.replace("’", "'")))
    lower = prose.lower()
    found = [match[0] for match in _FUTURE.finditer(lower)]
    found += _headings(lower)
    for pattern in (_NOTE, _BOX, _JAPANESE):
        found += [match[match.lastindex or 0] for match in pattern.finditer(lower)]
    found += left_undone(prose)
    found += english_orders(prose, frozenset(map(str.lower, tools)))
    found += without_past(_GERMAN, _GERMAN_PAST, prose)
    found += without_past(_ROMANCE, _ROMANCE_PAST, lower)
    found += without_past(_SPANISH, _ROMANCE_PAST, lower)
    if _IS_FRENCH.search(lower):
        found += without_past(_FRENCH, _ROMANCE_PAST, lower)
    return dict.fromkeys(" ".join(one.split()).replace("¤", "…") for one in found)


def _headings(lower: str) -> Iterator[str]:
    """Yield headings of what is left to do; a section of what had been open tells that as a past fact, or nothing."""
    for match in _HEADING.finditer(lower):
        section = _SECTION.match(lower, match.end())
        told = section[0].strip() if section and "#" in match[0] else ""
        if not (_NO_TASK.match(told) or any(past.search(told) for past in (ENGLISH_PAST, _GERMAN_PAST, _ROMANCE_PAST))):
            yield match[1]
