"""Judgement and correction of tool plans, learnt from true plans.

This is hvr's addition to the paper. A planner's errors are not random: it confuses similar tools,
or omits the query with which plans of a kind usually begin. Past plans show what is usual for a
request (`past_plans`). Together with variants of a draft, they give P(plan | request, draft)
(`posterior`), from which the draft's score, its risks and its correction follow (`judge`). All
parameters are fitted on held-out plans (`fit`).
"""
