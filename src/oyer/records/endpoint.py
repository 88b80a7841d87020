"""What a record says of a model's endpoint beside its address: its API, declared faults, what it costs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from oyer.records.model import Record

__all__ = [
    "ModelApiName",
    "ModelFault",
    "ModelFaultText",
    "Price",
    "PriceTable",
    "micros_of",
    "parse_model_fault",
    "plain_price",
]

ModelApiName = Literal["chat", "responses", "messages", "gemini"]
"""How an endpoint is asked: Chat Completions, OpenAI Responses, Anthropic Messages, Gemini generateContent."""

_FAULT: Final = r"^(429|500|cut|slow:[1-9][0-9]{0,4}ms)@[1-9][0-9]{0,5}(x[1-9][0-9]{0,2})?$"
_DECIMAL: Final = r"^[0-9]{1,9}(\.[0-9]{1,9})?$"

ModelFaultText = Annotated[str, Field(pattern=_FAULT)]
"""A declared fault of a model's endpoint: `429@2` (the second request of a trial), `500@1x3` (the first three),
`cut@2`, `slow:1500ms@1`.
"""


class ModelFault(NamedTuple):
    """A declared fault: what happens to the requests `first` to `first + times - 1` of a trial, counted from 1."""

    kind: Literal["429", "500", "cut", "slow"]
    delay_ms: int
    first: int
    times: int
    text: str


def parse_model_fault(text: str) -> ModelFault:
    """Read a declared fault. Raises: ValueError for a text of another form."""
    if re.match(_FAULT, text) is None:
        raise ValueError(f"{text!r} is no fault of a model")
    what, _, place = text.partition("@")
    kind, _, delay = what.partition(":")
    first, _, times = place.partition("x")
    named: Literal["429", "500", "cut", "slow"] = kind  # type: ignore[assignment]
    return ModelFault(named, int(delay.removesuffix("ms") or 0), int(first), int(times or 1), text)


class Price(Record):
    """What a model costs, in US dollars a million tokens, as decimal text.

    Tokens that an endpoint reports as read from a cache, or written to one, beside its input cost what is said of them;
    where nothing is said, their cost is unknown.
    """

    input_per_mtok_usd: str = Field(pattern=_DECIMAL)
    output_per_mtok_usd: str = Field(pattern=_DECIMAL)
    cache_read_per_mtok_usd: str | None = Field(default=None, pattern=_DECIMAL)
    cache_write_per_mtok_usd: str | None = Field(default=None, pattern=_DECIMAL)


class PriceTable(Record):
    """What models cost, by the name under which their answers report themselves."""

    oyer: Literal["PriceTable@1"] = "PriceTable@1"
    prices: Mapping[str, Price] = Field(min_length=1)


def plain_price(price: Price) -> dict[str, str]:
    """Return a price as `trial.opened` repeats it: what is said, by its name without the unit."""
    said = {name.removesuffix("_per_mtok_usd"): getattr(price, name) for name in Price.model_fields}
    return {name: text for name, text in said.items() if text is not None}


def micros_of(dollars: str) -> int:
    """Return a budget in dollars, as decimal text, in whole millionths; what is less than one is left out."""
    return int(Decimal(dollars) * 1_000_000)
