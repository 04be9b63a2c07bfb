"""What holds for the tests of LiteLLM."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
"""It asks for nothing on the network when it is imported."""
