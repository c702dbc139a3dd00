"""Put a guard between an agent and its tools: a guessed value becomes a question."""

import hvr

with hvr.open_tools("parcels") as parcels:
    guard = parcels.guard()
    read = guard.call(hvr.ToolCall("get_parcel", {"parcel_id": "P-1001"}))
    print("a query passes:", not isinstance(read, hvr.Question))
    guess = hvr.ToolCall("cancel_parcel", {"parcel_id": "P-1001", "reason": "a guess"})
    question = guard.call(guess)
    print("a guess is a question:", isinstance(question, hvr.Question))
