"""
What a message names, and whether it asks for it: files, addresses, tickets, hosts, symbols and quoted commands.

Names are found by their form, in any language, and a question mark asks in any. Of fifteen languages the commonest
words are known that ask, look back or draw on something, and those by which it is forgotten, made, deleted, run or done
with. In an agent's words about its next step, whatever else is named is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from gc_core.relevance.deeds import USING, is_done_to
from gc_core.relevance.name_scan import scan
from gc_core.relevance.plain_words import plain_words
from gc_core.values.patterns import regex
from gc_core.values.scripts import DENSE, HANGUL, folded

LONGEST = 2_000
"""Characters of a message: what is longer is a paste, and asks for nothing it names."""

_NAME = regex(
    rf"https?://[^\s\"'`<>(){DENSE}{HANGUL}、。「」『』，]+"
    r"|`[^`\n]{3,80}`"
    r"|(?<![\w./@-])[\w./@-]*\w\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9_])"  # a file or host, of any letters
    r"|(?<![A-Za-z0-9_-])[A-Za-z]{1,10}-\d{1,9}(?![A-Za-z0-9_]|-\d)"
    r"|(?<!\w)#\d{1,9}(?![A-Za-z0-9_])"
    r"|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)"
    r"|(?<![A-Za-z0-9_./-])(?:[A-Z][a-z]+file|README|LICENSE|CHANGELOG)(?![A-Za-z0-9_/]|\.\w)"
)
_SHORTEST = 4
_SYMBOL = regex(r"\w+")
_TICKET = regex(r"[A-Za-z]{1,10}-\d{1,9}|#\d{1,9}")
_SENTENCE = regex(r"(?<=[.!?])(?<!\b[A-Z][a-z]\.)(?<!\b[A-Z][a-z]{2}\.)[\s\"'»”)]+|(?<=[。！？])|\n")  # not after Dr.
_CLAUSE = regex(r"(?<=[,:;.!?])\s+|(?<=[，、：；])|\s[-–—]{1,3}\s")

_TAKEN_FROM = regex(
    r"(?<!\w)(?:from|per|for|according to|based on|as in|aus|laut|nach|gemass|fur|selon|d'apres|pour|segun|para"
    r"|secondo|dal|dalla|conforme|segundo|uit|volgens|voor|wedlug|dla|z|из|по|для|согласно|fran|enligt|ur)\s"
    r"(?:\w{1,4}\s)?$"
)
"""What stands before a thing that something is taken from, not done to."""

_USES = regex(
    r"(?:^\W*|[,;:.]\s|(?<!\w)(?:please|and|then|und|bitte|et|y|e|en|i|и|ve)\s)"
    rf"(?:{USING})(?!\w)|使用|参考|按照|使って|用いて|사용|참고"
)
_PLEASES = regex(
    r"(?<!\w)(?:please|bitte|s'il (?:te|vous) plait|por favor|per favore|alsjeblieft|graag|prosze|пожалуйста|lutfen"
    r"|tack|legyszi\w*|kerlek)(?!\w)|请|ください|お願い|주세요"
)
_LEAST_WORDS = 3
"""The words that a request has besides its name, if it needs the thing for something else."""

_FINISHED = regex(
    r"(?<!\w)(?:done|finished|closed|settled|archived|signed|completed|merged|resolved|cancel+ed|dropped"
    r"|deleted|removed|gone|obsolete|shelved|off the table|behind us|no longer|anymore"
    r"|decommissioned|alone|nothing (?:more|left|else)"
    r"|abgeschlossen|erledigt|fertig|geschlossen|archiviert|unterschrieben|geloscht|entfernt|vom tisch|hinter uns"
    r"|termine\w*|clos|close|closes|ferme|fermee|archive\w*|signee?|reglee?|finie?|supprimee?"
    r"|cerrad\w*|terminad\w*|archivad\w*|firmad\w*|resuelt\w*|eliminad\w*|chius\w*|finit\w*|archiviat\w*|firmat\w*"
    r"|risolt\w*|conclus\w*|fechad\w*|encerrad\w*|arquivad\w*|assinad\w*|resolvid\w*|concluid\w*|removid\w*"
    r"|klaar|afgerond|gesloten|afgehandeld|gearchiveerd|ondertekend|verwijderd|achter ons"
    r"|zamkniet\w*|zakonczon\w*|gotow[aey]?|podpisan\w*|załatwion\w*|usuniet\w*"
    r"|закрыт\w*|заверш[её]н\w*|закончен\w*|готов[аоы]?|подписан\w*|удал[её]н\w*|реш[её]н\w*"
    r"|bitti|tamamland\w*|kapand\w*|imzaland\w*|arsivlen\w*|silindi|avslutad\w*|stangd\w*|arkiverad\w*"
    r"|undertecknad\w*|fardig\w*|raderad\w*|afsluttet|lukket|lezar\w*|befejez\w*)(?!\w)"
    r"|已经?(?:被)?(?:删|关|完成|结束|签|归档|处理|解决)|不用再|搞定|終わ|完了|済み|済んだ|閉じ|끝났|완료|마쳤|종료|해결됐"
)

_MARK = regex(r"[?؟？]\W*$|^\W*¿")
_INTERROGATIVE = regex(
    r"(?<!\w)(?:what|which|who|whom|whose|when|where|why|how"
    r"|welche\w*|wo(?:r(?:an|auf|aus|in|uber|um|unter)|bei|durch|fur|gegen|her|hin|mit|nach|von|vor|zu)|wer|wem|wen|wessen|wann|warum|wieviel\w*|pourquoi|comment|combien|quels?|quelles?"
    r"|cual\w*|quien\w*|cuando|donde|cuant[oa]s?|cosa|quale|quali|perche|quant[oaie]|quais|quem|onde|quando"
    r"|welke?|wanneer|waar|waarom|hoeveel|jaki\w*|ktor\w*|kiedy|gdzie|dlaczego"
    r"|какие?|какой|какая|какое|кто|когда|где|почему|сколько|чему|nas[ıi]l|hangi\w*|kac|nerede\w*|neden"
    r"|vilke\w*|varfor|hvilke\w*|hvad|mennyi\w*|milyen|miert)(?!\w)"
    r"|^\W*(?:do|does|did|is|are|was|were|has|have|had|wie|wo|wat|hoe|que|qui|qual|come|como|co|ile|что|как|vad|hur|mi"
    r"|mit)(?!\w)"
    r"|什么|哪|谁|多少|怎么|为什么|いくつ|いくら|誰|いつ|どこ|なぜ|どの|どう|何(?!か)|무엇|뭐|어떤|누가|언제|어디|왜|얼마|어떻게"
)
_LOOKS_BACK = regex(
    r"(?<!\w)(?:again|once more|recall|remind|remember|tell me|show me|nochmals?|noch (?:ein)?mal|erinner\w*|zeige? mir"
    r"|sage? mir|encore|rappel\w*|remontre\w*|montre\w*|dis-moi|otra vez|de nuevo|recuerd\w*|muestra\w*|dime"
    r"|di nuovo|ancora|ricord\w*|mostrami|dimmi|de novo|novamente|lembr\w*|mostre|diga|opnieuw|nog een\w*|toon|zeg"
    r"|jeszcze raz|ponownie|pokaz\w*|powiedz|przypomni\w*|еще раз|ещё раз|снова|напомни\w*|покажи\w*|скажи\w*"
    r"|tekrar|goster\w*|soyle\w*|hat[ıi]rla\w*|igen|visa mig|ujra|megint|mutasd)(?!\w)"
    r"|再[看读说]|告诉|给我看|もう一度|再度|教えて|見せて|다시|알려|보여"
)
_FORGETS = regex(
    r"(?<!\w)(?:forget|ignor\w*|never ?mind|skip|vergiss|vergesst|vergessen wir|oubli\w*|olvid\w*|dimentic\w*"
    r"|lascia\w* perdere|esque[cs]\w*|vergeet|zapomnij\w*|забудь\w*|забыли|bos ?ver\w*|unut|glom|glem)(?!\w)"
    r"|忘了|忘记|忘掉|忘れて|잊어"
)
_DOES = regex(
    r"(?<!\w)(?:creat\w*|delet\w*|remov\w*|renam\w*|overwrit\w*|execut\w*"
    r"|(?:^\W*|(?:please|you|now|just|then|let'?s) )(?:run|start|launch)"
    r"|losch\w*|entfern\w*|erstell\w*|anleg\w*|lege?|starte\w*|fuhre?\w*|ausfuhr\w*"
    r"|cre[aeo]\w*|supprim\w*|efface\w*|lance\w*|borra\w*|elimin\w*|ejecut\w*|cri[ae]\w*|cancell\w*|rimuov\w*|esegu\w*"
    r"|apag\w*|remova|exclu\w*|verwijder\w*|maak|wis|draai|usun\w*|utworz\w*|stworz\w*|skasuj\w*|uruchom\w*"
    r"|удали\w*|созда\w*|сотри\w*|запусти\w*|sil|siler\w*|olustur\w*|cal[ıi]st[ıi]r\w*"
    r"|ta bort|radera|skapa|slet|torol\w*"
    r"|from scratch|anew|von grund auf|ganz neu|a partir de zero|de zero|de cero|da zero|do zero|od (?:nowa|zera)"
    r"|с нуля|sıf[ıi]rdan|fran grunden|fra bunden)(?!\w)"
    r"|从头|从零|一から|ゼロから|처음부터"
    r"|删除|删掉|创建|新建|运行|执行|削除|消して|作成|作って|実行|삭제|지워|만들|실행"
)

_NEW = regex(
    r"(?:(?<!\w)\w+ )?(?<!\w)(?:nouve(?:au|lle|aux|lles)|vides?|vierges?|nuev[oa]s?|vaci[oa]s?|en blanco|nuov[oaie]"
    r"|vuot[oaie]|nov[oa]s?|vazi[oa]s?|em branco)(?!\w)(?: \w+){0,2}"
    r"|(?<!\w)(?:new|empty|blank|fresh|neue?[nmrs]?|leere?[nmrs]?|nieuwe?|lee?ge?|now[aeyą]|pust[aey]|ny|nytt|nya|nye"
    r"|tomt?|tomma|нов(?:ый|ая|ое|ые|ую|ого|ой|ых)|пуст(?:ой|ая|ое|ые|ую|ого|ых)|yeni|bos)(?!\w)(?: \w+){0,2}"
)
"""A word for what is new, with the words beside it that say what."""

_HAS_DONE = regex(
    r"^\W*(?:and |und |et |y |e |en |och |og |so )?(?:now |just )?(?:(?:i|we)(?:'ve| have)(?! to(?!\w))"
    r"|(?:i|we) (?:now |just )?(?!(?:need|proceed|feed)(?!\w))(?:\w+ed|wrote|made|did|sent)"
    r"|(?:ich habe?|wir haben|habe)(?!.* zu )|j'ai(?! besoin)|nous avons(?! besoin)|he|hemos|ho(?! bisogno)"
    r"|abbiamo(?! bisogno)|(?:ik heb|we hebben)(?!.* nodig)|(?:jag|vi|jeg) har)(?!\w)"
    r"|(?<!\w)я \w+л[аи]?(?!\w)|^\W*\w+(?:łem|łam|lismy|łysmy)(?!\w)|\w(?<!\ba)(?<!\byar)[dt][ıiu][mk]\W*$"
    r"|\w[ıiu]l[dt][ıiu]\W*$|ました\W*$|已经|(?:했|었|았|였)습니다"
)
_SAME = regex(
    r"(?<!\w)(?:same|gleich\w*|selbe\w*|meme|mism[oa]s?|stess[oaie]|mesm[oa]s?|zelfde|ta sama|ten sam|tak\w* sam\w*"
    r"|так\w* же|т[оа]\w? же|aynı|sam[mt]a)(?!\w)|同じ|同样|같은"
)
"""What is made the same as another thing needs that."""


@attrs.frozen(kw_only=True)
class Mention:
    """
    A name in a message.

    Attributes:
        name: The name, as it is spelt there.
        asks: The sentence asks for it, or looks back at it.
        about: The words that say what about it is meant: its sentence, or the whole message where that asks.
        is_done_to: The sentence does something to it.

    """

    name: str
    asks: bool
    about: str
    is_done_to: bool = False

    @property
    def is_ticket(self) -> bool:
        """Whether it is a ticket's id: people do not heed its case."""
        return _TICKET.fullmatch(self.name) is not None


@attrs.frozen(kw_only=True)
class Mentions:
    """
    The names in a message.

    Attributes:
        named: Those that may be meant as something of the past, those asked for first.
        dismissed: Those that are done with, or to be forgotten, made, deleted or run; of symbols only those that are
            done with or to be forgotten, because the rest may concern a part of one.

    """

    named: tuple[Mention, ...] = ()
    dismissed: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All names."""
        return self.dismissed.union(mention.name for mention in self.named)

    @classmethod
    def of(cls, text: str, *, is_plan: bool = False) -> Mentions:
        """
        Return the names of a message; none of one longer than ``LONGEST``.

        In a plan, an agent's words about its next step, whatever is named is asked for if it is not dismissed.
        """
        if len(text) > LONGEST:
            return cls()
        found = list(_found(text, is_plan=is_plan))
        named = dict.fromkeys(sorted((each for each, gone in found if not gone), key=_order))
        return cls(named=tuple(named), dismissed=frozenset(each.name for each, gone in found if gone))


@attrs.frozen
class Needs:
    """
    What of a message may mean something of the past.

    Attributes:
        text: Its clauses without those about what is done, done with or to be done, and without what is called new.
        asks: Those of them that ask for something; in an agent's words about its next step all of them.

    """

    text: str = ""
    asks: str = ""

    @classmethod
    def of(cls, text: str, *, is_plan: bool = False) -> Needs:
        """Return those of a message, in a plan of an agent's words about its next step; of a paste none."""
        if len(text) > LONGEST:
            return cls()
        clauses = [clause for clause in _clauses(text) if not clause.ends and not _does(clause, is_plan=is_plan)]
        asks = [clause for clause in clauses if is_plan or clause.asks or _needs(clause.sentence, is_taken=False)]
        return cls(*("\n".join(_without_new(each, is_plan) for each in kept) for kept in (clauses, asks)))


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def asks(sentence: str, *, by_mark: bool = False) -> bool:
    """Return whether a sentence asks for something, or looks back at it; by a question mark only, if wanted."""
    plain = folded(sentence)
    patterns = (_MARK,) if by_mark else (_MARK, _INTERROGATIVE, _LOOKS_BACK)
    return any(pattern.search(plain) is not None for pattern in patterns)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of a text, the longest first, without those inside of longer ones."""
    formed = (each.group().strip("`").rstrip("./:;!?") for each in _NAME.finditer(text))
    names: list[str] = []
    for name in sorted({*formed, *scan(text).names}, key=lambda name: (-len(name), name)):
        if (len(name) >= _SHORTEST or name[0] == "#") and not any(_is_part(name, longer) for longer in names):
            names.append(name)
    return tuple(names)


def without_names(text: str, names: Iterable[str]) -> str:
    """Return a text with a sign in the place of each of some names: their parts are no words of it."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "_")
    return text


# -- inside ----------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _Clause:
    """
    A clause of a message.

    Attributes:
        text: The clause.
        sentence: Its sentence.
        names: The names in it.
        asks: Its sentence asks for something, or looks back at it.
        about: The words that say what is meant: its sentence, or the whole message where that asks.
        ends: What it names is done with, or to be forgotten.
        does: What it names is to be made, deleted or run.

    """

    text: str
    sentence: str
    names: tuple[str, ...]
    asks: bool
    about: str
    ends: bool
    does: bool

    @property
    def plain(self) -> str:
        """The clause without its names, case and accents."""
        return folded(without_names(self.text, self.names))

    @property
    def has_done(self) -> bool:
        """Whether it tells what the agent has done, if an agent says it."""
        return _HAS_DONE.search(self.plain) is not None


def _found(text: str, *, is_plan: bool) -> Iterator[tuple[Mention, bool]]:
    """Yield the names clause by clause, and whether each is dismissed."""
    for clause in _clauses(text):
        for name in clause.names:
            is_taken = _TAKEN_FROM.search(folded(clause.text.partition(name)[0])) is not None
            is_symbol = _SYMBOL.fullmatch(name) is not None and name in names_in(clause.text)
            request = without_names(clause.sentence, clause.names)
            is_deed = not is_symbol and is_done_to(clause.sentence, name) and not _is_same(request)
            needs = clause.asks or (is_plan and not is_deed) or _needs(request, is_taken=is_taken, is_deed=is_deed)
            is_made = clause.does and not is_symbol and not (is_plan and (is_taken or _is_same(request)))
            is_gone = clause.ends or is_made or (is_plan and clause.has_done)
            yield Mention(name=name, asks=needs, about=clause.about, is_done_to=is_deed), is_gone


def _clauses(text: str) -> Iterator[_Clause]:
    sentences = sentences_in(text)
    asking = [asks(without_names(sentence, names_in(sentence))) for sentence in sentences]
    for sentence, is_asking in zip(sentences, asking, strict=True):
        clauses = _CLAUSE.split(sentence)
        for clause in clauses:
            names = names_in(clause)
            plain = folded(without_names(clause, names))
            looks_back = asks(plain) or _LOOKS_BACK.search(folded(text)) is not None
            others = (other for other in clauses if other is not clause)
            is_question = sum(asking) > is_asking or _INTERROGATIVE.search(plain) is not None or any(map(asks, others))
            yield _Clause(
                text=clause,
                sentence=sentence,
                names=names,
                asks=is_asking,
                about=text if any(asking) else sentence,
                ends=_FORGETS.search(plain) is not None or (_FINISHED.search(plain) is not None and not looks_back),
                does=_DOES.search(plain) is not None and not is_question,
            )


def _does(clause: _Clause, *, is_plan: bool) -> bool:
    """Return whether something is done to what a clause is about, or was done by the agent."""
    if is_plan and _is_same(clause.plain):
        return False
    return clause.does or (is_plan and clause.has_done)


def _without_new(clause: _Clause, is_plan: bool) -> str:
    """Return a clause without what it calls new: an earlier one is not meant."""
    if clause.asks and not is_plan:
        return clause.text
    places = [found.span() for found in _NEW.finditer(folded(clause.text))]
    kept = clause.text
    for start, end in reversed(places):
        kept = f"{kept[:start]} {kept[end:]}"
    return kept


def _is_same(request: str) -> bool:
    return _SAME.search(folded(request)) is not None


def _needs(request: str, *, is_taken: bool, is_deed: bool = False) -> bool:
    """Return whether a request uses what it names, or asks for something else with it than a deed."""
    plain = folded(request)
    if _USES.search(plain) is not None or _is_same(plain):
        return True
    says_much = len({word.run for word in plain_words(plain, LONGEST)}) >= _LEAST_WORDS
    return says_much and (is_taken or (not is_deed and _PLEASES.search(plain) is not None))


def _is_part(name: str, longer: str) -> bool:
    """Return whether a name is in a longer one, which is not just the name with an ending or other words at it."""
    is_bare = longer.startswith(f"{name}-") or (name.isascii() and not longer.isascii())
    return name in longer and not is_bare


def _order(mention: Mention) -> tuple[bool, int]:
    return not mention.asks, -len(mention.name)
