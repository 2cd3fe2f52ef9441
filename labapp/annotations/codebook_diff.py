"""What differs between two versions of a codebook, and which marks that makes old."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from labapp.annotations.codebook import Code, Codebook, Tier
from labapp.annotations.model import Mark, Unit

CODE_DEFINITION = ("tier", "kind", "when", "not_", "parent")
"""What a code means: who coded by another one of these coded something else. Names, examples, keys
and colours do not matter."""
TIER_DEFINITION = ("exclusive", "on", "values")
_KEYS = {"not_": "not"}


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two versions of a codebook.

    Attributes
    ----------
    place : `code` or `tier`.
    id : of the code, or the name of the tier.
    what : `added`, `removed`, `retired`, `given again`, `renamed`, `merged`, `split` or `changed`.
    key : the key that changed; empty where it is not one key.
    before, after : what it said, and says.
    definition : whether marks given before mean something else now.
    """

    place: str
    id: str
    what: str
    key: str = ""
    before: str = ""
    after: str = ""
    definition: bool = True

    def __str__(self) -> str:
        head = f"{self.place} {self.id}"
        if self.what == "changed":
            return f"{head}: {self.key} was {self.before!r}, and is {self.after!r}"
        arrow = f" → {self.after}" if self.after else ""
        return f"{head}: {self.what}{arrow}"


def differences(old: Codebook, new: Codebook) -> tuple[Change, ...]:
    """What changed from one version to the other: tiers, then codes in their order."""
    return (*_tier_changes(old, new), *_code_changes(old, new))


def _tier_changes(old: Codebook, new: Codebook) -> Iterator[Change]:
    for tier in old.tiers:
        other = new.tier(tier.name)
        if other is None:
            yield Change("tier", tier.name, "removed")
        else:
            yield from _changed("tier", tier.name, tier, other, TIER_DEFINITION)
    for tier in new.tiers:
        if old.tier(tier.name) is None:
            yield Change("tier", tier.name, "added", definition=False)


def _code_changes(old: Codebook, new: Codebook) -> Iterator[Change]:
    for code in old.codes:
        other = new.code(code.id)
        if (other is None or other.retired) and not code.retired:
            yield _ending(code, other, new)
        elif other is not None:
            if code.retired and not other.retired:
                yield Change("code", code.id, "given again")
            yield from _changed("code", code.id, code, other, CODE_DEFINITION)
        elif code.retired:
            yield Change("code", code.id, "removed", definition=False)
    for code in new.codes:
        if old.code(code.id) is None:
            yield Change("code", code.id, "added", definition=False)


def _ending(code: Code, other: Code | None, new: Codebook) -> Change:
    """What became of a code that is not given any more."""
    successors = new.successors.get(code.id, ())
    after = ", ".join(successors)
    if len(successors) > 1:
        return Change("code", code.id, "split", after=after)
    if successors:
        merged = sum(successors == others for others in new.successors.values()) > 1
        what = "merged" if merged or successors[0] in new.merged else "renamed"
        return Change("code", code.id, what, after=after)
    if other is not None:
        return Change("code", code.id, "retired", after=other.retired)
    return Change("code", code.id, "removed")


def _changed(
    place: str, name: str, old: Code | Tier, new: Code | Tier, definition: Iterable[str]
) -> Iterator[Change]:
    before, after = asdict(old), asdict(new)
    for key, value in before.items():
        if key in ("retired", "id") or value == after[key]:
            continue
        yield Change(
            place,
            name,
            "changed",
            _KEYS.get(key, key),
            _text(value),
            _text(after[key]),
            key in definition,
        )


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Outdated:
    """A mark that was given by an older definition of its code, or to a unit that is gone.

    Attributes
    ----------
    mark : as it was given.
    units : ids of the units that are to be looked at: its own, or those in the place of its own.
    why : what is different now, in words.
    suggestions : ids of the codes that may hold now: the same one where its definition changed,
        those that took its place; empty where nothing did.
    """

    mark: Mark
    units: tuple[str, ...]
    why: str
    suggestions: tuple[str, ...] = ()


def outdated_marks(
    marks: Iterable[Mark],
    codebook: Codebook,
    versions: Mapping[str, Codebook],
    units: Sequence[Unit],
) -> tuple[Outdated, ...]:
    """The marks that have to be looked at again by a codebook, in their order.

    Parameters
    ----------
    marks : of any versions of this codebook; marks of other codebooks are passed over.
    codebook : the version that holds now.
    versions : every version that marks were given by, by its SHA-256.
    units : of the session, as they are now.
    """
    reasons: dict[tuple[str, str], tuple[str, tuple[str, ...]] | None] = {}
    known = {unit.id for unit in units}
    result: list[Outdated] = []
    for mark in marks:
        old = versions.get(mark.codebook)
        if old is not None and old.id != codebook.id:
            continue
        if mark.unit is not None and mark.unit not in known:
            instead = tuple(u.id for u in units if u.t0_ns < mark.t1_ns and mark.t0_ns < u.t1_ns)
            why = "its unit was split or merged" if instead else "its unit is gone"
            result.append(Outdated(mark, instead, why, _now(mark.code, codebook)))
            continue
        if mark.codebook == codebook.sha256:
            continue
        key = (mark.codebook, mark.code)
        if key not in reasons:
            reasons[key] = _why_outdated(mark.code, old, codebook)
        if (reason := reasons[key]) is not None:
            own = () if mark.unit is None else (mark.unit,)
            result.append(Outdated(mark, own, *reason))
    return tuple(result)


def _why_outdated(
    code_id: str, old: Codebook | None, new: Codebook
) -> tuple[str, tuple[str, ...]] | None:
    if old is None:
        return "the version of the codebook that it was given by is not there", _now(code_id, new)
    before, now = old.code(code_id), new.code(code_id)
    if now is None or now.retired:
        successors = new.following(code_id)
        if len(successors) > 1:
            return f"it was split into {', '.join(successors)}", successors
        if successors:
            return f"it is {successors[0]} now", successors
        return "the code is not given any more", ()
    if before is None:
        return "the version that it was given by has no such code", (code_id,)
    changes = [
        change
        for change in _code_and_tier_changes(before, now, old, new)
        if change.definition and change.what == "changed"
    ]
    if not changes:
        return None
    return "; ".join(f"{change.key} changed" for change in changes), (code_id,)


def _code_and_tier_changes(
    before: Code, now: Code, old: Codebook, new: Codebook
) -> Iterator[Change]:
    yield from _changed("code", before.id, before, now, CODE_DEFINITION)
    old_tier, new_tier = old.tier(before.tier), new.tier(now.tier)
    if old_tier is not None and new_tier is not None and old_tier.name == new_tier.name:
        yield from _changed("tier", old_tier.name, old_tier, new_tier, TIER_DEFINITION)


def _now(code_id: str, new: Codebook) -> tuple[str, ...]:
    code = new.code(code_id)
    return (code_id,) if code is not None and not code.retired else new.following(code_id)
