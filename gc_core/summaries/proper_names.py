"""
Finds names in ordinary letters that the originals do not contain: ``Redis``, ``Dr. Weber``.

Judged are capitalised words after a word in small letters, in English sentences in the past tense, and in any language
what follows a title. The first word of a sentence, headings, labels and all-capitals are no names, nor are languages,
months and days, which a summary may use for what stands there in figures. A name occurs if some word or path of the
originals begins with it, or with what commands and packages call it (``psycopg2`` for Postgres).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from gc_core.values.patterns import regex

_NAMED = regex(r"(?<=[a-zà-ÿ,;] )([A-ZÀ-Þ][a-zà-ÿ]{3,40})(?![\w/-]|\.\w)")
_TITLED = regex(
    r"\b(?:Dr|Prof|Mr|Mrs|Ms|Mme|Frau|Herrn?|Señora?|Sra?|Signora?|Senhora?)\.? (?:Dr\. )?"
    r"([A-ZÀ-Þ][a-zà-ÿ]{2,40})(?!\w)"
)
_LABEL = regex(r"\*\*[^*\n]{1,80}\*\*|^\W{0,8}(?:\d{1,2}[.)] )?[A-Z][^.:\n]{0,60}:(?= )", re.MULTILINE)
_ENGLISH = regex(r"\b(?:the|an?|of|to|by|and|with)\b")
_PAST = regex(r"\b(?:was|were|had|did|made|gave|took|went|wrote|ran|[a-z]{2,20}ed)\b")
_CAPITALISED = regex(r"\b[A-ZÀ-Þ][a-zà-ÿ]{2,}")
_LONG = regex(r"[^\W\d_]{3,}")
_RUN = regex(r"(?:[A-ZÀ-Þ][a-zà-ÿ]+ ){1,5}[A-ZÀ-Þ][a-zà-ÿ]+")
_INITIALS = regex(r"\b[A-ZÀ-Þ]{3,6}\b")
_ADJECTIVE = regex(r"(?:i?an|ish|ese|ic|s)$")
_LETTERS: Final = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "æ": "a"})
_UMLAUT = regex(r"(?<=[aou])e")
_ACCENT = regex(r"[\u0300-\u036f]+")
_SQUEEZED = regex(r"[\W_]+")

_GENERAL: Final = frozenset(
    """
    january february march april june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday easter christmas
    english german french spanish italian portuguese brazilian russian ukrainian chinese japanese korean dutch polish
    czech danish swedish norwegian finnish turkish greek arabic hebrew hindi latin american british european swiss
    arab indian mexican canadian australian african asian greece germany france spain italy portugal brazil russia china
    japan india england britain europe america austria switzerland denmark sweden norway finland poland turkey ukraine
    north south east west northern southern eastern western central celsius fahrenheit kelvin euro earth
    user assistant agent claude system python java javascript typescript kotlin swift scala rust ruby perl haskell
    elixir golang bash shell unix linux windows macos markdown unicode boolean internet gregorian roman docker excel
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_CALLED: Final = {
    "postgres": ("psycopg", "psql", "pgsql", "pgdump", "asyncpg"),
    "postgresql": ("postgres", "psycopg", "psql", "pgsql", "pgdump", "asyncpg"),
    "kubernetes": ("kubectl", "k8s", "kube"),
    "elasticsearch": ("elastic", "opensearch"),
    "terraform": ("tfstate", "tfplan", "maintf", "variablestf"),
    "ansible": ("playbook",),
    "rabbitmq": ("amqp", "rabbit"),
    "mongodb": ("mongo",),
    "mariadb": ("mysql",),
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
    names = dict.fromkeys(_names(prose))
    if not names:
        return ()
    whole = "\n".join(originals)
    squeezed = _squeeze(whole)
    abbreviated = set(_abbreviated(prose, whole))
    return tuple(name for name in names if not (name in abbreviated or _occurs(_squeeze(name), squeezed)))


def _abbreviated(prose: str, whole: str) -> Iterator[str]:
    """Yield words of runs whose initials a text has."""
    known = set(_INITIALS.findall(whole))
    for words in map(str.split, _RUN.findall(prose)):
        if "".join(word[0] for word in words) in known:
            yield from words


def _squeeze(text: str) -> str:
    """Return a text in small letters, without separators, accents and the e that may stand for one."""
    parts = unicodedata.normalize("NFD", text.lower().translate(_LETTERS))
    return _UMLAUT.sub("", _SQUEEZED.sub("", _ACCENT.sub("", parts)))


def _names(prose: str) -> Iterator[str]:
    for line in prose.split("\n"):
        yield from _TITLED.findall(line)
        if not line.lstrip().startswith("#") and _ENGLISH.search(line) and _PAST.search(line):
            sentences = _LABEL.sub("", line)
            if not _is_heading(sentences):
                yield from (name for name in _NAMED.findall(sentences) if not _is_general(name.lower()))


def _is_general(name: str) -> bool:
    return name in _GENERAL or name.removesuffix("s") in _GENERAL


def _is_heading(line: str) -> bool:
    """Return whether half of the long words but the first have a capital."""
    return 2 * len(_CAPITALISED.findall(line)[1:]) >= len(_LONG.findall(line)[1:])


def _occurs(name: str, squeezed: str) -> bool:
    return name in squeezed or _ADJECTIVE.sub("", name) in squeezed or is_called_otherwise(name, squeezed)
