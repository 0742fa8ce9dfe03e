"""How property tests run: without a time limit per example, which a busy machine would break."""

from hypothesis import settings

settings.register_profile("argfit", deadline=None)
settings.load_profile("argfit")
