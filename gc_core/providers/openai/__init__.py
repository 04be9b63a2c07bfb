"""OpenAI's Chat Completions: its message shape and its rules."""
