from __future__ import annotations

from oyer.protocol import listing_digest

ONE = b'{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}\n'
SAME = b'{"id":"x","jsonrpc":"2.0", "result":{"tools":[{"name":"a"}]}}\r\n'
OTHER = b'{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name": "a"}]}}\n'


def test_ids_and_line_ends_are_no_part_of_a_listing() -> None:
    assert listing_digest([ONE]) == listing_digest([SAME])


def test_any_other_byte_of_the_result_is() -> None:
    assert listing_digest([ONE]) != listing_digest([OTHER])


def test_pages_are_counted_and_ordered() -> None:
    assert listing_digest([ONE, OTHER]) != listing_digest([OTHER, ONE])
    assert listing_digest([ONE, ONE]) != listing_digest([ONE])


def test_a_page_that_is_no_json_differs_from_every_good_one() -> None:
    assert listing_digest([b"rubbish\n"]) not in (listing_digest([ONE]), listing_digest([]))
