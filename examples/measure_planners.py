"""Measure a policy of your own beside the symbolic one with `hvr bench`, and read the results."""

import json
import os
import subprocess
import sys
from pathlib import Path

here = Path(__file__).parent
command = [sys.executable, "-m", "hvr", "bench", "--tasks", "T2", "--settings", "HVR"]
command += ["--policy", "symbolic", "--policy", "own_policy:OneBlock", "--json"]
environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(here), *sys.path])}
printed = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
for cell in json.loads(printed.stdout)["cells"]:
    scores = cell["scores"]
    print(cell["cell"]["setting"], "reached:", scores["reached"], "steps:", scores["plan_length"])
