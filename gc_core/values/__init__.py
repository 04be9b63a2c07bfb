"""The nouns: items, messages, removals, results, the configuration, and the protocols of a strategy."""
