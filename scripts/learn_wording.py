"""Learns the weights of `memory.domain.sanitisation.wording` from lists of directions and statements.

The lists are those in `scripts/wording/` and the first six in `tests/domain/sanitisation/`.  `held_out_other.jsonl`
there is never learnt from: it measures.

    .venv/bin/python -m scripts.learn_wording           writes memory/domain/sanitisation/wording_weights.json
    .venv/bin/python -m scripts.learn_wording --check   learns from four fifths of the lists, measures on the rest

Logistic regression with both classes weighing the same and a penalty on squared weights, by Newton's method in its dual
(there are fewer texts than runs of words).  Deterministic: same lists, same weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memory.domain.sanitisation.tokens import sentences  # noqa: E402
from memory.domain.sanitisation.wording import Weights, runs, score  # noqa: E402

_HERE: Final = Path(__file__).resolve().parent / "wording"
_TESTS: Final = ROOT / "tests" / "domain" / "sanitisation"
DIRECTIONS: Final = (
    _HERE / "directions.txt",
    *(_TESTS / f"held_out_{name}.txt" for name in ("directives", "indirect", "final_directives")),
)
STATEMENTS: Final = (
    _HERE / "statements.txt",
    *(_TESTS / f"held_out_{name}.txt" for name in ("clean", "statements", "final_clean")),
)
WEIGHTS: Final = ROOT / "memory" / "domain" / "sanitisation" / "wording_weights.json"
SEEN_AT_LEAST: Final = 3
STRENGTH: Final = 10.0
"""Inverse of the penalty."""
THRESHOLD: Final = 1.4
"""Log-odds; chosen so that about 1 of 100 statements that were not learnt from is above it."""
FOLDS: Final = 5
STEPS: Final = 8

Floats = npt.NDArray[np.float64]


def texts(lists: Sequence[Path]) -> list[str]:
    """The lines of the lists, without comments and repetitions."""
    lines = (line.strip() for path in lists for line in path.read_text("utf-8").splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def runs_of(text: str) -> set[str]:
    """The runs of a text as a whole."""
    return runs([token for sentence in sentences(text) for token in sentence.tokens])


def learn(found: Sequence[set[str]], directs: Floats) -> Weights:
    """Weights from the runs of each text and whether it directs (1) or states (0)."""
    counted = Counter(run for one in found for run in one)
    known = {
        run: place for place, run in enumerate(sorted(r for r, n in counted.items() if n >= SEEN_AT_LEAST))
    }
    rows = _rows(found, known)
    weighing = np.where(directs == 1, 0.5 / directs.mean(), 0.5 / (1 - directs.mean()))
    kernel = rows @ rows.T
    dual, bias = np.zeros(len(rows)), 0.0
    for _ in range(STEPS):
        odds = kernel @ dual + bias
        chance = 1 / (1 + np.exp(-odds))
        curve = np.maximum(weighing * chance * (1 - chance), 1e-9)
        # a step of Newton: (K + diag(1 / (C curve))) dual + bias = target, where the duals add up to nothing
        target = odds + weighing * (directs - chance) / curve
        solved = np.linalg.solve(
            kernel + np.diag(1 / (STRENGTH * curve)), np.column_stack([target, np.ones(len(rows))])
        )
        bias = float(solved[:, 0].sum() / solved[:, 1].sum())
        dual = solved[:, 0] - bias * solved[:, 1]
    weights = rows.T @ dual
    return Weights({run: float(weights[place]) for run, place in known.items()}, bias, THRESHOLD)


def _rows(found: Sequence[set[str]], known: dict[str, int]) -> Floats:
    rows = np.zeros((len(found), len(known)))
    for row, one in zip(rows, found, strict=True):
        row[[known[run] for run in one if run in known]] = 1 / max(1, len(one)) ** 0.5
    return rows


def check(found: Sequence[set[str]], directs: Floats) -> None:
    """Print which share is above some thresholds in parts that were not learnt from."""
    odds = np.zeros(len(found))
    for fold in range(FOLDS):
        apart = np.arange(len(found)) % FOLDS == fold
        weights = learn([one for one, out in zip(found, apart, strict=True) if not out], directs[~apart])
        odds[apart] = [score(found[place], weights) for place in np.flatnonzero(apart)]
    print("threshold  directions  statements above it")
    for threshold in (0.0, 0.5, 0.8, 1.0, THRESHOLD, 1.5, 2.0):
        above = odds >= threshold
        print(f"{threshold:9}  {above[directs == 1].mean():10.3f}  {above[directs == 0].mean():10.3f}")


def write(learnt: Weights) -> None:
    """Keep what counts, in the order of the words, so that a change can be read."""
    weights = {run: round(weight, 2) for run, weight in sorted(learnt.runs.items())}
    kept = {
        "bias": round(learnt.bias, 2), "threshold": THRESHOLD, "runs": {r: w for r, w in weights.items() if w},
    }  # fmt: skip
    WEIGHTS.write_text(json.dumps(kept, ensure_ascii=False, indent=0) + "\n", "utf-8")
    print(f"{len(kept['runs'])} runs in {WEIGHTS.relative_to(ROOT)}")


def learnt_from() -> tuple[list[set[str]], Floats]:
    """The runs of every text of the lists, and whether it directs."""
    directions, statements = texts(DIRECTIONS), texts(STATEMENTS)
    found = [runs_of(text) for text in (*directions, *statements)]
    return found, np.array([1.0] * len(directions) + [0.0] * len(statements))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="measure on parts that were not learnt from")
    found, directs = learnt_from()
    if parser.parse_args().check:
        check(found, directs)
    else:
        write(learn(found, directs))


if __name__ == "__main__":
    main()
