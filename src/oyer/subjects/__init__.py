"""The subjects room: how to start and talk to one kind of agent each.

Owns the drivers of subjects (one file each), the derivation of the scripted ones from a Case's two scripts, and the
ports through which the engine uses them. Must never judge, know the condition it runs under, or reach a journal
otherwise than through the `Recorder` it is handed.
"""

from __future__ import annotations

from oyer.subjects.doubles import (
    Behaviour,
    check_double,
    derive,
    describe_double,
    double_names,
    require_double,
)
from oyer.subjects.ports import (
    EndedBy,
    Given,
    ModelAccess,
    Recorder,
    ServerCommand,
    StopLimits,
    Subject,
    SubjectIdentity,
    TurnEnd,
)
from oyer.subjects.registry import (
    ModelSettings,
    check_subject,
    identify_subject,
    make_subject,
    scripted_double,
    subject_names,
    with_common,
)
from oyer.subjects.scripts import ScriptPart, Scripts

__all__ = [
    "Behaviour",
    "EndedBy",
    "Given",
    "ModelAccess",
    "ModelSettings",
    "Recorder",
    "ScriptPart",
    "Scripts",
    "ServerCommand",
    "StopLimits",
    "Subject",
    "SubjectIdentity",
    "TurnEnd",
    "check_double",
    "check_subject",
    "derive",
    "describe_double",
    "double_names",
    "identify_subject",
    "make_subject",
    "require_double",
    "scripted_double",
    "subject_names",
    "with_common",
]
