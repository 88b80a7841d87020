"""What watches and intervenes: taps, sinks, world watches, and the discovery of what a server offers.

Owns every observer that stands outside the subject. Each writes through a recorder of its own and knows no
other's. Must never judge what it sees, and never let a failure pass for an absence: what could not be watched
is a fault on record.
"""

from __future__ import annotations

from oyer.instruments.discovery import Listing, discover
from oyer.instruments.gateway_changes import GatewayRules
from oyer.instruments.gateway_port import (
    Gateway,
    GatewayDoor,
    GatewayLimits,
    Replay,
    ScriptedModel,
    Upstream,
    make_gateway,
)
from oyer.instruments.http_sink import HttpSink, LateEffect, SinkHost
from oyer.instruments.in_flight import CallsInFlight
from oyer.instruments.meter import SubjectMeter
from oyer.instruments.ports import CallWatcher, OnFault, Recorder
from oyer.instruments.spoiling import blame_subject
from oyer.instruments.tap import Tap
from oyer.instruments.tap_port import AddressedTap, ServerTap, make_http_tap
from oyer.instruments.tap_rules import (
    DeclaredApproval,
    DeclaredBlock,
    DeclaredEdit,
    DeclaredLabel,
    DeclaredStrip,
    TapRules,
)
from oyer.instruments.tap_settings import TapLimits, TappedServer
from oyer.instruments.world_sink import WorldSink
from oyer.instruments.world_watch import WorldWatch

__all__ = [
    "AddressedTap",
    "CallWatcher",
    "CallsInFlight",
    "DeclaredApproval",
    "DeclaredBlock",
    "DeclaredEdit",
    "DeclaredLabel",
    "DeclaredStrip",
    "Gateway",
    "GatewayDoor",
    "GatewayLimits",
    "GatewayRules",
    "HttpSink",
    "LateEffect",
    "Listing",
    "OnFault",
    "Recorder",
    "Replay",
    "ScriptedModel",
    "ServerTap",
    "SinkHost",
    "SubjectMeter",
    "Tap",
    "TapLimits",
    "TapRules",
    "TappedServer",
    "Upstream",
    "WorldSink",
    "WorldWatch",
    "blame_subject",
    "discover",
    "make_gateway",
    "make_http_tap",
]
