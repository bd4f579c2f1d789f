"""The command line: one small file a command, which imports what it needs only when it is called."""

from jumok.cli.app import main

__all__ = ["main"]
