"""Oldest turns go first."""
