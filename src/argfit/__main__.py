"""`python -m argfit`."""

import sys

from argfit.cli.main import main

sys.exit(main())
