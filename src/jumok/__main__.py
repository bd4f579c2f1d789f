"""`python -m jumok` is `jumok`."""

from jumok.cli import main

main()
