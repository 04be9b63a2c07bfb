"""Gemini's contents: message shape and rules."""
