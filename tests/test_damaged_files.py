"""Whatever becomes of its files, a session is refused or goes on: see tests/support/damaged_files.py."""

import pytest

from tests.support.damaged_files import BACKENDS, run
from tests.support.formats import FORMATS


@pytest.mark.parametrize("place", range(len(FORMATS)))
def test_damaged_files_are_findings_or_a_log_error_and_no_acknowledged_message_is_another_one(place, tmp_path):
    backend = BACKENDS[place % len(BACKENDS)]
    assert run(12, 1_000 * place, tmp_path, forms=(FORMATS[place],), backends=(backend,)) == []
