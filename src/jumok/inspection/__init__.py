"""A look inside: attention of a trained model, pictures of it, the report of a run."""
