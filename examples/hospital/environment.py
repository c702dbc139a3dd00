"""A ward whose laboratory door falls shut two steps after it was opened."""

from hvr import Observation

ROOMS = {("ward", "corridor"), ("corridor", "ward")}
DOORS = {("labdoor", "corridor", "lab"), ("labdoor", "lab", "corridor")}


class Ward:
    def reset(self):
        self.room, self.battery, self.tray, self.clean = "corridor", 3, None, True
        self.lies = {"blood": "ward", "urine": "ward"}
        self.open_for = 0

    def step(self, name, args):
        self.open_for = max(0, self.open_for - 1)
        if name == "drive" and (self.room, args[1]) in ROOMS and self.battery >= 1:
            self.room, self.battery = args[1], self.battery - 1
        elif name == "go-through" and self.open_for and self.battery >= 2:
            self.room, self.battery = args[2], self.battery - 2
        elif name == "open-door" and (args[0], self.room, args[2]) in DOORS:
            self.open_for = 3
        elif name == "close-door":
            self.open_for = 0
        elif name == "take" and self.lies.get(args[0]) == self.room and not self.tray:
            self.tray = args[0]
            del self.lies[self.tray]
        elif name == "put" and self.tray == args[0]:
            self.lies[self.tray], self.tray, self.clean = self.room, None, False
        elif name == "disinfect" and self.room == "corridor":
            self.clean = True
        elif name == "charge" and self.room == "corridor":
            self.battery = 8
        else:
            return f"the robot cannot {name} in the {self.room}"
        return ""

    def observe(self):
        facts = [("robot-at", self.room), *(("lies-in", i, room) for i, room in self.lies.items())]
        facts += [("carried", self.tray)] if self.tray else [("tray-free",)]
        facts += [("clean",)] * self.clean + [("open", "labdoor")] * bool(self.open_for)
        return Observation(facts, {("battery",): self.battery})


def open_environment(_setup):
    return Ward()
