"""What a page noticed while it was read: ends of outputs seen, sound and film played."""

import sqlalchemy as sa
from alembic import op

revision = "v004"
down_revision = "v003"


def upgrade() -> None:
    """Add the column of version 4."""
    op.add_column("pages_done", sa.Column("facts", sa.Text, nullable=False, server_default=""))
