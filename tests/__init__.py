"""Tests; helpers are imported as `tests.ROOM.NAME`."""
