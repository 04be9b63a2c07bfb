"""OpenAI's Responses: its items and its rules."""
