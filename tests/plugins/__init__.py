"""Plugins as third parties write them, good and bad: tests register them, or install them under an entry point."""
