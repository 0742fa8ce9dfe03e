"""What the tests of the agents' adapters share."""

import sys
from pathlib import Path

SERVER = [sys.executable, str(Path(__file__).with_name("strict_stdio.py"))]
NAME = "get_symbol_info"
REFUSED = f"An error occurred invoking '{NAME}': line must be a whole number."
