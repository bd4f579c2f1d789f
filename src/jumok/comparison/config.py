"""What is compared: a complete run for each system, made from the sections that all share and its own.

A system gets the shared section, over it what the catalogue says of its base, over it what is its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jumok.architectures import ARCHITECTURES, DEFAULT
from jumok.comparison.catalogue import CATALOGUE, Entry, Values
from jumok.comparison.sections import BudgetKind, CompareSection, SystemSection, own_sections
from jumok.config import Config, DataConfig, TokenizerConfig, parse_config, read_toml
from jumok.errors import ConfigError, nearest

LIMITS = {"steps": "max_steps", "tokens": "max_tokens", "flops": "max_flops", "minutes": "max_minutes"}
_NO_LIMIT = 10**9  # steps that no training makes: another budget ends it
_SHARED = ("model", "training", "decoding", "tokenizer")


@dataclass(frozen=True)
class Budget:
    """What every system has equally much of."""

    kind: BudgetKind
    amount: float

    @property
    def limits(self) -> Values:
        """The keys of [training] that end a training with the budget."""
        amount = int(self.amount) if self.kind in ("steps", "tokens") else self.amount
        return {"max_steps": _NO_LIMIT, LIMITS[self.kind]: amount}

    def __str__(self) -> str:
        if self.kind == "flops":
            return f"{self.amount:.3g} FLOPs"
        unit = {"tokens": "target pieces", "minutes": "minutes" if self.amount != 1 else "minute"}.get(
            self.kind, "steps"
        )
        return f"{self.amount:,g} {unit}" if self.kind == "minutes" else f"{int(self.amount):,} {unit}"


@dataclass(frozen=True)
class System:
    """One row: a run to train, or an ensemble of others."""

    name: str
    title: str
    paper: str
    note: str
    config: Config | None  # None: an ensemble
    start_from: str | None = None
    members: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        """The systems that have to be trained before."""
        return self.members or ((self.start_from,) if self.start_from else ())


@dataclass(frozen=True)
class ComparisonConfig:
    """A whole comparison."""

    name: str
    data: DataConfig
    tokenizer: TokenizerConfig  # the shared one
    systems: tuple[System, ...]
    budget: Budget
    baseline: str
    with_paper: bool

    @property
    def folder(self) -> Path:
        """Where the runs are, and the table."""
        return Path("runs") / self.name

    def system(self, name: str) -> System:
        """One of them."""
        return next(system for system in self.systems if system.name == name)


def load_comparison(path: str | Path, settings: list[str] | None = None) -> ComparisonConfig:
    """Read a TOML file; each of `settings` is a `section.key=value` that goes over it."""
    values, where = read_toml(path, settings), str(path)
    compare, sections = own_sections(values, where)
    shared = {key: value for key, value in values.items() if key not in ("compare", "systems", "model")}
    common = parse_config(shared, where)  # a mistake in what is shared is reported once
    folder = str(Path(common.data.folder).expanduser().resolve())
    shared["data"] = {**shared["data"], "folder": folder}
    budget = _budget(compare, [shared, *(section.model_dump() for section in sections.values())], where)

    entries = {name: _entry(name, section, where) for name, section in sections.items()}
    for name in sections:
        _check_needs(name, sections, entries, where)
    model = values.get("model", {})
    _refuse_unknown_numbers(model, [_architecture(model, entries[name], sections[name]) for name in sections], where)
    systems = [
        _system(
            name, section, entries[name], _shared_by(name, sections, entries, {**shared, "model": model}), budget, where
        )
        for name, section in sections.items()
    ]
    return ComparisonConfig(
        common.name,
        common.data.model_copy(update={"folder": folder}),
        common.tokenizer,
        tuple(systems),
        budget,
        _baseline(compare, list(sections), where),
        compare.with_paper,
    )


def _system(
    name: str, section: SystemSection, entry: Entry | None, shared: Values, budget: Budget, where: str
) -> System:
    if section.ensemble:
        return System(name, section.title or name, "", section.note, None, members=tuple(section.ensemble))
    values = _merged(shared, entry, section)
    values["name"] = f"{shared['name']}.{name}"
    values["training"] |= budget.limits
    start_from = next(iter(_needs(section, entry)), None)
    if start_from:
        values["training"]["start_from"] = str((Path("runs") / shared["name"] / start_from).resolve())
    config = parse_config(values, where=f"{where}: system {name}")
    title, paper = (entry.title, entry.paper) if entry else (name, "")
    return System(name, section.title or title, paper, section.note, config, start_from)


def is_comparison(path: str | Path) -> bool:
    """Whether a TOML file is about a comparison and not about a single run."""
    return "compare" in read_toml(path)


def in_order_of_need(systems: tuple[System, ...]) -> list[System]:
    """Systems that others start from, or are made of, before these; else as they stand."""
    by_name = {system.name: system for system in systems}
    ordered: dict[str, System] = {}

    def visit(system: System) -> None:
        for name in system.needs:
            if name in by_name and name not in ordered:
                visit(by_name[name])
        ordered[system.name] = system

    for system in systems:
        if system.name not in ordered:
            visit(system)
    return list(ordered.values())


# --- checks ------------------------------------------------------------------------------------------------------


def _budget(compare: CompareSection, owners: list[Values], where: str) -> Budget:
    """The budget, where nothing else is said about when a training ends."""
    for owner in owners:
        training = owner.get("training", {})
        for key in (*LIMITS.values(), "patience"):
            if isinstance(training, dict) and key in training:
                raise ConfigError(
                    f"{where}: training.{key} would make the budget unequal; [compare] budget and amount say when a "
                    "training ends"
                )
    budget = Budget(compare.budget, compare.amount)
    if budget.kind in ("steps", "tokens") and budget.amount < 1:
        raise ConfigError(f"{where}: [compare] amount = {compare.amount:g} {budget.kind}: not even one update")
    return budget


def _entry(name: str, section: SystemSection, where: str) -> Entry | None:
    """What the catalogue says of a system; nothing of one that is a variant of [model]."""
    base = section.base or (name if name in CATALOGUE else None)
    if base is not None and base not in CATALOGUE:
        raise ConfigError(f"{where}: [systems.{name}] base = {base!r} is not known; {nearest(base, CATALOGUE)}")
    return CATALOGUE[base] if base else None


def _check_needs(name: str, sections: dict[str, SystemSection], entries: dict[str, Entry | None], where: str) -> None:
    """What a system starts from, or averages, is compared too, is trained itself, and does not need it in turn."""
    section = sections[name]
    if section.ensemble:
        own = [key for key in ("base", "start_from", *_SHARED) if key in section.model_fields_set]
        if own:
            raise ConfigError(f"{where}: [systems.{name}] is an ensemble and has nothing to train; remove {own[0]}")
        if len(section.ensemble) < 2:
            raise ConfigError(f"{where}: [systems.{name}] ensemble names one system; it takes two or more")
    for need in _needs(section, entries[name]):
        says = f"system {name} {'averages' if section.ensemble else 'starts from'} {need}"
        if need not in sections:
            advice = nearest(need, sections)
            raise ConfigError(f"{where}: {says}, which is not among the systems of [compare]; {advice}")
        if sections[need].ensemble:
            raise ConfigError(f"{where}: {says}, which is an ensemble; name systems that are trained")
    passed, following = [name], _needs(section, entries[name])
    while following and not section.ensemble:
        if following[0] in passed:
            raise ConfigError(f"{where}: {' starts from '.join([*passed, following[0]])}: none can be the first")
        passed.append(following[0])
        following = _needs(sections[following[0]], entries[following[0]]) if following[0] in sections else []


def _needs(section: SystemSection, entry: Entry | None) -> list[str]:
    start_from = section.start_from or (entry.start_from if entry else None)
    return section.ensemble or ([start_from] if start_from else [])


def _baseline(compare: CompareSection, names: list[str], where: str) -> str:
    if compare.baseline is None:
        return "transformer" if "transformer" in names else names[-1]
    if compare.baseline not in names:
        raise ConfigError(
            f"{where}: [compare] baseline = {compare.baseline!r} is not among the systems; "
            f"{nearest(compare.baseline, names)}"
        )
    return compare.baseline


# --- merging -----------------------------------------------------------------------------------------------------


def _shared_by(
    name: str, sections: dict[str, SystemSection], entries: dict[str, Entry | None], shared: Values
) -> Values:
    """The shared sections; model and pieces of a system that starts from another are those of the other."""
    section, entry = sections[name], entries[name]
    if section.ensemble or not (needed := _needs(section, entry)):
        return shared
    start = needed[0]
    before = _merged(_shared_by(start, sections, entries, shared), entries[start], sections[start])
    return {**shared, "model": before["model"], "tokenizer": before["tokenizer"]}


def _merged(shared: Values, entry: Entry | None, section: SystemSection) -> Values:
    """The complete values of a run."""
    merged = dict(shared)
    layers = [entry.sections()] if entry else []
    layers.append({key: getattr(section, key) for key in _SHARED})
    for key in _SHARED:
        values = dict(shared.get(key, {}))
        if key == "model":
            values = _numbers_for(_architecture(values, entry, section), values, layers)
        else:
            for layer in layers:
                values |= layer[key]
        merged[key] = values
    return merged


def _architecture(shared: Values, entry: Entry | None, section: SystemSection) -> str:
    layers = [shared, entry.model if entry else {}, section.model]
    return str([layer["architecture"] for layer in [{"architecture": DEFAULT}, *layers] if "architecture" in layer][-1])


def _numbers_for(architecture: str, shared: Values, layers: list[Values]) -> Values:
    """The shared numbers that an architecture has, and its own; who names a preset does not want the shared numbers."""
    numbers = ARCHITECTURES.get(architecture)
    values = {key: value for key, value in shared.items() if numbers is None or key in numbers.model_fields}
    for layer in layers:
        own = layer["model"]
        if "preset" in own and numbers is not None:
            of_presets = {key for preset in numbers.presets.values() for key in preset}
            values = {key: value for key, value in values.items() if key not in of_presets}
        values |= own
    return {**values, "architecture": architecture}


def _refuse_unknown_numbers(shared: Any, architectures: list[str], where: str) -> None:
    """A shared number that an architecture does not have is left out for it; one that none has is a mistake."""
    if not isinstance(shared, dict):
        raise ConfigError(f"{where}: model = {shared!r}: expected a section, [model]")
    known = {key for name in architectures if name in ARCHITECTURES for key in ARCHITECTURES[name].model_fields}
    for key in shared:
        if known and key not in known:
            raise ConfigError(f"{where}: [model] {key} is not a known key of any system; {nearest(key, sorted(known))}")
