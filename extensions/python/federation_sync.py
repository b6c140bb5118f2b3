"""Says on the board of the agents of this machine what one of them does, by asking `baton`.

    python3 -c "from federation_sync import update_agent_status; update_agent_status('kimi', 'active', 'testing')"

The board is `~/.federation/sessions/active-session.json`, or below `FEDERATION_DIR`. `baton` writes it:
with a lock, on disk before it answers, and without losing what others write meanwhile.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["FederationError", "read_session", "update_agent_status"]

# How long `baton` may take, in seconds; it gives up before.
LIMIT = 60
# How `baton` ends when somebody else's change is in the way.
CONFLICT = 4


class FederationError(RuntimeError):
    """The board cannot be read or written; the text says what was expected, and what to do."""


def _session_path() -> Path:
    folder = os.environ.get("FEDERATION_DIR")
    root = Path(folder) if folder else Path.home() / ".federation"
    return root / "sessions" / "active-session.json"


def read_session():
    """Returns the board as a dictionary, or None when there is none."""
    path = _session_path()
    try:
        # Editors of some systems put a mark in front.
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise FederationError(
            f"expected a board in {path}, found something that is not JSON: {error}\n"
            "`baton federation recover` puts the last good one in its place"
        ) from error


def update_agent_status(agent: str, status: str, task: str = None) -> bool:
    """Says what `agent` does: `status` in a word, and the task, or none.

    Returns True once it is on disk, and False when others changed the board at the same time, again and
    again: then nothing was changed. Raises FederationError for everything else.
    """
    program = shutil.which("baton")
    if program is None:
        raise FederationError("expected the program `baton` on the PATH, found none; install Baton first")
    command = [program, "federation", "update", "--quiet"]
    if task:
        command.append(f"--task={task}")
    command += ["--", agent, status]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FederationError(f"expected baton to answer within {LIMIT} s; it did not") from error
    if done.returncode == CONFLICT:
        return False
    if done.returncode != 0:
        raise FederationError(done.stderr.strip() or f"baton ended with {done.returncode}")
    return True
