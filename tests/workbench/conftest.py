from __future__ import annotations

import pytest
from workbench_support import open_shop


@pytest.fixture
def shop(tmp_path):
    return open_shop(tmp_path)
