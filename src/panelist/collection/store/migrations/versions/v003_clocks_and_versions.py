"""When a visit came to where it is, and the versions of the study used while collecting."""

import sqlalchemy as sa
from alembic import op

revision = "v003"
down_revision = "v002"


def upgrade() -> None:
    """Add the column and the table of version 3."""
    op.add_column("visits", sa.Column("moved", sa.Double))
    op.create_table(
        "study_versions",
        sa.Column("version", sa.Integer, autoincrement=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("made", sa.Double, nullable=False),
        sa.Column("declared", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("version", name="pk_study_versions"),
    )
