"""Let hvr plan calls of tools, and approve each call that writes."""

import hvr


def approve(call):
    """Show a writing call with the source of each argument, and allow it."""
    print("about to call", call.call.tool, dict(call.call.arguments))
    return True


with hvr.open_tools("parcels") as parcels:
    run = parcels.run("book_pickup", email="bob@example.org", day="friday", approve=approve)
    print("done:", run.reached, "after", len(run.outcomes), "calls")
