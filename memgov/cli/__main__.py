"""`python -m memgov.cli`, the same as the command `memgov`."""

import sys

from memgov.cli import main

if __name__ == "__main__":
    sys.exit(main())
