"""What a run says of the recorded sessions where they are not there: one line."""

import pytest

from tests.support import corpus


@pytest.fixture
def missing(monkeypatch, tmp_path):
    """What a test that needs them is skipped for."""
    monkeypatch.setenv("GC_CORPUS", str(tmp_path))
    monkeypatch.delenv("GC_REQUIRE_CORPUS", raising=False)
    with pytest.raises(pytest.skip.Exception) as skipped:
        corpus.require_corpus()
    return str(skipped.value)


def test_all_that_lacks_the_corpus_is_skipped_at_one_place_for_one_reason(missing):
    asked = corpus.skipped_for(("tests/test_a.py", 3, f"Skipped: {missing}"))
    without_cases = corpus.skipped_for(("tests/test_b.py", 90, "Skipped: got empty parameter set for (path)"))
    assert asked == without_cases
    assert str(corpus.corpus_dir()) in asked[2]


@pytest.mark.usefixtures("missing")
def test_what_is_skipped_for_another_reason_stays_where_it_is():
    place = ("tests/test_c.py", 7, "Skipped: root may write everywhere")
    assert corpus.skipped_for(place) == place


def test_where_the_corpus_is_demanded_its_lack_fails(monkeypatch, tmp_path):
    monkeypatch.setenv("GC_CORPUS", str(tmp_path))
    monkeypatch.setenv("GC_REQUIRE_CORPUS", "1")
    with pytest.raises(pytest.fail.Exception, match="set GC_CORPUS"):
        corpus.require_corpus()
