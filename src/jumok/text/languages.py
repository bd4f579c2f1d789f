"""What the program has to know about a language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """A language as training and scoring see it."""

    code: str
    name: str
    has_spaces: bool = True  # words are separated by spaces
    character_coverage: float = 1.0  # share of characters that become pieces; the rest is spelled in bytes

    @property
    def unit_of_length(self) -> str:
        """What `length_of` counts."""
        return "words" if self.has_spaces else "characters"

    def length_of(self, text: str) -> int:
        """Words of a text; characters where no spaces stand between words."""
        return len(text.split()) if self.has_spaces else len(text)


_KNOWN = {
    language.code: language
    for language in (
        Language("ar", "Arabic"),
        Language("cs", "Czech"),
        Language("de", "German"),
        Language("en", "English"),
        Language("es", "Spanish"),
        Language("fr", "French"),
        Language("it", "Italian"),
        # Thousands of characters, many seen once: those are better spelled in bytes than given a piece each.
        Language("ja", "Japanese", has_spaces=False, character_coverage=0.9995),
        Language("ko", "Korean", character_coverage=0.9995),
        Language("km", "Khmer", has_spaces=False),
        Language("lo", "Lao", has_spaces=False),
        Language("my", "Burmese", has_spaces=False),
        Language("nl", "Dutch"),
        Language("pl", "Polish"),
        Language("pt", "Portuguese"),
        Language("ru", "Russian"),
        Language("th", "Thai", has_spaces=False),
        Language("tr", "Turkish"),
        Language("uk", "Ukrainian"),
        Language("vi", "Vietnamese"),
        Language("zh", "Chinese", has_spaces=False, character_coverage=0.9995),
    )
}


def language(code: str) -> Language:
    """The language of a code such as `ko`, `en-GB` or `zh_CN`; one we know nothing about is like English."""
    base = code.lower().replace("_", "-").split("-")[0]
    return _KNOWN.get(base, Language(base, code))
