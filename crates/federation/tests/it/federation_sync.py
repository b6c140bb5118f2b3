"""The old rule, as the design of the board wrote it down, and a loop around it."""

import json
import os
import sys
import time
from pathlib import Path

SESSION_PATH = Path.home() / ".federation" / "sessions" / "active-session.json"

def read_session():
    """Read current session state."""
    if not SESSION_PATH.exists():
        return None
    return json.loads(SESSION_PATH.read_text())

def write_session(session: dict) -> bool:
    """
    Write session with optimistic concurrency.
    Returns True if successful, False if conflict.
    """
    SESSION_PATH.parent.mkdir(parents=True, exist_ok=True)
    
    # Read current state
    current = read_session()
    
    # Check if modified since we read it (optimistic check)
    if current and session.get("updated_at") != current.get("updated_at"):
        # Conflict: someone else modified it
        return False
    
    # Update timestamp
    session["updated_at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    
    # Atomic write: write to temp, then rename
    temp_path = SESSION_PATH.with_suffix(".tmp")
    temp_path.write_text(json.dumps(session, indent=2))
    temp_path.rename(SESSION_PATH)
    
    return True

def update_agent_status(agent: str, status: str, task: str = None):
    """Update this agent's status in the shared session."""
    session = read_session()
    if not session:
        session = create_new_session()
    
    session["agents"][agent] = {
        "status": status,
        "current_task": task,
        "last_seen": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    }
    
    # Retry on conflict (exponential backoff)
    for attempt in range(3):
        if write_session(session):
            return True
        time.sleep(0.1 * (2 ** attempt))
        session = read_session()  # Re-read current state
    
    return False

# What the design leaves open.
def create_new_session():
    raise SystemExit("no session: one must be there before this starts")

if __name__ == "__main__":
    count = 0
    print("ready", flush=True)
    while not Path(sys.argv[1]).exists():
        count += 1
        update_agent_status("ollama", "active", f"step {count}")
    # Alone now: the rule works, and what it says must stay.
    assert update_agent_status("ollama", "done", "the end")
    print(count, flush=True)
