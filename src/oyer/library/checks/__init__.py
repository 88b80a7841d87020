"""Checks that packaged cases run as validators: each looks at a closing world and says by its exit code what it found.

Must never change what it looks at.
"""
