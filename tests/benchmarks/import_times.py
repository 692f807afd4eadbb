"""What importing and first using this project costs, in fresh processes and by their CPU time."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile

#: Seconds added to `import torch` by `import xductor`, and then by using it for the first time.
LIMITS = {"import": 0.1, "first use": 0.6}

_PROGRAM = """
import json, time
import torch

def spent(since):
    return time.process_time() - since

start = time.process_time()
import xductor
imported = spent(start)

from torch.fx.experimental.proxy_tensor import make_fx

def model(x, w, b):
    h = torch.relu(torch.addmm(b, x, w))
    kept, _ = torch.split(torch.softmax(h.view(2, 2, 4), -1), 1)
    return (kept.permute(0, 2, 1).reshape(-1) * 2 + h.sum(), torch.cat([h, x]))

inputs = torch.randn(4, 4), torch.randn(4, 4), torch.randn(4)
gm = make_fx(model, tracing_mode="fake")(*inputs)

start = time.process_time()
for name in xductor.__all__:
    getattr(xductor, name)
module = xductor.from_fx(gm)
xductor.verify(module, "types")
again = xductor.parse_ir(xductor.print_ir(module))
xductor.to_fx(module, into=gm)
print(json.dumps({"import": imported, "first use": spent(start)}))
"""


def import_seconds(runs: int = 5) -> dict[str, float]:
    """The median CPU seconds of `import xductor` after `import torch`, and of the first use.

    The first use imports everything public, and lowers, verifies, prints, parses and raises a small
    graph. Bytecode is compiled by a run that is not counted, as it is once after installation.
    """
    with tempfile.TemporaryDirectory(prefix="xductor-bytecode-") as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        found = [_run(environment) for _ in range(runs + 1)][1:]
    return {name: statistics.median(run[name] for run in found) for name in LIMITS}


def _run(environment: dict[str, str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
