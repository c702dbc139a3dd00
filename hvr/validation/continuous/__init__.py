"""Numbers that change continuously: processes, events, and effects that go on in time."""
