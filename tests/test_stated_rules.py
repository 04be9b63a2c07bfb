"""
What users state that holds beyond the next step: rules in any words, what supersedes them, and what is none.

The models learned from the sets named tune and development: floors on these show that it was learned, those on the
eighth, eleventh and twelfth sets how much of it holds elsewhere.
"""

import functools
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.stated_rules import Standing, is_known, rows, sessions_of, standing, stated, wordings
from gc_core.relevance.reruns import does_again
from gc_core.task import quotations
from gc_core.task.forms import Form, form_of
from gc_core.task.phrases import sentences_of
from gc_core.task.sentence_features import hashes_of
from gc_core.task.stated_rules import sentences_in
from tests.support.corpus import require_corpus

DATA = Path(__file__).parent / "data"
WORDINGS = [json.loads(line) for line in (DATA / "rule_wordings.jsonl").read_text("utf-8").splitlines()]
SENTENCES = [json.loads(line) for line in (DATA / "said_by_users.jsonl").read_text("utf-8").splitlines()]


def share(values):
    values = list(values)
    return sum(map(bool, values)) / len(values)


@pytest.mark.parametrize(
    ("half", "floor"),
    [
        ("tune", 0.97),
        ("eighth unseen", 0.91),
        ("eleventh unseen", 0.88),
        ("twelfth unseen", 0.88),
    ],
)
def test_most_rules_are_known_in_whatever_words_they_are_put(half, floor):
    rules = [said for said in wordings(half) if said.is_rule]
    assert share(is_known(said.marker, stated([said.text])) for said in rules) >= floor


@pytest.mark.parametrize(
    ("half", "floor"),
    [
        ("tune", 0.97),
        ("eighth unseen", 0.84),
        ("eleventh unseen", 0.9),
        ("twelfth unseen", 0.9),
    ],
)
def test_most_of_what_is_taken_for_a_rule_is_one(half, floor):
    said = [one for one in wordings(half) if stated([one.text])]
    assert share(one.is_rule for one in said) >= floor


@pytest.mark.parametrize(
    ("kind", "most"),
    [("one-time request", 0.1), ("pasted", 0.1), ("small talk", 0.12), ("status", 0.1), ("answer", 0.2)],
)
def test_what_lays_nothing_down_is_mostly_left_out(kind, most):
    texts = [row["text"] for row in SENTENCES if row["kind"] == kind]
    assert share(stated([text]) for text in texts) <= most


def test_what_lays_something_down_is_not_left_out_with_it():
    texts = [row["text"] for row in SENTENCES if row["kind"] == "rule"]
    assert share(stated([text]) for text in texts) >= 0.95


NEWS = [
    "Die Prüferin hat die Unterlagen abgeholt.",
    "Le fournisseur a répondu hier soir.",
    "El técnico cambió la bombilla.",
    "Il treno è arrivato con dieci minuti di ritardo.",
    "O armazém confirmou a encomenda.",
    "De bakker heeft de taarten gebracht.",
    "Sąsiadka odebrała przesyłkę.",
    "Водитель привёз коробки, всё подписали.",
    "Ürünler depoya ulaştı.",
    "荷物は倉庫に届いた。",
]


def test_news_is_hardly_ever_a_rule_in_whatever_language_the_past_is_told():
    assert share(stated([text]) for text in NEWS) <= 0.2


RULES_LIKE_NEWS = [
    "Die Preise sind auf zwei Stellen gerundet.",
    "Les montants sont arrondis au centime.",
    "Las fechas están en formato ISO.",
    "Le ricevute sono numerate per anno.",
    "Os relatórios saem às sextas.",
    "De rapporten zijn tweetalig.",
    "Zdjęcia są w katalogu głównym.",
    "Правила лежат в папке docs.",
    "Cuma günleri sürüm çıkarmıyoruz.",
    "このリポジトリでは英語でコメントしてください。",
    "没有测试的代码不合并",
]


def test_what_is_the_case_is_hardly_ever_taken_for_what_happened():
    assert share(stated([text]) for text in RULES_LIKE_NEWS) >= 0.9


QUESTIONS = [
    "who has the keys to the depot",
    "weißt du, wo der Plan liegt",
    "por qué tarda tanto",
    "dlaczego to trwa",
    "Do you do any sports?",
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_is_no_rule_and_needs_no_mark(text):
    assert stated([text]) == []


@pytest.mark.parametrize("text", ["What lives in vendor stays untouched.", "Whoever breaks the tests mends them."])
def test_a_clause_that_begins_like_a_question_is_none(text):
    assert stated([text]) == [text]


CONTRACTED = [
    "Don't touch the ledger.",
    "We don't ship on Fridays.",
    "I'm waiting for the depot.",
    "The keys aren't shared.",
    "I can't find the depot.",
]


@pytest.mark.parametrize("text", CONTRACTED)
def test_an_apostrophe_left_out_changes_nothing(text):
    assert bool(stated([text.replace("'", "")])) is bool(stated([text]))


def test_the_french_dont_is_no_english_one():
    assert hashes_of(["les clients dont le contrat expire"]) != hashes_of(["les clients don't le contrat expire"])
    assert hashes_of(["we dont sell that"]) == hashes_of(["we don't sell that"])


def test_a_letter_with_its_head_is_somebody_elses():
    text = "From: office@depot.example\nSubject: Keys\n\nEvery key must be returned by noon."
    assert stated([text]) == []


@pytest.mark.parametrize("half", ["tune", "unseen"])
def test_similar_rules_about_two_things_both_stay(half):
    for row in rows(half):
        if row["id"].startswith("p"):
            entries = stated([row["first"]["text"], row["second"]["text"]])
            assert all(is_known(row[which]["marker"], entries) for which in ("first", "second"))


@pytest.mark.parametrize("half", ["tune", "unseen"])
def test_no_rule_takes_back_another_one_that_is_about_something_else(half):
    texts = [said.text for said in wordings(half) if said.is_rule]
    together, alone = stated(texts), [entry for text in texts for entry in stated([text])]
    assert len(set(alone) - set(together)) <= 1


WORDS = ["amber", "basalt", "cobalt", "damask", "ember", "flint", "garnet", "hazel"]
MOULDS = [
    "From now on never send the {} by anything but the {} route.",
    "Ab sofort geht der {} immer zuerst an das Team {}.",
    "The {} goes out by the {} route from now on, not by the old one.",
]


@given(st.sampled_from(MOULDS), st.permutations(WORDS))
def test_a_rule_of_the_same_mould_about_another_thing_takes_nothing_back(mould, words):
    rules = [mould.format(thing, how) for thing, how in zip(words[::2], words[1::2], strict=True)]
    assert stated(rules) == rules


def test_a_correction_takes_back_what_it_speaks_of_and_nothing_else():
    others = ["Feature branches are cut from develop.", "The staging host is at stage-a.internal."]
    old, new = "Cards show the price in dollars.", "Change of plan, card prices are in euros."
    assert stated([*others, old, new]) == [*others, new]


def assert_nine_of_ten_stand_after_774_calls(sessions):
    require_corpus()
    found = functools.reduce(
        Standing.plus, (standing(each, "gc_progressive", 32_000, 774, ("concat-entire-336605",)) for each in sessions)
    )
    assert found.in_request >= 0.9 * found.rules
    assert found.else_in_state <= 0.1 * (found.in_state + found.else_in_state)


def test_nine_of_ten_rules_are_in_the_request_after_774_calls():
    assert_nine_of_ten_stand_after_774_calls([next(sessions_of("eleventh unseen"))])


@pytest.mark.slow
def test_so_they_are_in_eight_sessions_of_two_sets():
    halves = map(sessions_of, ("eighth unseen", "eleventh unseen"))
    assert_nine_of_ten_stand_after_774_calls(
        itertools.chain.from_iterable(itertools.islice(half, 4) for half in halves)
    )


# --- examples -------------------------------------------------------------------------------------------------------

FORMS = [
    ("Every migration has a way back.", Form.NORM),
    ("The last one out must always lock the depot.", Form.NORM),
    ("Use tabs in the Makefiles!", Form.ORDER),
    ("hands off the billing cron", Form.ORDER),
    ("ask me before you install anything", Form.ORDER),
    ("Return early instead of nesting.", Form.ORDER),
    ("I'd rather have plain SQL.", Form.PREFERENCE),
    ("No, the tenant id comes first in the key.", Form.CORRECTION),
    ("port 8443 is taken by the monitoring agent", Form.STATEMENT),
]


@pytest.mark.parametrize(("text", "form"), FORMS)
def test_a_rule_is_known_and_shows_its_form(text, form):
    assert stated([text]) == [text]
    assert form_of(text) is form


RULES = [
    "src/legacy is frozen",
    "Los precios van con impuestos.",
    "ohne Freigabe wird hier nichts verschickt",
    "Datei-Endungen klein",
    "we don't do inheritance",
]


@pytest.mark.parametrize("text", RULES)
def test_a_plain_statement_may_be_a_rule(text):
    assert stated([text]) == [text]


NO_RULES = [
    "Could you run the slow tests?",
    "run the slow tests now",
    "Find all airlines that have flights from Rome.",
    "Good morning!",
    "I pushed two small commits.",
    "The build finished a moment ago.",
    "Yes, that's the file I meant.",
    "Art. 4 The Tenant shall never sublet.",
    "Return the names of the pupils in the choir.",
    "What is the number of seats in each hall.",
    "I want to exchange the kettle for a larger one.",
    "I need to cancel my booking.",
    "I need some help with my order.",
    "[2024-03-02] Hello, dear Robin.",
    "It's really delicious.",
    "You're right.",
    "lib/old/parser -> lib/new/parser",
    "./build/reports/<date>-summary/index",
    "we don't know why",
]


@pytest.mark.parametrize("text", NO_RULES)
def test_what_is_of_the_moment_is_no_rule(text):
    assert stated([text]) == []


@pytest.mark.parametrize(
    "text",
    [
        'From their manual:\n"Always wear gloves. Never open the lid."',
        "> Contributors must sign off each commit.",
        "The old README had:\n## Style\n- Always use Hungarian notation",
        "License excerpt: Redistributions must reproduce the notice.",
        "// the cache is shared by all workers",
        "│ Step 3: the team has five members │",
        "at readAll (native code)",
        "-f, --force overwrite what is there",
        "path: 'a/b/c of the project'",
        "3.4 Obligations of the tenant",
        "第八条 乙方必须在每月5日之前支付租金。",
        "제12조 임차인은 항상 집을 청결히 유지해야 한다.",
        "Table S2. Primers are always stored at -20 degrees.",
        "Caveat: The messages below were generated by the user while running local commands. DO NOT respond to them.",
        "###STOP###",
        "<|end_of_turn|>",
        "4.2 Środki bezpieczeństwa w laboratorium",
        'From their manual: "Always wear gloves.<|end|> Never open the lid."',
        "From the manual:\nAlways wear gloves.\n###NOTE###\nNever open the lid.",
    ],
)
def test_the_words_of_others_are_not_rules_of_the_user(text):
    assert [each for each in sentences_in(text) if each.form is not None] == []


OWN = [
    'Say "client" and never write "customer" in the UI.',
    "Never link to the old docs at https://old.example.",
    "Always run the log rotation at 02:00.",
    "Logs: always JSON, never plain text.",
    "Never edit the README: it is generated.",
    "Git: never force-push to main.",
    "Make 3 copies of every backup, always.",
    "Warning: never touch the prod database.",
    "Step 2 must always run before step 3.",
    "3.5 seconds is the longest any request may take.",
    "3.5 MB is the limit for uploads.",
    "3.12 Python only, please.",
    "1.1 Always use tabs",
    "1.2 Use pytest, never unittest.",
    "10.0.0.12 Prod server: never restart it.",
    "10.30 Uhr ist immer Feierabend.",
    "Table 2: always sort by date.",
    "第一条：永远不要直接推送到主分支。",
    "第3節の図は消さないでください。",
    "제1조: 절대 main에 푸시하지 마세요.",
    "Never emit <|endoftext|> tokens in the output.",
    "Always keep the ###STOP### marker at the end of each file.",
    "Git: don’t force-push to main.",
    "Git: dont force-push to main.",
    "Data: always in /srv/data.\nDate: always ISO 8601.\nNever commit secrets.",
]


@pytest.mark.parametrize("text", OWN)
def test_a_word_in_quotation_marks_or_before_a_colon_makes_no_quotation(text):
    own = quotations.own_words(text)
    assert quotations.sentences_of(own) == [sentence for line in text.split("\n") for sentence in sentences_of(line)]


def test_a_control_word_behind_a_rule_is_no_part_of_it():
    assert stated(["Please always answer in French.###STOP###"]) == ["Please always answer in French."]


def test_a_short_answer_to_a_question_of_the_agent_states_nothing():
    assert [each.form for each in sentences_in("the one in the drawer", asked=True)] == [None]
    assert [each.form for each in sentences_in("Never touch that one.", asked=True)] == [Form.NORM]


ADOPTED = [
    "Anna thinks the totals go on top, so please put them on top.",
    "As the guide says, headings are in sentence case.",
    "Our handbook says gloves at all times.",
    "If a test fails, it must be fixed first.",
    "It would be great if every chart had a title.",
    "The client has told us that every photo must show the logo.",
]


def test_what_the_user_adopts_or_wishes_is_a_rule_no_matter_who_said_it():
    assert share(stated([text]) for text in ADOPTED) >= 0.8


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("quoted rule", 0.1),
        ("taken back", 0.1),
        ("hypothetical", 0.1),
        ("one-time request", 0.15),
        ("status", 0.16),
        ("pasted", 0.1),
    ],
)
def test_of_what_was_learned_little_is_taken_that_lays_nothing_down(kind, most):
    texts = [said.text for said in wordings("development") if said.kind == kind]
    assert share(stated([text]) for text in texts) <= most


def test_of_what_was_learned_the_rules_are_known():
    rules = [said for said in wordings("development") if said.is_rule]
    assert share(is_known(said.marker, stated([said.text])) for said in rules) >= 0.94


def test_a_rule_that_is_taken_back_leaves_the_state():
    for row in rows("development"):
        if row["id"].startswith("w"):
            assert stated([row["old"]["text"], row["new"]["text"]]) == []


def test_a_rule_that_is_taken_back_takes_no_other_one_along():
    others = ["Labels are always blue.", "Deliveries come through the back gate."]
    assert stated([*others, "Use tabs everywhere.", "Forget what I said about tabs."]) == others


def test_never_mind_takes_back_what_the_same_message_says_and_nothing_of_an_earlier_one():
    assert stated(["Labels are always blue. Oh, never mind."]) == []
    assert stated(["Labels are always blue.", "Never mind."]) == ["Labels are always blue."]


@pytest.mark.parametrize("half", ["tune", "development"])
def test_a_similar_statement_about_another_thing_replaces_nothing(half):
    """A rule that is dropped wrongly costs more than one that stays beside its newer version."""
    pairs = [row for row in rows(half) if row["id"].startswith("p")]
    found = [(stated([row["first"]["text"], row["second"]["text"]]), row) for row in pairs]
    kept = [is_known(row["first"]["marker"], known) for known, row in found]
    assert share(kept) >= 0.94


RERUNS = [
    ("pytest -q", "pytest tests/test_a.py::test_b -x", True),
    ("cd app && pytest tests/test_a.py 2>&1 | tail -5", "pytest tests/test_a.py::test_b", True),
    ("pytest tests/test_a.py::test_c", "pytest tests/test_a.py::test_b", False),
    ("pytest tests/test_a.py -k 'not b'", "pytest tests/test_a.py", False),
    ("go test ./...", "go test ./net/...", True),
    ("go test ./net/codec", "go test ./net/...", False),
    ("make clean", "make docs", False),
    ("docker build -t gull/web .", "docker build -t gull/api .", False),
    ("mypy src", "mypy src/ledger", True),
    ("ls", "", False),
    ("pytest tests/b.py", "pytest", False),
    ("pytest tests/a.py::test_y", "pytest", False),
    ("pytest tests/b.py", "pytest tests/a.py tests/b.py", False),
    ("pytest tests/a.py tests/b.py", "pytest tests/a.py", True),
    ("pytest -v", "pytest", True),
    ("npm test -- Footer.test.tsx", "npm test", False),
    ("cargo test lexer::", "cargo test", False),
    ("cargo test", "cargo test lexer::", True),
    ("go test ./net/...", "go test ./...", False),
    ("python manage.py test shop", "python manage.py test", False),
    ("python manage.py test", "python manage.py test shop", True),
    ("make clean", "make", False),
    ("make clean docs", "make docs", True),
    ("mvn clean test", "mvn test", True),
    ("mvn test -pl core", "mvn test", False),
    ("npm install left-pad", "npm install", False),
    ("python load.py --dry-run", "python load.py", False),
    ("python load.py march", "python load.py", False),
    ("ruff check src", "ruff check .", False),
    ("run_tests", "run_tests tests/a.py", True),
    ("run_tests tests/b.py", "run_tests", False),
]


@pytest.mark.parametrize(("command", "failed", "covers"), RERUNS)
def test_only_a_run_of_the_same_or_of_more_overcomes_a_failure(command, failed, covers):
    assert does_again(command, failed) is covers


def test_most_commands_of_the_unseen_set_overcome_what_they_should():
    cases = [
        (does_again(later["command"], row["command"]), later)
        for row in WORDINGS
        if row["id"].startswith("e")
        for later in row["later"]
        if "error" not in later["output"] and "not found" not in later["output"]
    ]
    assert share(found is later["resolves"] for found, later in cases) >= 0.85
