"""Makes the reference interpreter importable from every folder of tests."""

import os

# Loading the plan verifier takes seconds; tests of it ask for it.
os.environ.setdefault("HVR_VERIFY", "0")
