"""Which tool is called after which, learnt: links that no call has shown yet (extra `gnn`)."""
