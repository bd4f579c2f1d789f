"""Prediction: beam search, sampling, rules, glossaries, and a look back at what was said.

Knows `models.interface` and nothing else of a model.
"""
