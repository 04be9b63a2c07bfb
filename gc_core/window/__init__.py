"""The messages of the window with their budget, how a message becomes items, and what a strategy may see."""
