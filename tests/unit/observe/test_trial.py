"""The only way into evidence: defects are kept, nothing is repaired, nothing raises."""

from __future__ import annotations

from evidence_kit import STATUS, Story, make_case, status_story

from oyer.observe import read_trial

CASE = make_case()


def test_a_whole_trial() -> None:
    sealed = status_story(CASE).seal()
    evidence = read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope)
    assert evidence.defects == ()
    assert (evidence.run, evidence.status) == (sealed.envelope.run, "completed")
    assert evidence.writers("tap:") == ("tap:desk",)
    assert [event.kind for event in evidence.events("harness", "turn.sent")] == ["turn.sent"]
    assert evidence.events("gateway") == ()
    assert {event.writer for event in evidence.everything()} == {"harness", "sink:actions", "tap:desk", "world"}


def test_nothing_at_all_is_a_value_too() -> None:
    evidence = read_trial({}, lambda digest: None)
    assert (evidence.run, evidence.status, dict(evidence.masks), list(evidence.everything())) == (None, None, {}, [])
    assert evidence.defects


def test_blobs_are_proven_against_their_digests() -> None:
    story = Story(CASE)
    story.begin("a")
    story.call("read_status", says=STATUS + "x" * 5000)
    sealed = story.finish().seal()
    good = read_trial(sealed.journals, sealed.blobs.get)
    assert good.defects == ()
    event = next(e for e in good.everything() if e.blobs)
    assert good.payload(event) == sealed.blobs[event.blobs[0]]
    for fetch, code in ((lambda digest: None, "E-BLOB-MISSING"), (lambda digest: b"other", "E-PAYLOAD-DIGEST")):
        bad = read_trial(sealed.journals, fetch)
        assert {defect.code for defect in bad.defects} == {code}
        assert bad.payload(event) is None


def test_the_good_part_of_a_torn_journal_is_read() -> None:
    sealed = status_story(CASE).seal()
    sealed.journals["tap.desk.jsonl"] = sealed.journals["tap.desk.jsonl"][:-20]
    evidence = read_trial(sealed.journals, sealed.blobs.get)
    assert evidence.defects
    assert evidence.events("tap:desk", "mcp.sent")
