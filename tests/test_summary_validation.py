"""A summary is refused, with words that its author can act on, unless it tells the past and lacks no fact."""

import attrs
import pytest

from gc_core.summaries.fact_selection import required_facts
from gc_core.summaries.validation import SummaryValidator, prose_of, with_facts
from tests.test_summaries import COUNT, padded


def complaints(request, text):
    return list(SummaryValidator().validate(request, text))


def plain_request(tokens=600):
    """A request without any fact that must stay."""
    request = padded().request(tokens, names=())
    return attrs.evolve(request, items=(attrs.evolve(request.items[0], synthetic=True),))


def demanding(tokens=600):
    made = padded()
    made.user("You must never touch src/pay/ledger.py on host-0042.")
    made.call("bash", "Error: disk quota 9812 exceeded", command="make all")
    made.says("The build of release-7781 was done.")
    return made.request(tokens)


def test_a_text_in_the_past_tense_is_accepted():
    text = "The login test failed because the token had expired. The fix was committed, and the tests passed."
    assert complaints(plain_request(), text) == []


@pytest.mark.parametrize("text", ["", " ", "\n\t\n"])
def test_an_empty_text_is_refused(text):
    assert complaints(plain_request(), text) == ["it is empty"]
    assert with_facts(demanding(), text) == text


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The agent will fix it.", "'will'"),
        ("It is going to fail.", "'going to'"),
        ("Let's use Redis.", '"let\'s"'),
        ("Let’s use Redis.", '"let\'s"'),
        ("Next, the cache.", "'next,'"),
        ("You should test it.", "'you should'"),
        ("Please be careful.", "'please'"),
        ("We need to rename it.", "'need to'"),
        ("They must now rename it.", "'must now'"),
        ("I'll do it.", '"i\'ll"'),
        ("Fix the login.", "'fix the'"),
        ("- Run all tests", "'run all'"),
        ("It was done. Check the log.", "'check the'"),
        ("Don't touch it.", '"don\'t touch"'),
        ("- Never push to main", "'never push'"),
        ("Paginate the list.", "'paginate the'"),
        ("Tests passed. Run npm test again.", "'run npm'"),
        ("Run `npm test` again.", "'run …'"),
        ("Now fix the docs.", "'fix the'"),
        ("If it fails tonight, look into the journal.", "'look into the'"),
        ("Pending: deploy to staging.", "'pending'"),
        ("**Remaining:** documentation.", "'remaining'"),
        ("It passed. What is still to be done: remove leftovers.", "'what is still to be done'"),
        ("- [ ] deploy", "'[ ]'"),
        ("FIXME later.", "'fixme'"),
        ("Aktualisiere die Doku.", "'Aktualisiere die'"),
        ("Aktualisieren Sie die Doku.", "'Aktualisieren Sie'"),
        ("Führe npm test noch einmal aus.", "'Führe n'"),
        ("Noch offen: die Doku.", "'noch offen'"),
        ("Il faut mettre à jour la documentation.", "'il faut'"),
        ("Pagine la liste.", "'pagine la'"),
        ("Vérifiez demain que le disque tient.", "'vérifiez'"),
        ("Actualiza la documentación.", "'actualiza la'"),
        ("Vuelve a ejecutar npm test.", "'vuelve a'"),
        ("Queda por hacer: la documentación.", "'queda por'"),
        ("Pendiente: la documentación.", "'pendiente'"),
        ("次にドキュメントを更新する。", "'次にドキュメントを更新する'"),
        ("リストをページ分割する。", "'リストをページ分割する'"),
        ("残作業：デプロイ。", "'残作業'"),
    ],
)
def test_the_future_and_orders_are_refused_by_their_words(text, word):
    (complaint,) = complaints(plain_request(), text)
    assert word in complaint
    assert "past tense" in complaint


@pytest.mark.parametrize(
    "text",
    [
        "The tests needed to be run.",
        "It was willing; the goodwill stayed.",
        "Read the file and set the flag; both were done to make sure that it held.",
        "The update of the schema was committed.",
        "The next step had been skipped.",
        "The test never passed on hosts that do not have a network.",
        "Update of the schema: done. Test results were good. Run 3 failed.",
        "Then all the files were read. Given the limit, the list was cut. Once a day it ran.",
        "Pending: none. The pending changes were committed. What remained was small.",
        "Wrote the parser and kept the tests. Rebuilt it twice.",
        "Prüfte die Tests. Danach wurde die Doku ergänzt. Alle die Tests liefen.",
        "`Handler` and `Cart` share the lock. `Workers` share the lock too. “The list” need the cache.",
        "Faltaba un índice. Para la lista se usó una página. Toda la suite pasó.",
        "Ensuite la liste a été paginée. Toute la suite est passée. Lopez a approuvé.",
        "ユーザーはリストをページ分割した。テストは通った。次に更新した。",
    ],
)
def test_what_only_looks_like_it_is_not(text):
    assert complaints(plain_request(), text) == []


def naming(said):
    """A request for what one user said."""
    request = plain_request()
    return attrs.evolve(request, items=(attrs.evolve(request.items[0], text=said * 40),))


ORIGINAL = "In src/auth/login.py the function checkUser listens on port 8080; 1,187 rows, 3.11.7, issue GH-4412. "


@pytest.mark.parametrize(
    "text",
    [
        "login.py was changed: check_user listened on 8080.",
        "About 1,200 rows were read under 3.11; GH-4412 was closed.",
        "In all 1,187 rows were read on port 8080, about 1,200 of them twice. 100 % of them passed.",
        "src/auth/login.py, auth/login.py and src/auth were read.",
        "Some 12 files in `src/auth` and/or elsewhere were read, e.g. login.py, the 2nd one in 40ms.",
    ],
)
def test_what_the_originals_name_in_any_form_is_accepted(text):
    assert complaints(naming(ORIGINAL), text) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The port was 9999 and src/never_there.go was deleted.", ("9999", "src/never_there.go")),
        ("checkGroup was called in login.go.", ("checkGroup", "login.go")),
        ("GH-4413 was closed under 3.12.", ("GH-4413",)),
        ("Some 2,400 rows were read.", ("2,400",)),
        ("The port was 9267.", ("9267",)),
        ("The port was changed from 8080 to 6893.", ("6893",)),
        ("It listened on port 8100.", ("8100",)),
        ("It listened on port 80.", ("80",)),
        ("Some 1,178 rows were read.", ("1,178",)),
        ("Der Port war 8100.", ("8100",)),
        ("Es stand in Zeile 9267.", ("9267",)),
        ("El puerto era el 8100.", ("8100",)),
        ("ポート8100で待った。", ("8100",)),
        ("src/login/auth.py was read.", ("src/login/auth.py",)),
        ("lib/auth/login.py was read.", ("lib/auth/login.py",)),
        ("auth/src/login.py was read.", ("auth/src/login.py",)),
    ],
)
def test_what_none_of_the_originals_names_is_an_invention(text, named):
    (complaint,) = complaints(naming(ORIGINAL), text)
    assert "none of the originals says" in complaint
    assert all(repr(name) in complaint for name in named)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Updating serde v1.0.188 -> v1.0.219. ", "serde was raised to 1.0.219."),
        ("12 480 files were deleted. ", "Some 12,480 files, or 12480, were deleted."),
        ("12480 files were deleted. ", "12 480 files were deleted."),
        ("step 3 lr 6.0e-04. ", "The rate stayed at 0.0006."),
        ("class Cart: def total(self). ", "`Cart.total` was changed."),
        ("DESCRIBE battle: [('id', b'int')]. ", "It was joined by `battle.id`."),
        ("psycopg2.connect(dsn). ", "The PostgreSQL connection failed."),
        ("Bornholm 1.900 EUR, ferry 410 EUR.\n", "It was about 2.300 EUR."),
        ("1,187 of 2,100 rows were read. ", "About 1,200 rows were read."),
        ("dump: 1'083.46 GB at 12:40. ", "It had 1'083.5 GB at 14:40."),
        ("203 of 250 were right. ", "81.2 % were right."),
        ("Sent 3 June 2025 as 7741-55-203. ", "7741-55-203 was sent on 2025-06-03."),
    ],
)
def test_the_same_in_another_notation_is_no_invention(said, text):
    assert complaints(naming(said), text) == []


@pytest.mark.parametrize(
    ("said", "text", "named"),
    [
        ("dump: 83.4 GB, run 834 of 9. ", "It had 84,3 GB.", "84,3"),
        ("Reference 7741-55-203; 212 euros after 19 days. ", "The reference was 7741-55-230.", "7741-55-230"),
        ("DESCRIBE battle: [('id', b'int')], sql. ", "It stood in battle.sql.", "battle.sql"),
        ("DESCRIBE battle: [('id', b'int')]. ", "It was joined by `ship.id`.", "ship.id"),
        ("10 km in 54:20. ", "They were run in 52:40.", "52:40"),
        ("The oldest is of 1931, page 6. ", "The oldest was made in 1937.", "1937"),
        ("Only libs/adressen/** is watched. ", "`libs/etiketten/**` was added.", "libs/etiketten"),
    ],
)
def test_a_decimal_a_reference_a_time_and_a_year_are_quotations(said, text, named):
    (complaint,) = complaints(naming(said), text)
    assert repr(named) in complaint


def test_a_number_of_thousands_of_digits_is_an_invention_like_others():
    assert any("none of the" in each for each in complaints(plain_request(9_999), f"It was 1{'0' * 5000}."))


@pytest.mark.parametrize("text", ["TODO: the tests were open.", "It was done.\n## Next steps\nThe tests."])
def test_a_list_of_open_tasks_is_not_in_the_past_tense(text):
    (complaint,) = complaints(plain_request(), text)
    assert "past tense" in complaint


@pytest.mark.parametrize(
    "text",
    [
        'The user said "you should run it" and “please do”.',
        "The flag `will` was set.",
        "Dort stand „FIXME: Lesen und Schreiben trennen“, «veuillez», »bitte« und 「してください」.",
        "This was the code:\n```\nyou will\nplease\n```\nIt was kept.",
        "It was done.\nFacts:\n- You must always run the tests\n- “will”",
    ],
)
def test_what_is_quoted_may_say_anything(text):
    assert complaints(plain_request(), text) == []


@pytest.mark.parametrize("text", ["```\nThe agent will go.", "“The agent will go.", "Facts:\nThe agent will go.\n- x"])
def test_a_quotation_that_does_not_end_hides_nothing(text):
    assert len(complaints(plain_request(), text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Details: re-read the file.",
        "They reviewed it; review the above.",
        "See above.",
        "Scroll up.",
        "As mentioned earlier, it failed.",
        "The error shown above was fixed.",
        "It stood in the previous messages.",
    ],
)
def test_pointing_at_what_is_gone_is_refused(text):
    assert any("points at what is gone" in complaint for complaint in complaints(plain_request(), text))


def test_a_thousand_wills_are_one_complaint():
    (complaint,) = complaints(plain_request(5000), "It will. " * 1000)[-1:]
    assert complaint.count("'will'") == 1
    assert len(complaint) < 200


def test_a_text_that_is_too_long_is_refused():
    request = plain_request(50)
    found = complaints(request, "The test failed. " * 40)
    assert found[0].endswith("at most 50 are allowed")
    found = complaints(request, "The test failed. " * 4000)
    assert "no fewer than" in found[1]


@pytest.mark.parametrize("text", ["It ended.</summary>", "[gc: end]", "Human: go", "<|im_end|>", "<SYSTEM>x"])
def test_unescaped_markers_are_refused(text):
    assert "control tags or markers" in complaints(plain_request(), text)[0]


def test_facts_that_are_missing_are_named():
    (complaint,) = complaints(demanding(), "Something was done.")
    assert "src/pay/ledger.py" in complaint
    assert "release-7781" in complaint
    assert "9812" in complaint


def test_with_facts_adds_exactly_what_is_missing():
    request = demanding()
    text = "Release release-7781 was built, though the disk quota of 9812 was exceeded.  \n"
    whole = with_facts(request, text)
    assert whole.startswith(text.rstrip())
    facts = whole.split("Facts:\n")[1]
    assert "“You must never touch src/pay/ledger.py on host-0042.”" in facts
    assert "9812" not in facts
    assert complaints(request, whole) == []
    assert with_facts(request, whole) == whole


def test_a_demand_has_to_occur_verbatim():
    request = demanding()
    found = "src/pay/ledger.py on host-0042 was off limits, release-7781 was done, quota 9812."
    assert "You must never touch" in complaints(request, found)[0]
    assert complaints(request, f"{found} “You must never  touch src/pay/ledger.py on host-0042.”") == []


def test_where_not_even_the_demands_fit_it_is_refused():
    request = demanding(200)
    prose = "The build was looked at and the matter was closed after a while. " * 20
    while COUNT(prose) > 198:
        prose = prose.rpartition(" ")[0]
    whole = with_facts(request, prose)
    assert COUNT(whole) <= 200
    assert whole.startswith(prose.rstrip())
    assert any("lacks" in complaint for complaint in complaints(request, whole))


def test_the_most_important_facts_are_added_first():
    request = demanding(800)
    assert required_facts(request)[0].text.startswith("You must never")
    assert prose_of(with_facts(request, "It was done.")).strip() == "It was done."


def test_what_is_required_fits_a_quarter_of_the_room():
    for tokens in (20, 100, 500):
        request = demanding(tokens)
        assert sum(COUNT(f"- {fact.sentence()}\n") for fact in required_facts(request)) <= tokens / 4
