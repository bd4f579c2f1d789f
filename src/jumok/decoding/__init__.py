"""Prediction: greedy, beam and sampling. Knows `models.interface` and nothing else of a model."""
