"""Finds plugins, calls them in isolation, and records their errors."""
