"""
How near two texts are in meaning, by a small model that comes inside a package: extra ``embeddings``.

wordllama (MIT) carries vectors of 256 dimensions for the words of a vocabulary, 16 MB, in its wheel, and numpy does
the rest: no model server, and no download at run time.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cached_property
from pathlib import Path
from typing import Any

from gc_core.errors import ConfigError
from gc_core.per_text import PerText

MOST_CHARS = 2_000
"""Characters of a text that are looked at, its beginning: the mean of the words of a long log means nothing."""

_LIBRARY = "wordllama"


class Embeddings:
    """
    Cosine similarity of texts; the vector of each is made once, and the model is loaded with the first.

    Raises ConfigError where the extra is not installed.
    """

    def __init__(self) -> None:
        if importlib.util.find_spec(_LIBRARY) is None:
            raise _not_installed()
        self.vectors = PerText(self._vector)

    def similarity(self, text: str, other: str) -> float:
        """From -1 to 1; 0 where one of them says nothing."""
        vector, to = self.vectors[text], self.vectors[other]
        return 0.0 if vector is None or to is None else float(vector @ to)

    def _vector(self, text: str) -> Any:
        """The vector of a text, of length 1; None where there are no words in it."""
        beginning = text[:MOST_CHARS].strip()
        if not beginning:
            return None
        (vector,) = self._model.embed([beginning], norm=False)
        length = float(vector @ vector) ** 0.5
        return vector / length if length else None

    @cached_property
    def _model(self) -> Any:
        """
        The model in the wheel. Its own directory is given as the cache: version 0.4.0 looks for its tokenizer nowhere
        else, and would download it.
        """
        library = importlib.import_module(_LIBRARY)
        return library.WordLlama.load(cache_dir=Path(str(library.__file__)).parent, disable_download=True)


def _not_installed() -> ConfigError:
    return ConfigError('importance_embeddings = True needs wordllama: pip install "gc-core[embeddings]"')
