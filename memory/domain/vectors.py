"""How a vector is written for the database."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import orjson


def vector_text(values: Sequence[float]) -> str:
    """pgvector's text form, which is JSON's: single precision, more than the database keeps of it."""
    return orjson.dumps(np.asarray(values, np.float32), option=orjson.OPT_SERIALIZE_NUMPY).decode()
