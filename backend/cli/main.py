"""The ``xductor`` command: one module a subcommand, imported when it is asked for."""

import argparse
import os
import sys
from collections.abc import Sequence

import xductor


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xductor", description="A typed intermediate IR for PyTorch compiler passes."
    )
    parser.add_argument("--version", action="version", version=f"xductor {xductor.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    demo = commands.add_parser(
        "demo", help="compile a small GPT-2-like model and compare it with eager"
    )
    demo.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:1, ...")
    demo.add_argument(
        "--plain", action="store_true", help="a plain torch transformer, not transformers' GPT-2"
    )

    passes = commands.add_parser("passes", help="the passes of the three stages, in order")
    passes.add_argument("--markdown", action="store_true", help="as a page of the documentation")

    commands.add_parser(
        "opt", help="the same as xductor-opt: parse, run passes, verify, print", add_help=False
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except BrokenPipeError:  # the reader had enough, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] == ["opt"]:
        from xductor.backend.cli import opt_main

        return opt_main.main(arguments[1:])

    options = _parser().parse_args(arguments)
    if options.command == "demo":
        from xductor.backend.cli import demo

        return demo.run(device=options.device, plain=options.plain)

    from xductor.backend.cli import passes

    return passes.run(markdown=options.markdown)


if __name__ == "__main__":
    sys.exit(main())
