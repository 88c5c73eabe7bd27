"""Recruiting: studies on a panel, their submissions, what was paid for them, and messages from the panel."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "v002"
down_revision = "v001"

_number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the tables of version 2."""
    op.create_table(
        "campaigns",
        sa.Column("id", _number),
        *(_needed(name, sa.Text()) for name in ("panel", "grp", "outside_id", "status")),
        *(_needed(name, sa.Integer()) for name in ("places", "reward", "minutes")),
        _needed("key", sa.Text()),
        *(_needed(name, sa.Double()) for name in ("created", "changed")),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
        sa.UniqueConstraint("panel", "grp", name="uq_campaigns_panel_grp"),
    )
    op.create_table(
        "recruits",
        sa.Column("id", _number),
        *(_needed(name, sa.Text()) for name in ("submission", "campaign")),
        sa.Column("visit", _number),
        *(_needed(name, sa.Text()) for name in ("status", "code")),
        sa.Column("started", sa.Double),
        _needed("bonus", sa.Integer()),
        _needed("changed", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_recruits"),
        sa.ForeignKeyConstraint(["visit"], ["visits.id"], name="fk_recruits_visit"),
        sa.UniqueConstraint("submission", name="uq_recruits_submission"),
    )
    op.create_table(
        "payments",
        sa.Column("id", _number),
        *(_needed(name, sa.Text()) for name in ("key", "submission", "kind")),
        _needed("amount", sa.Integer()),
        *(_needed(name, sa.Text()) for name in ("state", "batch", "claim")),
        *(_needed(name, sa.Double()) for name in ("claimed", "changed")),
        _needed("detail", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_payments"),
        sa.UniqueConstraint("key", name="uq_payments_key"),
    )
    op.create_table(
        "hook_events",
        _needed("event", sa.Text()),
        _needed("time", sa.Double()),
        sa.PrimaryKeyConstraint("event", name="pk_hook_events"),
    )


def _needed(name: str, kind: "sa.types.TypeEngine[Any]") -> "sa.Column[Any]":
    return sa.Column(name, kind, nullable=False)
