"""How good a translation is, and what it cost to learn."""
