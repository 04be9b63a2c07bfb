"""The command ``ctxgc``: says what is missing where the extra ``cli`` is not installed."""

from __future__ import annotations

import sys

_EXTRA = frozenset({"rich", "typer"})


def main() -> None:
    """Run the command line; exits with 2 and a hint when typer or rich is missing."""
    try:
        from gc_core.commands import app  # noqa: PLC0415 - the extra may be missing, which only this place may notice
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA:
            raise
        sys.stderr.write(f'ctxgc needs {error.name}: pip install "gc-core[cli]"\n')
        sys.exit(2)
    app()


if __name__ == "__main__":
    main()
