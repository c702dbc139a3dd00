"""The judgement of plans over tools, and their correction, learnt from true plans.

hvr's own, beyond the paper. A planner's errors are not random: it takes the other of two similar
tools, or leaves out the query with which plans of a kind begin. Past plans tell what is usual for
a request (`past_plans`); with plans near a draft (`candidates`) they give P(plan | request, draft)
(`posterior`), from which follow the score of the draft, the risks of its steps and links (`judge`),
and its correction (`corrector`). What was learnt is measured on plans that are left out (`fit`).
"""
