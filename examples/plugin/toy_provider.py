"""A model that answers every question with the way to make coffee in FloorPlan16."""

from hvr import Answer, Usage

STEPS = """Actions:
1. (navigate_to_obj, mug-1)
2. (pick_up, mug-1)
3. (navigate_to_obj, coffeemachine-1)
4. (put_on, mug-1, coffeemachine-1)
5. (toggle_on, coffeemachine-1)
6. (toggle_off, coffeemachine-1)
7. (pick_up, mug-1)
8. (navigate_to_obj, countertop-1)
9. (put_on, mug-1, countertop-1)
"""


class Rote:
    """Knows one plan by heart."""

    simulated = True

    def __init__(self, version, _options):
        self.name = f"rote:{version}"

    def answer(self, _request):
        """Answer with the plan, whatever is asked."""
        return Answer(text=STEPS, model=self.name, usage=Usage(input=0, output=0))
