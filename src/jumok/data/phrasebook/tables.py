"""Reading the lexicon's tables, which are written to be read by people first."""


def words(text: str) -> frozenset[str]:
    """The words of a line, as a set."""
    return frozenset(text.split())


def entries(text: str, separator: str = " ") -> list[tuple[str, str]]:
    """Pairs from a list such as "사과 apple; 귤 tangerine": what stands before the separator, and after it."""
    halves = (entry.strip().partition(separator) for entry in text.split(";"))
    return [(first.strip(), second.strip()) for first, _, second in halves]


def rows(table: str) -> list[list[str]]:
    """The rows of a table with | between its cells; an indented line goes on with the row above."""
    lines = table.strip("\n").replace("\n    ", " ").split("\n")
    return [[cell.strip() for cell in line.split("|")] for line in lines]
