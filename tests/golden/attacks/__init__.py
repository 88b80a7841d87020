"""The attack catalogue: every way of changing a bundle, on every kind of file in it, and the check that notices.

Owns the attacks, the good bundles they start from (made by a script, the same bytes each time), and the table. Must
never say of an attack more than verifying it showed: the columns are measured each time and compared with what is
declared.
"""
