"""A small table whose agreement is measured so that its code is compiled (see models/compiling)."""


def measure() -> None:
    """Measure every coefficient at every level of measurement once."""
    from panelist.agreement.measure import measure_agreement
    from panelist.models.samples import make_table

    for level in ("ordinal", "interval", "ratio", "nominal"):
        measure_agreement(make_table(), level, coefficients="all", resamples=20)
