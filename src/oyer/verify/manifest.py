"""What check 2 compares first in a bundle: its manifest with its members.

Owns that comparison. Must never look at what a file means: that it is the one a seal lists is compared after.
"""

from __future__ import annotations

from oyer.errors import OyerError
from oyer.evidence import MANIFEST_NAME, SIGNATURE_NAME
from oyer.verify.reading import Bundled
from oyer.verify.result import WITHHELD, Findings

__all__ = ["compare_manifest"]


def compare_manifest(bundle: Bundled, found: Findings) -> None:
    """Check that the members are exactly those of the manifest, byte for byte, and name what was withheld."""
    try:
        manifest = bundle.bundle_manifest()
    except OyerError as error:
        for problem in error.problems:
            found.failed(problem.code, problem.message, problem.where or MANIFEST_NAME, problem.hint)
        return
    members = {member.path: member.size for member in bundle.archive.members}
    for file in manifest.files:
        # The size is asked first: a member of another one need not be read to be another.
        if members.get(file.path, file.size) != file.size:
            found.failed("E-BUNDLE-CHANGED", "it is not the file that the manifest lists", file.path)
            continue
        try:
            measured = bundle.measure(file.path)
        except OyerError as error:
            found.failed(error.code, error.problems[0].message, file.path)
            continue
        if measured is None:
            found.failed("E-BUNDLE-MISSING", "the manifest lists it, and it is not there", file.path)
        elif measured != file:
            found.failed("E-BUNDLE-CHANGED", "it is not the file that the manifest lists", file.path)
    for path in sorted(set(members) - {MANIFEST_NAME, SIGNATURE_NAME} - {file.path for file in manifest.files}):
        found.failed("E-BUNDLE-EXTRA", "the manifest does not list it", path)
    for file in bundle.withheld:
        found.open(WITHHELD, f"it was withheld: its {file.size} bytes could not be checked", file.path)
