#!/usr/bin/env python3
"""A job that saves when it is told to leave, and goes on where it was: only Python's standard library.

    reeve submit -G 1 --checkpoint on_signal -- python3 count.py 1000

It walks a chain of numbers, one step after the other, so that a step left out or done twice gives another result. Each 50
steps it saves by itself, as a training loop does; on USR1 it says so after the step it is in, saves, and leaves with 0,
which tells Reeve that it left because it was asked to. Run again, it finds its state in REEVE_CHECKPOINT_DIR.
"""

import json
import os
import pathlib
import signal
import sys
import time

SAVE_EVERY_STEPS = 50


def next_value(value: int, step: int) -> int:
    """Stands for the work."""
    return (value * 1103515245 + step) % 2_147_483_648


def load(path: pathlib.Path) -> tuple[int, int]:
    try:
        state = json.loads(path.read_text())
    except FileNotFoundError:
        return 0, 1
    return state["step"], state["value"]


def save(path: pathlib.Path, step: int, value: int) -> None:
    """Whole or not at all: written beside, on disk, then renamed. Only then does Reeve hear of it."""
    beside = path.with_suffix(".tmp")
    with open(beside, "w") as file:
        json.dump({"step": step, "value": value}, file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    # What `reeve-ctl checkpoint` does.
    pathlib.Path(os.environ["REEVE_CHECKPOINT_FILE"]).touch()


def main(steps: int, step_secs: float) -> int:
    told_to_leave = False

    def leave(_signal: int, _frame: object) -> None:
        nonlocal told_to_leave
        told_to_leave = True

    # First of all: until there is a handler, the signal ends the process.
    signal.signal(signal.SIGUSR1, leave)

    folder = pathlib.Path(os.environ["REEVE_CHECKPOINT_DIR"])
    step, value = load(folder / "state.json")
    how = "resumes" if os.environ.get("REEVE_RESUME") else "starts"
    print(f"attempt {os.environ['REEVE_ATTEMPT']} {how} after step {step}", flush=True)
    while step < steps:
        step += 1
        value = next_value(value, step)
        print(f"step {step}", flush=True)
        time.sleep(step_secs)
        # Asked once a step: a signal that comes while it saves waits for the next.
        leaves = told_to_leave
        if leaves:
            # Before it saves: once Reeve hears of the checkpoint, the job may be stopped at any moment.
            print(f"leaves after step {step}", flush=True)
        if leaves or step % SAVE_EVERY_STEPS == 0:
            save(folder / "state.json", step, value)
        if leaves:
            return 0
    save(folder / "state.json", step, value)
    print(f"result {value}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.1))
