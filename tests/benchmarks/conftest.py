"""The benchmarks are imported as `tests.benchmarks`, by the tests as by the report."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
