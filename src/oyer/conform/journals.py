"""From a vector's evidence state to real sealed journals, and from them to what the real scorer says.

Owns the order of the steps. Every value of a vector becomes sealed events with real MCP bytes; what the vector expects
is never looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping

from oyer.adjudicate import Arm, ComparisonInput, compare, named_runs
from oyer.conform.damage import damage
from oyer.conform.declaring import vector_case
from oyer.conform.dialogue import write_dialogue
from oyer.conform.gateway import write_model
from oyer.conform.stage import Stage
from oyer.conform.vectors import ARMS, ArmState, Given, Locked
from oyer.conform.wire import write_wire
from oyer.conform.witnesses import fixture_digest, write_sink, write_world
from oyer.evidence import journal_name
from oyer.observe import TrialEvidence, read_trial
from oyer.records import Case, Comparison, Condition, PinSet, digest

__all__ = ["arm_evidence", "score"]


def score(given: Given) -> Comparison:
    """Build the journals of an evidence state, seal them, and score them with the real scorer."""
    case = vector_case(given)
    case_digest = str(digest(case))
    arms: dict[Condition, Arm] = {
        ARMS[name]: Arm(
            ARMS[name],
            f"trial-{ARMS[name]}",
            1,
            arm_evidence(given, case, case_digest, ARMS[name], state),
            case=case,
            case_digest=case_digest,
            stored=None,
        )
        for name, state in given.arms.items()
    }
    planned: tuple[Condition, ...] = ("baseline", "manipulated")
    if given.hardened or "hardened" in arms:
        planned = (*planned, "hardened")
    pinned = _pinned(given.declared.locked)
    return compare(ComparisonInput(case, case_digest, "subject", 1, planned, arms, pinned, _named(given, arms)))


def _named(given: Given, arms: Mapping[Condition, Arm]) -> Mapping[str, tuple[str, ...]]:
    """The effects that a sink refused anywhere and that name a run, by the run: those of the arms, and elsewhere."""
    found = [(run, "elsewhere/sink:actions:0") for run in given.elsewhere]
    for arm in arms.values():
        found += [(run, f"{arm.trial}/{ref}") for run, ref in named_runs(arm.evidence)]
    return {run: tuple(ref for named, ref in found if named == run) for run, _ in found}


def arm_evidence(given: Given, case: Case, case_digest: str, condition: Condition, state: ArmState) -> TrialEvidence:
    """Write and read the sealed journals of one arm."""
    stage = Stage(given, case, condition, state)
    expected, recorded = stage.envelope, state.recorded
    stage.timeline.envelope = expected._replace(
        run=recorded.run_id or expected.run,
        condition=ARMS[recorded.arm] if recorded.arm else expected.condition,
        attempt=recorded.attempt or expected.attempt,
    )
    write_dialogue(stage, case_digest, fixture_digest(given.declared.fixture))
    write_world(stage)
    write_sink(stage)
    write_model(stage)
    write_wire(stage)
    written = stage.timeline.write(state.status)
    damage(written.lines, state)
    journals = {journal_name(writer): b"".join(lines) for writer, lines in written.lines.items()}
    return read_trial(journals, written.blobs.get, expect=expected)


def _pinned(locked: Locked | None) -> PinSet | None:
    if locked is None:
        return None
    return PinSet(
        case=None,
        world=None,
        prompts=None,
        subject=locked.subject,
        parameters=None,
        models=locked.models,
        harness=None,
        dependencies=None,
        python=None,
    )
