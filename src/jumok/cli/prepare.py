"""`jumok prepare`."""

from __future__ import annotations

from jumok.cli.options import ConfigFile, Settings


def prepare(config: ConfigFile, settings: Settings = None) -> None:
    """Clean the corpus, learn the subwords, write the prepared corpus under prepared/NAME.

    `jumok train` does this by itself; a second time does nothing.

    Example: jumok prepare recipes/demo.toml
    """
    from jumok import pipeline
    from jumok.config import load_config

    corpus = pipeline.prepare(load_config(config, settings))
    print(f"{corpus.folder}: ready; next: jumok train {config}")
