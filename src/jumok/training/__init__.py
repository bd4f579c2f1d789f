"""How a model learns: loss, schedule, optimizer, and the trainer, read top to bottom."""
