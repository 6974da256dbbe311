"""``python -m emulator``: see standalone/command.py."""

import sys

from emulator.standalone.command import main

if __name__ == "__main__":
    sys.exit(main())
