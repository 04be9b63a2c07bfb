"""Anthropic's Messages: its message shape, its rules and what its context editing clears."""
