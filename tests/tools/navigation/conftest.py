from __future__ import annotations

from tests.extras import needs

needs("numpy", "up_fast_downward")
