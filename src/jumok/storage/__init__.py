"""What a run leaves on disk: the run directory and its checkpoints. Nothing is ever unpickled."""
