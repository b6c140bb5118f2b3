"""Starts the program `baton` that this package brings along, as `baton-browser` and `python -m baton_browser`."""

import os
import sys
import sysconfig
from pathlib import Path

__all__ = ["find_baton", "main"]


def find_baton() -> Path:
    """Returns where the program is: beside the other scripts of where this package was installed."""
    folders = [
        Path(sysconfig.get_path("scripts")),
        Path(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))),
        # `pip install --target`.
        Path(__file__).resolve().parent.parent / "bin",
    ]
    for folder in folders:
        program = folder / "baton"
        if program.is_file():
            return program
    places = ", ".join(str(folder) for folder in folders)
    raise FileNotFoundError(f"expected the program `baton` in one of {places}, found none; install baton-browser again")


def main() -> None:
    """Becomes the program: arguments, signals and the end are its own."""
    program = find_baton()
    os.execv(program, [str(program), *sys.argv[1:]])
