"""Prints what the typed IR costs: `python tests/benchmarks/report.py [--large]`.

Times are thread CPU times as ratios to `fx.Graph.graph_copy` of the same graph, in one process.
With `--large` a joint graph of about 10,000 nodes is traced too, which takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

from tests.benchmarks.figures import GROWTH_LIMIT, LIFTING, LIMITS, Figures, growth, measure  # noqa: E402
from tests.benchmarks.import_times import LIMITS as IMPORT_LIMITS  # noqa: E402
from tests.benchmarks.import_times import import_seconds  # noqa: E402
from tests.benchmarks.joint_graphs import joint_graph  # noqa: E402

#: Sizes of the joint graphs, and how often each is measured.
BLOCKS = {2: 15, 12: 5, 49: 3}


def rows(figures: list[Figures], growths: list[dict[str, float]]) -> list[list[str]]:
    sizes = [f"{one.nodes} nodes" for one in figures]
    ratios = [
        [name, *(f"{one.ratio(name):.3f}" for one in figures), f"{limit:g}"]
        for name, limit in LIMITS.items()
    ]
    grown = [
        [
            name,
            "1.00",
            *(f"{one[name]:.2f}" for one in growths),
            f"{GROWTH_LIMIT:g}" if name in LIFTING[1:] else "",
        ]
        for name in LIFTING
    ]
    copying = [f"{one.per_node('graph_copy'):.1f}" for one in figures]
    return [
        ["in copies of the graph", *sizes, "limit"],
        *ratios,
        ["a node, against the smallest", *sizes, "limit"],
        *grown,
        ["us to copy a node", *copying, ""],
    ]


def print_table(table: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        first, *rest = row
        cells = [text.rjust(width) for text, width in zip(rest, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]))


def main() -> None:
    parser = argparse.ArgumentParser(description="What the typed IR costs.")
    parser.add_argument("--large", action="store_true", help="10,000 nodes too")
    large = parser.parse_args().large
    sizes = list(BLOCKS.items())[: None if large else 2]
    names = ("graph_copy", *LIMITS)
    figures = [measure(joint_graph(blocks), names, repeats) for blocks, repeats in sizes]
    growths = [growth(joint_graph(2), joint_graph(blocks), 5) for blocks, _ in sizes[1:]]
    print_table(rows(figures, growths))
    print()
    seconds = import_seconds()
    print_table(
        [
            ["CPU seconds after import torch", "", "limit"],
            *(
                [name, f"{seconds[name]:.3f}", f"{limit:g}"]
                for name, limit in IMPORT_LIMITS.items()
            ),
        ]
    )


if __name__ == "__main__":
    main()
