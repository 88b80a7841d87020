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


# What the packaged server answers to two clients of which one speaks the revision without a handshake, cut short.
MODERN = (
    b'{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","tools":[{"name":"a"}],"ttlMs":0,"cacheScope":"private",'
    b'"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"ops","version":"1"}}}}\n'
)


def test_a_listing_is_the_same_whatever_revision_of_the_protocol_it_was_asked_in() -> None:
    assert listing_digest([ONE]) == listing_digest([MODERN])


def test_what_has_no_list_of_tools_counts_as_it_is() -> None:
    strange = [
        b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"other":[]}}\n',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"tools":[]}}\n',
    ]
    assert len({listing_digest([page]) for page in [*strange, ONE]}) == 5
