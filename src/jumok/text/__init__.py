"""Text before it is numbers: normalisation, languages, sentence ends, subwords."""
