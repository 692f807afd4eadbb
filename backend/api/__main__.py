"""`python -m xductor`: the same as the `xductor` command."""

import sys

from xductor.backend.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
