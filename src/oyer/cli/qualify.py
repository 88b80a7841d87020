"""`oyer qualify`: cases against known subjects; a case that does not tell them apart is not qualified."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option
from oyer.cli.plugins import plugin_option
from oyer.cli.secret_options import secret_option

if TYPE_CHECKING:
    from oyer.cli.noticing import Evidence
    from oyer.cli.qualifying import Group, Tried
    from oyer.cli.selection import Selection
    from oyer.records import MutantResult, Qualification

__all__ = ["command"]

NOT_QUALIFIED = 1


@click.command("qualify", short_help=COMMANDS["qualify"].about)
@click.argument("names", nargs=-1, required=True, metavar="SUITE|CASE|FILE...")
@click.option("-k", "only", multiple=True, metavar="CASE", help="Only this case, with its controls.")
@click.option("--double", "doubles", multiple=True, metavar="NAME", help="Only this double: the result is no record.")
@click.option(
    "--mutate", is_flag=True, help="Also change the scorer's declarations, and say which changes nobody noticed."
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="Cases, or trials of one, at one time; one a processor by default."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Where the series go; runs/... by default.")
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    default=Path("qualifications"),
    show_default=True,
    metavar="DIR",
    help="Where the records go. `oyer run` looks for them there.",
)
@secret_option
@plugin_option
@json_option
def command(
    names: tuple[str, ...],
    only: tuple[str, ...],
    doubles: tuple[str, ...],
    mutate: bool,
    jobs: int | None,
    out: Path | None,
    record: Path,
    secrets: tuple[str, ...],
    plugins: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Show cases to subjects whose truth is known, through the real engine, and say whether each is told apart.

    Every result of a case that is not qualified is printed as `unqualified` and satisfies no gate. Exit code 0: all
    are qualified (and no change survived); 1: a double or a change is named that was not told apart. With --double only
    these doubles are shown: whatever they come to, nothing is qualified by it and no record is made.
    """
    from oyer.cli.applicable import require_shown
    from oyer.cli.places import new_series_path
    from oyer.cli.qualifying import choose, members_of
    from oyer.cli.secret_options import read_secrets
    from oyer.cli.side_by_side import cores
    from oyer.cli.terminal import print_json

    selection, named = choose(names, only, plugins)
    selection = selection._replace(secrets=read_secrets(secrets))
    require_shown(doubles, [placed.loaded.case for placed in selection.cases])
    place = new_series_path(out)
    groups = members_of([placed.loaded.case for placed in selection.cases], named)
    shown = _shown(selection, groups, place, wanted=doubles, jobs=cores() if jobs is None else jobs, mutate=mutate)
    good = [each.qualified for each in shown]
    found = [each.model_copy(update={"qualified": False}) if doubles else each for each in shown]
    if not doubles:
        _keep(found, record)
    code = 0 if all(good) else NOT_QUALIFIED
    if as_json:
        from oyer.records import plain

        value = {"qualifications": [plain(one) for one in found], "recorded": not doubles, "series": str(place)}
        print_json({**value, "exit_code": code})
    else:
        _print(found, place, None if doubles else record)
    return code


def _shown(
    selection: Selection, groups: Sequence[Group], place: Path, *, wanted: Sequence[str], jobs: int, mutate: bool
) -> list[Qualification]:
    """Show every group to the doubles, and say what they came to: several groups beside each other."""
    from oyer.cli.noticing import Evidence
    from oyer.cli.progress import ProgressLine
    from oyer.cli.qualifying import try_doubles
    from oyer.cli.side_by_side import side_by_side
    from oyer.engine import Progress

    several = len(groups) > 1

    def one(group: Group) -> Qualification:
        # Beside other groups two trials at a time: one of them starts or flushes while the other works.
        tried = try_doubles(
            selection, group, place, wanted=wanted, jobs=min(jobs, 2) if several else jobs, quiet=several
        )
        with Evidence(tried.series, tuple(selection.judges.values())) as evidence:
            return _qualification(selection, group, tried, evidence, some=not wanted, mutate=mutate, quiet=several)

    started_s = time.monotonic()
    with ProgressLine() as progress:

        def told(done: int) -> None:
            if several:
                current = groups[done].case.id if done < len(groups) else None
                progress(Progress(done, len(groups), {}, current, time.monotonic() - started_s))

        return side_by_side(groups, one, told, jobs=jobs)


def _qualification(
    selection: Selection, group: Group, tried: Tried, evidence: Evidence, *, some: bool, mutate: bool, quiet: bool
) -> Qualification:
    from oyer.cli.noticing import results_of, survivors_of
    from oyer.cli.progress import ProgressLine
    from oyer.cli.running import request_of
    from oyer.engine import harness_identity
    from oyer.host import stamp
    from oyer.records import Qualification, digest

    judged_by = request_of(selection, Path()).pinned_evaluators
    results = results_of(group, tried, evidence, some=some)
    changes: tuple[MutantResult, ...] = ()
    if mutate and quiet:
        changes = tuple(survivors_of(group, tried, evidence, selection.rubrics, results))
    elif mutate:
        with ProgressLine() as progress:
            changes = tuple(survivors_of(group, tried, evidence, selection.rubrics, results, progress))
    used = {claim.rubric for case in group.all for claim in case.claims}
    return Qualification(
        case=group.case.id,
        case_digest=digest(group.case),
        members={case.id: digest(case) for case in group.members},
        rubrics={name: digest(selection.rubrics[name]) for name in sorted(used)},
        evaluators={name: digest(one) for name, one in sorted(judged_by.items())},
        harness=harness_identity(),
        at=stamp().t_wall,
        qualified=bool(results)
        and all(result.passed for result in results)
        and all(one.killed_by or one.equivalent for one in changes),
        doubles=results,
        not_applicable=tried.not_applicable,
        mutants=changes,
        mutated=mutate,
    )


def _keep(found: list[Qualification], place: Path) -> None:
    """Write each record under the name of its case and digest: another revision is another record."""
    from oyer.records import canonical_bytes

    place.mkdir(parents=True, exist_ok=True)
    for one in found:
        name = f"{one.case.replace('/', '~')}.{one.case_digest.removeprefix('sha256:')[:12]}.json"
        (place / name).write_bytes(canonical_bytes(one) + b"\n")


def _print(found: list[Qualification], place: Path, record: Path | None) -> None:
    import sys

    from oyer.cli.terminal import look_of, print_page, print_text
    from oyer.report import render_qualification

    for one in found:
        print_page(render_qualification(one, look_of(sys.stdout), recorded=record is not None))
    if record is not None:
        print_text(f"records: {record}")
    print_text(str(place))
