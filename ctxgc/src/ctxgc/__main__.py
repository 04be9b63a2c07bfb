"""``python -m ctxgc``, and the command ``ctxgc``."""

from __future__ import annotations

from ctxgc.cli.app import app


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
