"""What an adapter says where its framework is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def needs(framework: str, *, distribution: str) -> Iterator[None]:
    """
    Import a framework inside this block: an ImportError says what to install.

    Args:
        framework: The framework's name and oldest version, as pip reads it: ``"langchain>=1.5"``.
        distribution: The adapter's own distribution, which brings it along: ``"gc-langchain"``.

    Raises:
        ImportError: Something that the block imports is missing or too old; it names the module and the command.

    """
    try:
        yield
    except ImportError as error:
        text = f'{distribution} needs {framework}, and {error}: pip install {distribution} "{framework}"'
        raise ImportError(text, name=error.name, path=error.path) from error
