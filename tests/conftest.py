"""How property tests run: without a time limit per example, which a busy machine would break.

EXAMPLES says how many examples each of them tries (`make properties EXAMPLES=100000`).
"""

import os

from hypothesis import settings

settings.register_profile("argfit", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "100")))
settings.load_profile("argfit")
