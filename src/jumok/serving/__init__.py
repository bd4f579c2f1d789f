"""A run over HTTP: translations for programs, and the explorer page for people."""
