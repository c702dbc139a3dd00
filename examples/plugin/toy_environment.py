"""The kitchen, with a gripper that fails the first time."""

from hvr import Event, Kitchen, UsageError


class Slippery:
    """A kitchen in which the first PickupObject fails."""

    def __init__(self, kitchen):
        self._kitchen = kitchen
        self._slipped = False
        self.last_event = kitchen.last_event

    def reset(self, scene=None):
        """Begin anew."""
        self._slipped = False
        self.last_event = self._kitchen.reset(scene)
        return self.last_event

    def step(self, action=None, **kwargs):
        """Do one action; the first PickupObject only takes time."""
        request = {**action, **kwargs} if isinstance(action, dict) else {"action": action, **kwargs}
        if request["action"] == "PickupObject" and not self._slipped:
            self._slipped = True
            refused = {
                "lastAction": "PickupObject",
                "lastActionSuccess": False,
                "errorMessage": "it slipped",
            }
            self.last_event = Event({**self._kitchen.step("Pass").metadata, **refused})
        else:
            self.last_event = self._kitchen.step(request)
        return self.last_event

    def stop(self):
        """Free nothing."""
        self._kitchen.stop()


def open_slippery(setup):
    """Return the environment in the first state of a scene; it has no options."""
    if setup.options:
        raise UsageError(f"the slippery kitchen has no options, such as {setup.options[0]!r}")
    return Slippery(Kitchen(setup.scene, setup.seed))
