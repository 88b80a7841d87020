"""The adjudicate room: from facts to mechanical outcomes, from judgements to verdicts, with every reason.

Owns the scoring law. Pure: the same sealed evidence and pinned records give the same records, byte for byte. Must never
retry, drop or reconstruct; never conclude while a reason stands; never let status, verdict and outcome stand in for
one another.
"""

from __future__ import annotations

from oyer.adjudicate.anytime import Limits, counted_of, limits_of
from oyer.adjudicate.arm import Arm
from oyer.adjudicate.asked import Asked, Said, asked_of, counted_words, said_of
from oyer.adjudicate.claims import claim_verdict, read_claim
from oyer.adjudicate.compare import ComparisonInput, compare
from oyer.adjudicate.contamination import judge_contamination
from oyer.adjudicate.contrast import (
    ALPHA,
    LEAST_CASES,
    Contrast,
    ContrastWord,
    PairCounts,
    Question,
    Sides,
    contrasts,
)
from oyer.adjudicate.difference import (
    Difference,
    DiffRow,
    DiffTest,
    SeriesSide,
    compare_series,
    incomparable,
)
from oyer.adjudicate.formulas import FORMULAS, Formula
from oyer.adjudicate.gate_grammar import parse_gate
from oyer.adjudicate.gate_tree import Gate
from oyer.adjudicate.gate_values import GateInput
from oyer.adjudicate.gates import GateFlaw, GateResult, check_gate, evaluate_gate, gates_exit_code
from oyer.adjudicate.judged import ClaimInput, JudgedClaimResult, judge_claim
from oyer.adjudicate.judgements import (
    Judge,
    Judges,
    LaterJudgement,
    judge_claims,
    judge_pinned,
    judgement_path,
    planned_evaluators,
    uncited,
)
from oyer.adjudicate.judging import BUILT_IN, barred, judge_trial
from oyer.adjudicate.ledger import LedgerCount, count_ledger, planned_claims, require_conserved
from oyer.adjudicate.lives import PressedCase, PressureRead, life_of, pressure_of_series
from oyer.adjudicate.matched import ONE_REPETITION, SetDistribution, distribution_of, read_set, read_triple
from oyer.adjudicate.mutants import Mutant, mutants
from oyer.adjudicate.outcomes import derive_outcome
from oyer.adjudicate.pairs import PairedQuestion, counted_pairs, pairs_of
from oyer.adjudicate.performance import decide_performance
from oyer.adjudicate.performed import read_performed
from oyer.adjudicate.pins import observed_pins
from oyer.adjudicate.pressure import PressedInput, judge_pressed, read_non_completion, read_over_refusal
from oyer.adjudicate.qualification import (
    QUALIFYING,
    Fixed,
    bars,
    expectation_breaches,
    expected_measures,
    expected_reading,
    expected_words,
    found_words,
    judge_double,
    measured_words,
    qualified_cases,
    reading_of,
    with_sequences,
)
from oyer.adjudicate.rates import Tally, rate_sentence, tallies
from oyer.adjudicate.reasons import REASONS
from oyer.adjudicate.recovery import read_recovery
from oyer.adjudicate.rounds import (
    DeclaredTurn,
    Stages,
    declared_turns,
    first_break,
    judge_rounds,
    judge_window,
    undeclared_turns,
)
from oyer.adjudicate.rules import (
    RuleFlaw,
    UnitOf,
    check_rule,
    drawn_units,
    looks_of,
    sides_of,
    units_of,
)
from oyer.adjudicate.segments import SequenceInput, judge_segments
from oyer.adjudicate.series import (
    Held,
    SeriesInput,
    SeriesResult,
    TrialInput,
    by_run,
    derive_groups,
    derive_noting,
    derive_repetition,
    derive_series,
    derived_files,
    groups_of,
    hold,
    named_aside,
    named_in,
    named_runs,
    slim,
)
from oyer.adjudicate.sets import control_member, derive_sets, guard_member, guard_of, rounds_told, set_name
from oyer.adjudicate.statistics import (
    DRAWS,
    AtK,
    Measure,
    OverCases,
    Paired,
    RateOf,
    SeriesStatistics,
    SubjectSets,
    statistics_of,
)
from oyer.adjudicate.stimulus import Absence, read_absence
from oyer.adjudicate.stopping import (
    NOT_RUN_BY,
    BudgetStop,
    Course,
    RuleLook,
    RuleStop,
    ToldStop,
    course_of,
    left_repetitions,
    not_run_by,
    plan_that_ran,
    stop_body,
    take_look,
    told_stops,
)
from oyer.adjudicate.tabled import NOT_RUN, SetRow, SetTable, tabulate
from oyer.adjudicate.verdict_reasons import VERDICT_REASONS
from oyer.adjudicate.verdicts import criterion_verdict, limit_part
from oyer.adjudicate.voices import Merged, Voice, merge_voices

__all__ = [
    "ALPHA",
    "BUILT_IN",
    "DRAWS",
    "FORMULAS",
    "LEAST_CASES",
    "NOT_RUN",
    "NOT_RUN_BY",
    "ONE_REPETITION",
    "QUALIFYING",
    "REASONS",
    "VERDICT_REASONS",
    "Absence",
    "Arm",
    "Asked",
    "AtK",
    "BudgetStop",
    "ClaimInput",
    "ComparisonInput",
    "Contrast",
    "ContrastWord",
    "Course",
    "DeclaredTurn",
    "DiffRow",
    "DiffTest",
    "Difference",
    "Fixed",
    "Formula",
    "Gate",
    "GateFlaw",
    "GateInput",
    "GateResult",
    "Held",
    "Judge",
    "JudgedClaimResult",
    "Judges",
    "LaterJudgement",
    "LedgerCount",
    "Limits",
    "Measure",
    "Merged",
    "Mutant",
    "OverCases",
    "PairCounts",
    "Paired",
    "PairedQuestion",
    "PressedCase",
    "PressedInput",
    "PressureRead",
    "Question",
    "RateOf",
    "RuleFlaw",
    "RuleLook",
    "RuleStop",
    "Said",
    "SequenceInput",
    "SeriesInput",
    "SeriesResult",
    "SeriesSide",
    "SeriesStatistics",
    "SetDistribution",
    "SetRow",
    "SetTable",
    "Sides",
    "Stages",
    "SubjectSets",
    "Tally",
    "ToldStop",
    "TrialInput",
    "UnitOf",
    "Voice",
    "asked_of",
    "barred",
    "bars",
    "by_run",
    "check_gate",
    "check_rule",
    "claim_verdict",
    "compare",
    "compare_series",
    "contrasts",
    "control_member",
    "count_ledger",
    "counted_of",
    "counted_pairs",
    "counted_words",
    "course_of",
    "criterion_verdict",
    "decide_performance",
    "declared_turns",
    "derive_groups",
    "derive_noting",
    "derive_outcome",
    "derive_repetition",
    "derive_series",
    "derive_sets",
    "derived_files",
    "distribution_of",
    "drawn_units",
    "evaluate_gate",
    "expectation_breaches",
    "expected_measures",
    "expected_reading",
    "expected_words",
    "first_break",
    "found_words",
    "gates_exit_code",
    "groups_of",
    "guard_member",
    "guard_of",
    "hold",
    "incomparable",
    "judge_claim",
    "judge_claims",
    "judge_contamination",
    "judge_double",
    "judge_pinned",
    "judge_pressed",
    "judge_rounds",
    "judge_segments",
    "judge_trial",
    "judge_window",
    "judgement_path",
    "left_repetitions",
    "life_of",
    "limit_part",
    "limits_of",
    "looks_of",
    "measured_words",
    "merge_voices",
    "mutants",
    "named_aside",
    "named_in",
    "named_runs",
    "not_run_by",
    "observed_pins",
    "pairs_of",
    "parse_gate",
    "plan_that_ran",
    "planned_claims",
    "planned_evaluators",
    "pressure_of_series",
    "qualified_cases",
    "rate_sentence",
    "read_absence",
    "read_claim",
    "read_non_completion",
    "read_over_refusal",
    "read_performed",
    "read_recovery",
    "read_set",
    "read_triple",
    "reading_of",
    "require_conserved",
    "rounds_told",
    "said_of",
    "set_name",
    "sides_of",
    "slim",
    "statistics_of",
    "stop_body",
    "tabulate",
    "take_look",
    "tallies",
    "told_stops",
    "uncited",
    "undeclared_turns",
    "units_of",
    "with_sequences",
]
