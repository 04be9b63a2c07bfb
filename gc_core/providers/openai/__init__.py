"""OpenAI's Chat Completions: message shape and rules."""
