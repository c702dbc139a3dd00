"""Makes the reference interpreter importable from every folder of tests."""
