"""Gemini's contents: its message shape and its rules."""
