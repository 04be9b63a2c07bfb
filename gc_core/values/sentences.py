"""Where sentences end: not behind an abbreviation, the number of a day, or an initial."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gc_core.values.patterns import regex

_STOP = regex(r"[.!?؟](?=\s|\Z)|[。！？।]|\n")

_REACH: Final = 24
"""The characters on either side of a full stop that are looked at."""

_WORD_BEFORE = regex(r"[^\s(\[{\"'“”„«»‘’*_/]*\Z")
_WORD_BEHIND = regex(r"\s+([^\W_]+(?:['’][^\W_]+)?)")
_NUMBER_BEHIND = regex(r"[ \t]+[#(]?\d")
_LETTERS = regex(r"[^\W\d_](?:\.[^\W\d_])*|[ap]\.?m|ph\.d", re.IGNORECASE)
"""An initial, or letters between full stops: "J", "e.g", "U.S"."""

_ITEM = regex(r"(?:\A|\n)[ \t]*(?:[-*•>#]+[ \t]+)*\Z")
"""What stands before the number of an item of a list."""

_DAY = regex(r"\s(?:[a-zà-ÿа-яё]|Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Ocak|Şubat|Mart|Nisan)")
"""Words after the number of a day or of a row, which do not begin a sentence."""

_COUNTED = regex(
    r"(?<!\w)(?:am|ab|an|im|in|bis|seit|vom|zum|zur|beim|der|die|das|den|dem|des|jede[rnms]?|einen?|einem|mein\w{0,2})\s+"
    r"\d{1,3}\Z",
    re.IGNORECASE,
)
"""German words before an ordinal number."""

_NEVER = regex(
    "dr|mr|mrs|ms|mx|prof|capt|cpt|lt|sgt|messrs|st|ste|vs|cf|eg|ie|viz|approx|incl|excl|ca|bzw|inkl|exkl|zzgl"
    "|vgl|evtl|ggf|sog|bspw|insb|hr|hrn|frl|dipl|mme|mlle|mgr|sra|srta|dra|dña|avda|núm|tél|sig|sigg|dott"
    r"|dott\.ssa|avv|np|tj|tzw|ul|проф|ул|напр"
)
"""They do not end a sentence: something follows that they belong to."""

_OF_NUMBERS = regex(
    r"no|nos|nr|num|nº|n°|n\.º|art|abs|abt|anm|bd|kap|ziff|fig|figs|tab|eq|eqs|sec|secs|ch|chap|vol|pt|pp|para"
    "|ver|max|min|pág|págs|cap|№|ч|стр|рис|табл|гл|ст|п"
)
"""They do not end a sentence before a number."""

_SELDOM = regex(
    "rev|hon|gov|sen|rep|gen|col|maj|mt|ft|dept|univ|fr|mag|ing|em|str|sr|av|tel|geom|al|os|pl|пр|им|etc|usw"
    "|usf|inc|ltd|corp|co|bros|jr|jun|esq|ave|blvd|rd|hwy|est|apt|std|sek|hrs|hr|min|max|mio|mrd|jan|feb|mar"
    "|apr|aug|sept|sep|oct|okt|nov|dec|dez|mon|tue|wed|thu|fri|itd|itp|др|руб|тыс|млн"
)
"""They end a sentence only where a word follows that begins one."""

_BEGINS = regex(
    "A|Add|Also|Always|An|And|Answer|Any|Are|As|Ask|At|Avoid|But|By|Call|Can|Do|Does|Don't|Don’t|Each|Every"
    "|For|From|Give|He|How|I|If|I'll|I'm|I’m|In|Is|It|It's|It’s|Keep|Let|Make|Maybe|My|Never|Next|No|Not|Now"
    "|Of|On|Only|Or|Our|Please|Prefer|Put|Remember|Reply|Send|She|So|Some|Stop|Tell|Thanks|That|That's|The"
    "|Then|There|These|They|This|Those|To|Use|We|What|When|Where|Which|Who|Why|With|Write|Yes|You|Your|Aber"
    "|Alle|Als|Am|Auch|Bei|Bitte|Danach|Danke|Dann|Das|Dein|Dem|Den|Der|Die|Diese|Dieser|Dieses|Du|Ein|Eine|Er"
    "|Es|Für|Ich|Ihr|Immer|Im|Ja|Jede|Jeder|Kein|Keine|Mein|Meine|Mit|Nach|Nein|Nie|Niemals|Nimm|Nun|Nur|Ohne"
    "|Sie|Und|Verwende|Von|Warum|Was|Wenn|Wer|Wie|Wir|Wo|Zu|Avec|C'est|Ce|Ces|Cette|Dans|De|Elle|En|Et|Il|Ils"
    "|J'ai|Jamais|Je|La|Le|Les|Mais|Merci|Ne|Non|Nous|Oui|Pas|Pour|Quand|Sans|Si|Toujours|Tu|Un|Une|Utilise"
    "|Vous|Con|Cuando|El|Ella|Eso|Esta|Este|Gracias|Las|Los|Mi|Nunca|Para|Pero|Por|Que|Siempre|Sin|Sólo|Solo"
    "|Su|Sí|Usa|Usted|Y|Yo|Che|Come|Di|È|Gli|Grazie|Ho|Io|Loro|Ma|Mai|Noi|Per|Perché|Sempre|Sono|Ti|Uma|Um|Ele"
    "|Ela|Eu|Mas|Não|Sem|Você|Ale|Bez|Czy|Jest|Kiedy|Nigdy|Proszę|Tak|Tylko|W|Zawsze|А|В|Всегда|Вы|И|Мы|На|Не"
    "|Никогда|Но|Он|Она|Они|Пожалуйста|Только|Ты|Это|Я"
)


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text with the white space before them; together they are the text. Linear."""
    begun = 0
    for end in sentence_ends(text):
        yield text[begun:end]
        begun = end
    if begun < len(text):
        yield text[begun:]


def sentence_ends(text: str, start: int = 0, stop: int | None = None) -> Iterator[int]:
    """Yield the places behind which another sentence may begin, from ``start`` to ``stop``: a line break ends one."""
    limit = len(text) if stop is None else stop
    for found in _STOP.finditer(text, start, limit + 1):  # a full stop is known by what follows it
        if found.end() <= limit and (found.group() != "." or _ends(text, found.start())):
            yield found.end()


def _ends(text: str, place: int) -> bool:
    """Return whether the full stop at this place ends a sentence."""
    before = text[max(0, place - _REACH) : place]
    word = _WORD_BEFORE.search(before)
    name = word.group() if word else ""
    if name.isdigit():
        return not _continues_number(text, place, before[: len(before) - len(name)], before)
    lowered = name.lower()
    if _NEVER.fullmatch(lowered):
        return False
    if _OF_NUMBERS.fullmatch(lowered) and _NUMBER_BEHIND.match(text, place + 1):
        return False
    if _SELDOM.fullmatch(lowered) or _LETTERS.fullmatch(name):
        behind = _WORD_BEHIND.match(text, place + 1)
        return behind is None or _BEGINS.fullmatch(behind.group(1)) is not None
    return True


def _continues_number(text: str, place: int, before: str, whole: str) -> bool:
    """Return whether a sentence continues behind a number and its full stop: that of an item, a day or a row."""
    is_item = len(before) < _REACH and _ITEM.search(before) is not None
    return is_item or _DAY.match(text, place + 1) is not None or _COUNTED.search(whole) is not None
