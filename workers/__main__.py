"""Runs ``python -m workers``."""

import sys

from store.start import importing

with importing():
    from workers.main import main

sys.exit(main())
