"""The flags of `xductor-opt` beyond those of xDSL's driver."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def add(parser: argparse.ArgumentParser, levels: Sequence[str]) -> None:
    """Add the flags to xDSL's parser; `levels` are those of the verifier."""
    _add_verification(parser, levels)
    _add_printing(parser)
    parser.add_argument(
        "--print-op-stats",
        action="store_true",
        help="Print how many ops of each name there are, before and after the passes",
    )
    parser.add_argument(
        "--debug-counter",
        action="append",
        default=[],
        metavar="NAME=skip:count",
        help="Of the applications of pass NAME, leave out the first `skip`, make the next `count`, "
        "and leave out the rest; may be repeated. Also: the variable XDUCTOR_DEBUG_COUNTER",
    )
    parser.add_argument(
        "--print-debug-counters",
        action="store_true",
        help="Print how often each debug counter was asked, after the passes",
    )
    parser.add_argument(
        "--explain",
        action="append",
        default=[],
        metavar="NAME",
        help="Print why a rewrite or pass does not apply, for each op that may root it, after the "
        "passes: a name of 'xductor passes' or of a pass plugin, module:Class, or file.py:Class",
    )
    _add_plugins(parser)


def plugins(arguments: Sequence[str]) -> list[str]:
    """The values of `--load-pass-plugin`, parsed first since plugins add passes to choose from."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    _add_plugins(parser)
    known, _ = parser.parse_known_args(list(arguments))
    return known.load_pass_plugin


def _add_plugins(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--load-pass-plugin",
        "--import",
        action="append",
        default=[],
        metavar="MODULE",
        help="Import a module (a name, or a path ending in .py) for its passes and its operator "
        "libraries; may be repeated",
    )


def _add_verification(parser: argparse.ArgumentParser, levels: Sequence[str]) -> None:
    parser.add_argument(
        "--verify-level",
        choices=levels,
        default="structure",
        help="what is checked after parsing and after each pass: the form of every op and of "
        "the graph (structure, the default), every result type against PyTorch's own "
        "inference (types), the rules of the graph's stage (stage)",
    )
    parser.add_argument(
        "--verify-each",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="verify after each pass, or only before the first and after the last",
    )


def _add_printing(parser: argparse.ArgumentParser) -> None:
    locations = parser.add_mutually_exclusive_group()
    locations.add_argument(
        "--no-locations",
        action="store_true",
        help="Print IR without the lines of the user's code",
    )
    locations.add_argument(
        "--location-aliases",
        action="store_true",
        help="Print the lines of the user's code once, behind the module, and their names in it: "
        "loc(#loc1)",
    )
    for when in ("before", "after"):
        parser.add_argument(
            f"--print-ir-{when}",
            action="append",
            default=[],
            metavar="PASS",
            help=f"Print the IR {when} a pass, on stderr; may be repeated",
        )
        parser.add_argument(
            f"--print-ir-{when}-all",
            action="store_true",
            help=f"Print the IR {when} each pass",
        )
    parser.add_argument(
        "--print-ir-after-change",
        action="store_true",
        help="Print the IR after each pass that changed it",
    )
    parser.add_argument(
        "--print-ir-after-failure",
        action="store_true",
        help="Print the IR that a failing pass left",
    )
