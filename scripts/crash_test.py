"""Kills ingests of mixed files at random moments and checks what is left, for real.

    PYTHONPATH=. python scripts/crash_test.py [--kills 30] [--seed 1]

Each batch holds new versions of earlier files, a new one, scans and a broken file. After each kill
no earlier document may be lost and none may be half searchable; after the restart everything is
searchable, with one vector for each passage and no more. The embedder and the text recognition are
stand-ins: they are not what is tested.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.crash import CrashTest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        test = CrashTest(Path(folder) / "data", Path(folder) / "batches", options.seed)
        try:
            rounds = test.run(options.kills)
        except AssertionError as error:
            print(f"Batch {test.version}: {error}")
            return 1
    for number, batch in enumerate(rounds, start=1):
        end = f"killed after {batch.after_s:.2f} s" if batch.killed else "ran to its end"
        print(f"batch {number}: {end}; on disk: {batch.states}")
    print(f"{options.kills} kills, seed {options.seed}: nothing lost, nothing left over.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
