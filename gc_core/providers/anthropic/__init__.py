"""Anthropic's Messages: message shape, rules and context editing."""
