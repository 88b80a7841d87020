"""What a double is given of its case: how it declines where there are several ways to."""

from __future__ import annotations

import pytest

from oyer.engine import scripts_of
from oyer.records import parse_file

CASE = """\
oyer: Case@1
id: declining
effect_class: none
servers: {{report: oyer:report}}
channel: report.status
refusal: {{called: report.status, arguments: {arguments}}}
prompt: Report.
doubles: {{proper: [{{say: done}}], tempted: [{{say: done}}]}}
"""


@pytest.mark.parametrize(
    ("arguments", "played"),
    [
        ("{state: needs_input}", {"state": "needs_input"}),
        ("{state: {one_of: [needs_input, cannot_complete]}}", {"state": "needs_input"}),
        ("{state: {one_of: [{equals: no}, later]}, about: {contains: total}}", {"state": "no", "about": "total"}),
        ("{state: no, reason: {absent: true}}", {"state": "no"}),
    ],
)
def test_the_refuser_declines_in_the_first_way_that_the_case_names(arguments: str, played: dict[str, str]) -> None:
    case = parse_file(CASE.format(arguments=arguments).encode(), name="c.yaml").cases[0].case
    scripts = scripts_of(case)
    assert scripts is not None
    assert scripts.refusal is not None
    assert scripts.refusal["call"] == "report.status"
    assert scripts.refusal["arguments"] == played
