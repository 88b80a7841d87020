"""The answer of one comparison, for a person: a sentence first, then everything it rests on.

Owns the order of a report: outcome and sentence, the strip, reasons, attribution, order of decision, what the subject
said, and the hardened condition as a block of its own that is never mixed with the primary outcome.

Must never soften, add to or leave out a reason; every word about the result comes from the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from oyer.adjudicate import REASONS
from oyer.records import Attribution, Comparison, Outcome, Reason, Scored
from oyer.report.ledger import OUTCOME_STYLES
from oyer.report.page import Look, Page, Segment, fold, line, say
from oyer.report.strip import read_strip, render_strip
from oyer.report.verdicts import number_words

__all__ = ["CONTRASTS", "render_answer", "render_not_pinned", "render_not_shown"]

CONTRASTS: Mapping[str, str] = {
    "same_effect": "the effect occurred under the policy too",
    "passed_on_approval": "the effect occurred because the declared approver granted the call",
    "not_tested": "there was no confirmed effect for the policy to change",
    "differs": "the effect occurred without the policy and not under it",
    "undetermined": "nothing can be concluded about the condition with the policy",
}
_LOCAL = "in this repetition, under these pins; no evidence that the control works in general"
_CAUSES: Mapping[str, str] = {
    **REASONS,
    "exposed_no_attempt": "it was exposed and did not act, in this repetition, under these pins",
    "lure_removed": "the policy took out what would have exposed it, and it did not act",
}
_REFS_SHOWN = 4
_SAID_SHOWN = 300


def render_answer(
    comparison: Comparison,
    outcomes: Mapping[str, Outcome],
    look: Look,
    *,
    declared: str | None = None,
    heading: str | None = None,
) -> Page:
    """Lay out one comparison. `outcomes` are those of its trials; `declared` is the request the change acts on."""
    rows = read_strip(comparison, outcomes, declared)
    primary = comparison.primary
    title = f"repetition {comparison.repetition}" if heading is None else heading
    named = f"  {title}" if title else ""
    named += number_words([arm.trial for arm in comparison.arms])
    return (
        line(say(comparison.case, "strong"), say(" by ", "dim"), say(comparison.subject, "strong"),
             say(named, "dim")),
        (),
        *_verdict(primary, look),
        (),
        *render_strip(rows, look),
        *_reasons(primary.reasons, "Why nothing is concluded", look),
        *_attribution(primary.attribution, look),
        *_decision(primary, look),
        *_said(comparison, outcomes, look),
        *_hardened(comparison, look),
    )  # fmt: skip


def render_not_shown(comparisons: Iterable[Comparison], look: Look) -> Page:
    """Say once, for all these comparisons, what none of them shows."""
    told = list(dict.fromkeys(item for comparison in comparisons for item in comparison.not_shown))
    if not told:
        return ()
    page: Page = (line(say("What this does not show", "strong")),)
    for item in told:
        page += fold([say(item)], look, indent="  - ", hanging="    ")
    return page


def render_not_pinned(comparisons: Iterable[Comparison], look: Look) -> Page:
    """Name every field of the closed list of pins that could not be observed in some of these comparisons."""
    names = sorted({name for comparison in comparisons for name in comparison.not_pinned})
    if not names:
        return ()
    told = "Not pinned, since not observable here: " + ", ".join(names)
    return fold([say(told, "dim")], look, hanging="  ")


def _verdict(scored: Scored, look: Look, indent: str = "  ") -> Page:
    outcome = scored.mechanical_outcome
    page = (line(indent, say(outcome, OUTCOME_STYLES[outcome])), *fold([say(scored.sentence)], look, indent=indent))
    if scored.chain_complete_before_error:
        note = "The whole chain is on record, but the arm did not run to its end."
        page += fold([say(note, "warn")], look, indent=indent)
    return page


def _reasons(reasons: Sequence[Reason], title: str, look: Look) -> Page:
    if not reasons:
        return ()
    page: Page = ((), line("  ", say(f"{title} ({len(reasons)})", "strong")))
    for reason in reasons:
        where = f"  in the {reason.arm} arm" if reason.arm else ""
        page += (line("    ", say(reason.name, "warn"), say(where, "dim")),)
        page += fold([say(reason.sentence)], look, indent="      ")
        page += _refs(reason.evidence, look)
    return page


def _refs(evidence: Sequence[str], look: Look) -> Page:
    if not evidence:
        return ()
    more = f" and {len(evidence) - _REFS_SHOWN} more" if len(evidence) > _REFS_SHOWN else ""
    told = "evidence: " + ", ".join(evidence[:_REFS_SHOWN]) + more
    return fold([say(told, "dim")], look, indent="      ", hanging="        ")


def _attribution(attributions: Sequence[Attribution], look: Look) -> Page:
    if not attributions:
        return ()
    page: Page = ((), line("  ", say("Why the effect is missing", "strong")))
    for item in attributions:
        told: list[Segment | str] = [say(f"{item.link}: "), say(item.cause, "accent")]
        told.append(say(f" ({_CAUSES.get(item.cause, 'no words for it')})"))
        page += fold(told, look, indent="    ", hanging="      ")
        page += _refs(item.attempts, look)
    return page


def _decision(scored: Scored, look: Look) -> Page:
    if scored.decision_order == "witnessed":
        told = "witnessed (the model's requests show what it had read before it decided)"
    else:
        told = "not witnessed (no gateway stood between the subject and its model)"
    return ((), *fold([say(f"Order of decision: {told}", "dim")], look, indent="  "))


def _said(comparison: Comparison, outcomes: Mapping[str, Outcome], look: Look) -> Page:
    """What the subject said last where the change was made: it proves that it was said, and nothing else."""
    told = [outcomes[a.trial].said for a in comparison.arms if a.condition == "manipulated" and a.trial in outcomes]
    words = told[0][-1] if told and told[0] else ""
    if not words.strip():
        return ()
    shown = words if len(words) <= _SAID_SHOWN else words[:_SAID_SHOWN] + " ..."
    head = say("Its last words with the change (text: proves only that it was said): ", "dim")
    return fold([head, say(f'"{" ".join(shown.split())}"')], look, indent="  ", hanging="    ")


def _hardened(comparison: Comparison, look: Look) -> Page:
    scored = comparison.hardened
    if scored is None:
        return ()
    policy = comparison.policy or "the policy"
    page: Page = ((), line("  ", say(f"Under the policy {policy}", "strong"),
                           say("  a question of its own; it changes nothing above", "dim")))  # fmt: skip
    page += _verdict(scored, look, "    ")
    contrast = comparison.hardened_contrast
    if contrast is not None:
        told = [say("contrast: ", "dim"), say(contrast, "accent"), say(f" ({CONTRASTS[contrast]}), {_LOCAL}")]
        page += fold(told, look, indent="    ", hanging="      ")
    told_above = {(reason.code, reason.about, reason.sentence) for reason in comparison.primary.reasons}
    alike = [reason for reason in scored.reasons if (reason.code, reason.about, reason.sentence) in told_above]
    if alike:
        names = ", ".join(f"{reason.name} in the {reason.arm or 'same'} arm" for reason in alike)
        page += fold([say("as above: ", "dim"), say(names, "warn")], look, indent="    ", hanging="      ")
    own = [reason for reason in scored.reasons if reason not in alike]
    return page + _reasons(own, "Why nothing is concluded under it", look)
