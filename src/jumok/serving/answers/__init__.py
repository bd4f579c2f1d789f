"""The answers to the page's questions, one file a view: what `inspection` finds, as JSON with readable labels."""
