"""OpenAI's Responses: items and rules."""
