"""Sentence pairs: read, cleaned, prepared on disk, and dealt out in batches."""
