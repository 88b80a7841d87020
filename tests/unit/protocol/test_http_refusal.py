"""Which statuses are the server's doing whatever its client sent, and which are not."""

from __future__ import annotations

import pytest

from oyer.protocol import is_servers_refusal

SENT_AMISS = (400, 402, 406, 408, 409, 411, 413, 414, 415, 417, 421, 422, 425, 426, 428, 429, 431, 451)


@pytest.mark.parametrize("status", SENT_AMISS)
@pytest.mark.parametrize("greets", [False, True])
@pytest.mark.parametrize("in_session", [False, True])
def test_what_a_client_can_bring_about_by_what_it_sends_is_not_the_servers(
    status: int, greets: bool, in_session: bool
) -> None:
    assert not is_servers_refusal(status, greets=greets, in_session=in_session)


@pytest.mark.parametrize("status", [401, 407, 500, 501, 502, 503, 504, 599, 301, 307])
def test_credentials_failures_and_redirects_are_the_servers(status: int) -> None:
    assert is_servers_refusal(status, greets=False, in_session=False)


@pytest.mark.parametrize(
    ("status", "greets", "in_session", "theirs"),
    [
        (404, True, False, True),  # the declared address is not there
        (405, True, False, True),
        (403, True, False, True),
        (404, False, True, True),  # the session is gone
        (404, False, False, False),
        (403, False, True, False),
        (405, False, True, False),
    ],
)
def test_an_address_is_judged_by_its_greeting_and_a_session_by_its_end(
    status: int, greets: bool, in_session: bool, theirs: bool
) -> None:
    assert is_servers_refusal(status, greets=greets, in_session=in_session) is theirs
