"""A trained run as something that translates pieces."""
