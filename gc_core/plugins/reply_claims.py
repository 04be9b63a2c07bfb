"""
What a reply says of the past, as far as a log can contradict it: items, files that were read or changed, values.

Precision comes first: plans, questions, negations and conditions claim nothing, nor does code. A file counts only where
somebody says that they have read or changed it, because agents create files all the time. A value is a number right
after its name, or what something is called. A number of one or two digits is one only if its name is written as code
(``MAX_ITEMS``, in backticks, before ``=``): what prose calls "the progress" changes while nobody is wrong.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from gc_core.values.patterns import regex

_FENCED = regex(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
_SENTENCE_END = regex(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CLAUSE_END = regex(r"[,;，；、()]\s*|\s[-–—]+\s")
_NOT_SAID = frozenset({"tool_calls", "function_call", "thinking", "reasoning", "reasoning_content", "functionCall"})
_NOT_SPOKEN = frozenset({"tool_use", "server_tool_use", "function_call", "thinking", "reasoning", "redacted_thinking"})

_ITEM = regex(
    r"(?:\b(?:items?|entry|elemento?s?|élément|element|eintrag|ítem|пункт|записи?|элемент\w?)|条目|项目)"
    r" ?[`\"'«„]?(i\d{1,12})\b"
    r"|\[gc:[^\]\n]{0,200}?\b(i\d{1,12})\b",
    re.IGNORECASE,
)

_FILE = regex(
    r"(?<![\w./\\@*{:-])(?:[\w.-]{1,60}/){0,12}[\w.-]{0,80}\w\."
    r"(?:py|pyi|js|mjs|ts|tsx|jsx|go|rs|java|rb|c|h|cc|cpp|hpp|cs|php|kt|swift|scala|sh|sql|md|rst|txt|json|jsonl|ya?ml"
    r"|toml|ini|cfg|conf|env|html|css|scss|xml|csv|lock|log|ipynb|vue|tf)"
    r"(?![\w/*{])"
)
_PRODUCT = regex(r"[A-Z]\w*\.js")  # Node.js, Vue.js

_DONE = regex(
    r"\b(?:I|we)(?:['’]ve| have| had)?(?: (?:already|just|also|then|now|previously|earlier|first|both|again)){0,3}"
    r" (?:re-?)?(?:read|edited|changed|updated|modified|fixed|patched|opened|reviewed|checked|inspected|viewed|examined"
    r"|looked (?:at|into|through|over)|saw|seen|refactored|corrected|adjusted|extended|went through|deleted|removed)\b"
    r"|\b(?:ich habe?|habe? ich|wir haben|haben wir)\b[^!?\n]{0,160}?\b(?:gelesen|ge[aä]e?ndert|bearbeitet|angepasst"
    r"|aktualisiert|(?:über|ueber)?gepr(?:ü|ue)ft|korrigiert|durchgesehen|angesehen|geöffnet|gelöscht|entfernt|repariert"
    r"|behoben|erweitert)\b"
    r"|\b(?:he|hemos) (?:ya )?(?:leído|leido|modificado|editado|cambiado|actualizado|revisado|corregido|abierto|visto"
    r"|borrado|eliminado)\b"
    r"|\b(?:leí|modifiqué|edité|cambié|actualicé|revisé|corregí|abrí|borré|eliminé)\b"
    r"|\b(?:j['’]ai|nous avons)(?: (?:déjà|deja|bien|aussi|ensuite))? (?:lu|relu|modifié|édité|changé|mis à jour"
    r"|corrigé|ouvert|vérifié|consulté|supprimé|vu|examiné|adapté)\b"
    r"|\b(?:li|editei|modifiquei|alterei|atualizei|corrigi|abri|verifiquei|revisei|removi)\b"
    r"|\b(?:ho|abbiamo) (?:già )?(?:letto|modificato|aggiornato|corretto|aperto|controllato|rimosso)\b"
    r"|\bя (?:уже )?(?:прочитал|изменил|исправил|обновил|проверил|открыл|удалил)а?\b"
    r"|我(?:已经|已|刚才|刚)?.{0,2}(?:读|看|修改|编辑|改|更新|检查|查看|删除)[了过]"
    r"|^\W{0,6}(?:updated|edited|changed|modified|fixed|patched|reviewed|refactored|corrected|adjusted|deleted|removed)"
    r" (?=(?:the file )?[`\"']?[\w./-]*\w\.[a-z])"
    r"|を?(?:読み|編集し|変更し|修正し|更新し|確認し|見|削除し)ました",
    re.IGNORECASE,
)

_JOINS = regex(r"[\s`\"'*]{0,4}(?:,|,?\s?(?:and|und|et|y|e|en|и|&))[\s`\"'*]{1,4}")
_DENIED = regex(
    r"\b(?:not|never|nor|neither|without|nicht|kein\w{0,2}|nie|ohne|no|nunca|sin|ne|pas|jamais|sans|não|nunca|sem|non|mai"
    r"|не|никогда)\b|n['’]t\b|没|不|未|ませ",
    re.IGNORECASE,
)
_SUPPOSED = regex(
    r"\b(?:if|unless|whether|suppose|assuming|would|could|might|should|falls|wenn|ob|würde\w{0,2}|wuerde\w{0,2}"
    r"|könnte\w{0,2}|koennte\w{0,2}|sollte\w{0,2}|si|sería|podría|serait|pourrait|faudrait|devrait|se|seria|poderia"
    r"|если|бы)\b|如果|要是|假如|もし|なら",
    re.IGNORECASE,
)
_PLANNED = regex(
    r"\b(?:will|['’]ll|shall|may|can|let['’]?s|let me|going to|plan\w{0,3}|try|run|start|launch|use|using|used"
    r"|pick|choose|set|make|change\w?|instead|new|now|next|about|around|approximately|roughly|nearly|almost|over|under|than|example"
    r"|e\.g|increase\w?|decrease\w?|raise\w?|lower\w?|reduce\w?|propose\w?|suggest\w?|recommend\w?|expect\w{0,2}|needs?"
    r"|want|total|sum|average|add\w{0,2}|updat\w{1,3}|limit\w{0,2} to|becomes?"
    r"|wird|werde\w?|statt|neue?[nmrs]?|jetzt|etwa|rund|setze\w?|ändere|aendere|vorschlag\w{0,2}|nehme\w?|nehmen"
    r"|cambi[oa]\w{0,2}|nuev[oa]|ahora|usar|pondré|quizás?|unos|propongo|crearé"
    r"|propose|nouve\w{1,3}|maintenant|remplacer|utiliser|mettre|environ|novo|nova|agora|proponho|cerca"
    r"|будет|новый|теперь|около)\b|建议|应该|新|设|改|将|会|可以|大约|约|变更|変更|提案|新し|約|予定",
    re.IGNORECASE,
)

_PAIR = regex(
    r"(?<![\w.\-/])([^\W\d][\w.\-]{1,60})[`\"'*]{0,3}"
    r"(?:[ \t]?[:=][ \t]?"
    r"|[ \t]{1,2}(?:(?:is|was|ist|war|lautet|es|era|est|était|vale|é|è|это|是|为|は|が)[ \t:]{1,2})?)"
    r"[`\"'*]{0,3}(\d[\d,._']{1,18}\d)(?![\w%/]|[.\-:]\w)"
)
_SETTING = regex(
    r"(?<![\w.\-/])([^\W\d][\w\-]{2,60})[`\"'*]{0,3}(?: (?:in|of) [`\"']?[\w./-]{1,80}\.\w{1,5}[`\"']?)?"
    r"(?:[ \t]?[:=][ \t]?|[ \t](?:is|was|ist|es|est|é|è)[ \t](?:(?:still |now )?set to )?)[`\"'*]{0,3}"
    r"(\d{1,2}|\d{1,4}(?:\.\d{1,4}){1,3})(?![\w%/]|[.,\-:]\w|[ \t]%)"
)
_VERSION_OF = regex(r"\b(?!(?:the|its|current|die|la)\b)\w+[ \t]version\b", re.IGNORECASE)
_CALLED = regex(
    r"(?<![\w.\-/])([^\W\d]\w{2,40}) (?:is|was) (?:called|named) [`\"']?"
    r"((?=[\w\-.]{0,60}[_\d\-])[A-Za-z][\w\-.]{1,60}\w)"
)
_STATE = regex(r"\b(?:is|was) set to\b", re.IGNORECASE)
_NO_NAMES = frozenset(
    """
    line lines row rows step page pages the an of to in on at and or with is was are be by for from over under than
    total test tests passed failed issue pr item items turn version year code status error http exit commit chapter
    section case id no number only first last all some about after before until since between approximately
    und der die das mit von auf zeile zeilen el la los las de en con línea linea líneas le les du des une un ligne
    lignes que january february march april may june july august september october november december line_number
    lineno offset index column count size length time tokens bytes ms kb mb gb usd eur cost
    """.split()  # noqa: SIM905 - a list of a hundred quoted words is harder to read
)
"""What stands before a number without being the name of a value that stays the same."""


@attrs.frozen(kw_only=True)
class Claims:
    """
    What a reply tells of the past.

    Attributes:
        items: Ids of items that it refers to.
        files: Files that it says were read or changed.
        values: Names, each with the value that it gives.

    """

    items: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Claims:
        """Return what a reply tells in its text. What its own calls or code name is no claim."""
        text = said_in(reply)
        files = (file for file in files_worked_on(text) if _written(reply).count(file) == text.count(file))
        return cls(items=items_named(text), files=tuple(files), values=values_told(text))

    def besides(
        self, has_item: Callable[[str], bool], has_file: Callable[[str], bool], has_value: Callable[[str], bool]
    ) -> Claims:
        """Return the claims about what is not known."""
        return Claims(
            items=tuple(item for item in self.items if not has_item(item)),
            files=tuple(file for file in self.files if not has_file(file)),
            values=tuple(each for each in self.values if not has_value(each[1])),
        )

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.items or self.files or self.values)


def _written(reply: Mapping[str, Any]) -> str:
    """Return the whole reply, with its calls and code."""
    return json.dumps(reply, ensure_ascii=False)


def said_in(reply: Mapping[str, Any]) -> str:
    """Return what a reply says, in any provider's shape: without calls, thinking and code."""
    return _FENCED.sub(" ", "\n".join(_texts(reply)))


def _texts(reply: object) -> Iterator[str]:
    """Yield what is said in a reply, in order; without recursion, because JSON may be nested as deep as it likes."""
    waiting: list[object] = [reply]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if value.get("type") in _NOT_SPOKEN or value.get("thought"):
                continue
            kept = [(key, inner) for key, inner in value.items() if key not in _NOT_SAID]
            waiting += [_Text(inner) if _is_text(key, inner) else inner for key, inner in reversed(kept)]
        elif isinstance(value, (list, tuple)):
            waiting += reversed(value)
        elif isinstance(value, _Text):
            yield value.text


@attrs.frozen
class _Text:
    text: str


def _is_text(key: str, value: object) -> bool:
    return key in {"text", "content"} and isinstance(value, str)


def items_named(text: str) -> tuple[str, ...]:
    """Return the items that a text refers to in so many words: ``item i42``, ``[gc: ... i42 ...]``."""
    return tuple(dict.fromkeys(first or second for first, second in _ITEM.findall(text)))


def files_worked_on(text: str) -> tuple[str, ...]:
    """Return the files that a text says its author has read or changed: in each sentence one, or a list."""
    return tuple(dict.fromkeys(file for sentence in _sentences(text) for file in _file_of(sentence)))


def _file_of(sentence: str) -> Iterator[str]:
    done = _DONE.search(sentence)
    if done is None:
        return
    files = [match for match in _FILE.finditer(sentence) if not _PRODUCT.fullmatch(match[0])]
    after = [match for match in files if match.start() >= done.start()]
    for match in _listed_from_first(after, sentence) or files[-1:]:
        told = sentence[: max(match.end(), done.end())]
        if not (_DENIED.search(told) or _SUPPOSED.search(told)):
            yield match[0]


def _listed_from_first(files: Sequence[re.Match[str]], sentence: str) -> Sequence[re.Match[str]]:
    """Return the first file and those that a comma or "and" joins to it."""
    gaps = (sentence[one.end() : other.start()] for one, other in itertools.pairwise(files))
    joined = itertools.takewhile(_JOINS.fullmatch, gaps)
    return files[: 1 + sum(1 for _ in joined)]


def values_told(text: str) -> tuple[tuple[str, str], ...]:
    """Return the values that a text states as facts, each with its name."""
    found = dict[tuple[str, str], None]()
    for sentence in _sentences(text):
        if not _SUPPOSED.search(sentence) and not sentence.endswith(("?", "？")):
            for clause in _CLAUSE_END.split(sentence):
                if not _PLANNED.search(_STATE.sub(" ", clause)) and not _DENIED.search(clause):
                    prose = set(_in_prose(clause))
                    found |= dict.fromkeys(each for each in values_in(clause) if each not in prose)
    return tuple(found)


def _in_prose(clause: str) -> Iterator[tuple[str, str]]:
    """Yield numbers of one or two digits whose names are not written as code."""
    for match in _SETTING.finditer(clause):
        name, value = match[1], match[2]
        is_code = "_" in name or name.isupper() or clause[: match.start()].endswith("`") or "=" in match[0]
        if not is_code and sum(map(str.isdigit, value)) < 3:  # noqa: PLR2004 - see values_in
            yield name.lower().strip("-"), value


def values_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield every value that stands right after its name, with the name in lower case."""
    for name, value in _PAIR.findall(text):
        plain = name.lower().strip("-.")
        if plain not in _NO_NAMES and sum(map(str.isdigit, value)) >= 3:  # noqa: PLR2004 - smaller ones are counts
            yield plain, value
    yield from _settings_in(text)
    yield from ((name.lower(), value) for name, value in _CALLED.findall(text))


def _settings_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield short values, and the version if it is nobody else's: "the version", not "the React version"."""
    for match in _SETTING.finditer(text):
        name, value = match[1].lower().strip("-"), match[2]
        if name == "version":
            before = text[max(0, match.start() - 20) : match.end(1)]
            if value.count(".") > 1 and not _VERSION_OF.search(before):
                yield name, value
        elif name not in _NO_NAMES and sum(map(str.isdigit, value)) < 3:  # noqa: PLR2004 - see values_in
            yield name, value


def _sentences(text: str) -> Iterator[str]:
    return (sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence and sentence.strip())
