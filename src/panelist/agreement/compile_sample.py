"""A small table whose agreement is measured so that its code is compiled (see numerics/compile_ahead)."""


def measure() -> None:
    """Measure every coefficient at every level of measurement once."""
    from panelist.agreement.measure import measure_agreement
    from panelist.models.compile_samples import make_table

    for measurement in ("ordinal", "interval", "ratio", "nominal"):
        measure_agreement(make_table(), measurement, coefficients="all", resamples=20)
