"""
Finds names in ordinary letters that the originals do not contain: ``Redis``, ``Dr. Weber``.

Judged are capitalised words after a word in small letters, in English sentences in the past tense about English
originals; in other languages only persons, by a title or by what they do, because each calls Munich and Tokyo otherwise
and has its own capitals. Nothing is judged if the originals are in another script or, for who acts, in another
language. The first word of another sentence, headings, labels and all-capitals are no names, nor are roles, languages,
months and days. A name occurs if some word or path of the originals begins with it, or with what commands and packages
call it (``psycopg2`` for Postgres), if a code of theirs stands for it, or if one of their words is another form of it,
in Polish and Russian.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gc_core.summaries.acting_names import acting_names, is_role, unknown_signs
from gc_core.summaries.codes import Codes
from gc_core.summaries.languages import MOST_READ, languages_of
from gc_core.summaries.name_forms import CYRILLIC, NameForms
from gc_core.values.patterns import regex

_NAMED = regex(r"(?<=[a-zà-ÿ,;] )([A-ZÀ-Þ][a-zà-ÿ]{3,40})(?![\w/-]|\.\w)")
_TITLED = regex(
    r"\b(?:Dr|Prof|Mr|Mrs|Ms|Mme|Frau|Herrn?|Señora?|Sra?|Signora?|Senhora?)\.? (?:Dr\. )?"
    r"([A-ZÀ-Þ][a-zà-ÿ]{2,40})(?!\w)"
)
_LABEL = regex(r"\*\*[^*\n]{1,80}\*\*|^\W{0,8}(?:\d{1,2}[.)] )?[A-Z][^.:\n]{0,60}:(?= )", re.MULTILINE)
_ENGLISH = regex(r"\b(?:[Tt]he|an?|of|to|by|and|with|on|for|from|that|at)\b")
_FOREIGN = regex(
    r"\b(?:der|die|das|und|ich|nicht|mit|für|les|est|une|avec|pour|que|el|los|una|con|para|por|il|che|sono|não|uma|het"
    r"|een|och|att|jest|nie|się)\b",
    re.IGNORECASE,
)
_OTHER_SCRIPT = regex(r"[\u0370-\u1cff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
_PAST = regex(r"\b(?:was|were|had|did|made|gave|took|went|wrote|ran|[a-z]{2,20}ed)\b")
_CAPITALISED = regex(r"\b[A-ZÀ-Þ][a-zà-ÿ]{2,}")
_LONG = regex(r"[^\W\d_]{3,}")
_SQUEEZED = regex(r"[\W_]+")

_DECLINE_NAMES: Final = frozenset({"pl", "ru"})
_GENERAL: Final = frozenset(
    """
    january february march april june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday easter christmas ramadan hanukkah passover diwali thanksgiving halloween pentecost advent
    german french ukrainian dutch czech greek hebrew hindi latin american european swiss arab mexican african asian thai
    catalan urdu bengali tamil telugu swahili farsi mandarin afrikaans esperanto tagalog welsh scots basque slovak
    slovene croat serb filipino lao khmer israeli pakistani cuban tibetan kazakh uzbek nepali punjabi
    greece germany france spain italy portugal brazil russia china japan india england scotland wales ireland britain
    europe america austria switzerland denmark sweden norway finland poland turkey ukraine canada mexico argentina chile
    colombia peru cuba australia zealand korea vietnam thailand indonesia malaysia singapore philippines pakistan
    bangladesh nepal iran iraq israel egypt morocco nigeria kenya ethiopia iceland belgium netherlands luxembourg
    hungary romania bulgaria croatia serbia slovakia slovenia czechia estonia latvia lithuania belarus asia africa
    north south east west northern southern eastern western central celsius fahrenheit kelvin euro earth
    user assistant agent claude system python java javascript typescript kotlin swift scala rust ruby perl haskell
    elixir golang bash shell unix linux windows macos markdown unicode boolean internet gregorian roman docker excel
    option phase section admin pull request step part chapter table figure page line stage round level appendix issue
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_PEOPLE = regex(
    r"(?:^(?:engl|span|turk|pol|dan|swed|finn|ir|scott|brit|jew|kurd|flem|corn|yidd)ish|ese|[a-z]{3}ian|[a-z]{3}ean|[a-z]{3}ic)$"
)
"""How names of languages and nationalities end. Short names such as Brian, Sean and Eric end so as well."""

_CALLED: Final = {
    "postgres": ("postgresdb", "psycopg", "psql", "pgsql", "pgdump", "asyncpg"),
    "postgresql": ("postgres", "psycopg", "psql", "pgsql", "pgdump", "asyncpg"),
    "kubernetes": ("kubectl", "k8s", "kube"),
    "wireguard": ("wg0", "wgquick", "wgshow"),
    "elasticsearch": ("elastic", "opensearch"),
    "terraform": ("tfstate", "tfplan", "maintf", "variablestf"),
    "ansible": ("playbook",),
    "rabbitmq": ("amqp", "rabbit"),
    "mongodb": ("mongo",),
    "mariadb": ("mysql",),
    "mysql": ("autoincrement", "onlyfullgroupby"),
    "covid": ("pandemic", "coronavirus"),
    "homebrew": ("brew",),
    "fibonacci": ("fib",),
    "javascript": ("npm", "node", "packagejson", "ecmascript"),
    "typescript": ("tsconfig", "tsc", "tsx"),
    "github": ("ghpr", "ghissue", "ghrun", "ghapi"),
    "gitlab": ("glab",),
    "maven": ("mvn", "pomxml"),
    "debian": ("aptget", "dpkg"),
    "ubuntu": ("aptget", "dpkg"),
    "django": ("managepy",),
    "react": ("jsx", "tsx"),
    "svelte": ("sveltekit",),
    "amazon": ("aws",),
    "google": ("gcp", "gmail", "gcloud"),
    "microsoft": ("azure", "outlook", "msft"),
    "apple": ("iphone", "macbook", "icloud"),
}
"""What stands for a name in commands, files and packages."""


def is_called_otherwise(name: str, squeezed: str) -> bool:
    """Return whether originals, in small letters and without separators, have another usual word for a name."""
    return any(other in squeezed for other in _CALLED.get(name.lower(), ()))


def unknown_names(prose: str, originals: Iterable[str]) -> tuple[str, ...]:
    """Return names in ordinary letters that occur in none of the originals, in order. O(length of both)."""
    whole = "\n".join(originals)
    found = [*_unknown(prose, whole), *unknown_signs(prose, whole)]
    return tuple(dict.fromkeys(found))


def _unknown(prose: str, whole: str) -> Iterator[str]:
    """Yield unknown names of an alphabet, if the originals are in the same."""
    beginning = whole[:MOST_READ]
    if _OTHER_SCRIPT.search(beginning) and not (CYRILLIC.search(prose) and CYRILLIC.search(beginning)):
        return
    languages = languages_of(prose) & languages_of(beginning)
    acting = acting_names(prose) if languages else ()
    names = dict.fromkeys((*_names(prose, in_english=_is_english(beginning)), *acting))
    if not names:
        return
    forms, codes, squeezed = NameForms(whole), Codes(whole), _SQUEEZED.sub("", whole.lower())
    spelt = frozenset(codes.spelt_out(prose))
    unknown = [name for name in names if not (name in spelt or forms.occur(name) or codes.stand_for(name))]
    unknown = [name for name in unknown if not is_called_otherwise(name, squeezed)]
    declines = not languages.isdisjoint(_DECLINE_NAMES)
    yield from (name for name in unknown if not (declines and forms.have_form(name.lower())))


def _is_english(text: str) -> bool:
    """Return whether more English words than others stand in a text."""
    return len(_ENGLISH.findall(text)) > len(_FOREIGN.findall(text))


def _names(prose: str, *, in_english: bool) -> Iterator[str]:
    """Yield names after titles, and those of English sentences if they are asked for."""
    for line in prose.split("\n"):
        yield from (name for name in _TITLED.findall(line) if not is_role(name))
        if in_english and not line.lstrip().startswith("#") and _ENGLISH.search(line) and _PAST.search(line):
            sentences = _LABEL.sub("", line)
            if not _is_heading(sentences):
                yield from (name for name in _NAMED.findall(sentences) if not _is_general(name.lower()))


def _is_general(name: str) -> bool:
    is_common = any(word in _GENERAL or is_role(word) for word in (name, name.removesuffix("s")))
    return is_common or _PEOPLE.search(name) is not None


def _is_heading(line: str) -> bool:
    """Return whether half of the long words but the first have a capital."""
    return 2 * len(_CAPITALISED.findall(line)[1:]) >= len(_LONG.findall(line)[1:])
