from __future__ import annotations

from tests.extras import needs

needs("numpy")
