"""custom input

A run may be on an input that its user chose, instead of the public cases.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("submissions", sa.Column("custom_input", sa.JSON(none_as_null=True)))


def downgrade() -> None:
    op.drop_column("submissions", "custom_input")
