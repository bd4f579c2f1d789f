"""`jumok prepare`."""

from __future__ import annotations

from jumok.cli.options import ConfigFile, Settings
from jumok.cli.train import StartFrom, with_start


def prepare(config: ConfigFile, settings: Settings = None, start_from: StartFrom = None) -> None:
    """Clean the corpus, learn the subwords, write the prepared corpus under prepared/NAME.

    `jumok train` does this by itself; a second time does nothing. With --from the subwords of that run are taken.

    Example: jumok prepare recipes/demo.toml
    """
    from jumok import pipeline
    from jumok.config import load_config

    corpus = pipeline.prepare(load_config(config, with_start(settings, start_from)))
    print(f"{corpus.folder}: ready; next: jumok train {config}" + (f" --from {start_from}" if start_from else ""))
