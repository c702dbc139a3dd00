from __future__ import annotations

import pytest

pytest.importorskip("numpy")
pytest.importorskip("up_fast_downward")
