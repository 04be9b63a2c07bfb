"""What a tool returned comes back when its file, ticket, script or host is named: generated cases in many languages."""

import itertools

import attrs
import pytest

from gc_core.relevance.mentions import Mentions
from gc_core.session.history import History
from gc_core.session.recall_suggestions import RECALLED, auto_expand, suggest_recall
from gc_core.values.items import ItemKind
from tests.support.say import answer, call, lines, rendered, result, small, user


@attrs.frozen
class Subject:
    """A call of the first turns: what it returned, the names that users have for it, and a word and a mark in it."""

    tool: str
    arguments: dict
    text: str
    names: tuple[str, ...]
    word: str
    mark: str


SUBJECTS = (
    Subject(
        "read_file",
        {"path": "notes/menu.txt"},
        "starter: beetroot soup\ndessert: plum cake, kitchen 17",
        ("notes/menu.txt", "menu.txt", "./notes/menu.txt"),
        "dessert",
        "plum cake",
    ),
    Subject(
        "Read",
        {"file_path": "/srv/app/conf/db.yaml"},
        "server: 10.9.8.7\nlistener: 6543\nuser: shop",
        ("db.yaml", "conf/db.yaml"),
        "listener",
        "6543",
    ),
    Subject(
        "bash",
        {"command": "cat Dockerfile.prod"},
        "FROM debian:12\nRUN apt-get install libfoo7\nEXPOSE 8123",
        ("Dockerfile.prod",),
        "debian",
        "8123",
    ),
    Subject(
        "bash",
        {"command": "cd ops && ./scripts/run_bench.sh --quick"},
        "throughput: 48211 per second\np99: 12 ms",
        ("run_bench.sh", "./scripts/run_bench.sh"),
        "throughput",
        "48211",
    ),
    Subject(
        "get_ticket",
        {"id": "SHOP-4711"},
        "summary: rounding wrong\nreporter: Wiebke Janssen",
        ("SHOP-4711", "shop-4711"),
        "reporter",
        "Wiebke",
    ),
    Subject("get_issue", {"key": "AB-7"}, "title: slow page\nassignee: Ole Petersen", ("AB-7",), "assignee", "Ole"),
    Subject(
        "mcp__gh__issue_read",
        {"issue_number": 8157, "repo": "shop"},
        "title: dark mode\nmilestone: Juniper",
        ("#8157",),
        "milestone",
        "Juniper",
    ),
    Subject(
        "WebFetch",
        {"url": "https://example.org/pricing", "prompt": "all plans"},
        "Basic plan 9 euros\nEnterprise plan 219 euros",
        ("https://example.org/pricing", "example.org/pricing"),
        "enterprise",
        "219",
    ),
    Subject(
        "ssh",
        {"host": "db-7.internal", "cmd": "uptime"},
        "kernel: 6.1.90\nload: 3.75",
        ("db-7.internal",),
        "kernel",
        "6.1.90",
    ),
    Subject("ping", {"address": "192.168.44.5"}, "latency: 31 ms, lost 0 %", ("192.168.44.5",), "latency", "31 ms"),
    Subject(
        "find_symbol",
        {"name_path": "make_token"},
        "defined in auth, parameter lifetime = 777",
        ("make_token",),
        "lifetime",
        "777",
    ),
    Subject("read_file", {"path": "Makefile"}, "bundle:\n\tzip -9 site", ("Makefile",), "bundle", "zip -9"),
    Subject(
        "read_file", {"path": "docs/отчёт.txt"}, "revenue: 5,120", ("отчёт.txt", "docs/отчёт.txt"), "revenue", "5,120"
    ),
    Subject("read_many_files", {"paths": ["src/tax.py", "src/vat.py"]}, "brackets = 19", ("tax.py",), "brackets", "19"),
    Subject(
        "run_shell_command", {"command": "npm run bundle"}, "modules: 1418", ("`npm run bundle`",), "modules", "1418"
    ),
)

ASKED = (
    "What does {} say about the {}?",
    "Now back to {}. Which {} was it?",
    "Was stand in {} nochmal über {}?",
    "Que disait {} sur « {} » ?",
    "¿Qué decía {} de {}?",
    "Cosa c'era in {} su {}?",
    "O que dizia {} sobre {}?",
    "Wat stond er in {} over {}?",
    "Co było w {} o {}?",
    "Что было в {} про {}?",
    "{}'de {} için ne yazıyordu?",
    "Mi volt a {}-ben: {}?",
    "Mitä {}:ssä luki kohdassa {}?",
    "「{}」里的{}是多少？",
    "{}に書いてある{}は何ですか？",
    "{}에서 {} 값이 뭐였지?",
)
ASKED_WITHOUT_A_MARK = (
    "Tell me {}'s {}.",
    "Zeig mir {} noch einmal, den Teil mit {}.",
    "Remontre-moi {} ({}).",
    "Muéstrame otra vez {}: {}.",
    "Покажи ещё раз {}, {}.",
    "请再看一下{}，{}。",
    "{}をもう一度見せて、{}の所。",
)
NOT_ASKED = (
    "Forget {}, we go on with the checkout.",
    "Delete {}, please.",
    "Can you delete {}?",
    "Please create {} anew, from scratch.",
    "Run {} again.",
    "Thanks, {} is fine. Good night.",
    "I closed {} yesterday.",
    "We are done with {}; next comes the checkout.",
    "Vergiss {}, wir machen mit der Kasse weiter.",
    "Kannst du {} bitte löschen?",
    "Oublie {}, passons à la caisse.",
    "Supprime {}, s'il te plaît.",
    "Olvida {}, seguimos con la caja.",
    "Borra {}, por favor.",
    "Elimina {}, per favore.",
    "Esqueça {}, vamos ao caixa.",
    "Verwijder {} maar.",
    "Usuń {}, proszę.",
    "Забудь про {}, идём дальше.",
    "Удали {}, пожалуйста.",
    "{} dosyasını sil.",
    "请删除{}。",
    "忘了{}吧，我们继续。",
    "{}を削除してください。",
    "{}은 삭제해 줘.",
)
NEW = ("notes/dinner.txt", "SHOP-9999", "https://example.net/other", "web-3.internal", "other_bench.sh", "new_symbol")


def wanted():
    """Each name in a third of the sentences, in turn."""
    named = [(subject, name) for subject in SUBJECTS for name in subject.names]
    sentences = itertools.cycle((*ASKED, *ASKED_WITHOUT_A_MARK))
    for subject, name in named:
        for sentence in itertools.islice(sentences, 7):
            yield subject, sentence.format(name, subject.word)


def unwanted():
    sentences = itertools.cycle(NOT_ASKED)
    for subject in SUBJECTS:
        for sentence in itertools.islice(sentences, 6):
            yield sentence.format(subject.names[0])
    for place, name in enumerate(NEW):
        for sentence in ASKED[place::6]:
            yield sentence.format(name, "colour")


def read(session, key, tool, arguments, text):
    """A call with its result; returns the id of the result."""
    session.pre_send()
    session.post_turn(call((key, tool, arguments)))
    return session.append(result(key, text))[0]


def said(session, text):
    """The agent answers."""
    session.pre_send()
    session.post_turn(answer(text))


def collected(session, first=0):
    """Other work follows, and everything before has been collected."""
    for place in range(first, first + 12):
        read(session, f"o{place}", "read_file", {"path": f"other{place}"}, lines(60, f"other{place}"))
    session.collect_now(target_percent=1)
    said(session, "Done.")


def started(**more):
    session = small(20_000, preserve_recent_turns=0, pressure_percent=0, target_percent=70, **more)
    session.append(user("Do it."))
    return session


def asked(session, text):
    """What comes back for a user's words; the agent answers them."""
    session.append(user(text))
    used = auto_expand(session)
    session.pre_send()
    blocks = [item.text for item in session.items() if item.kind is ItemKind.ENRICHMENT and item.name == RECALLED]
    session.post_turn(answer("Fine."))
    return blocks[-1] if used else ""


def brought_back(cases):
    """What comes back for each text, every one in a session of its own past: nothing recalled stays in the window."""
    with started() as session:
        for place, subject in enumerate(SUBJECTS):
            read(session, f"s{place}", subject.tool, subject.arguments, subject.text)
        collected(session)
        for text in cases:
            session.append(user(text))
            yield [(each, session.recall(each.item)) for each in suggest_recall(session)]
            session.post_turn(answer("Fine."))


def test_of_generated_questions_that_name_what_a_call_asked_for_nearly_all_bring_back_its_result():
    cases = list(wanted())
    found = brought_back([text for _, text in cases])
    missed = [text for (subject, text), back in zip(cases, found, strict=True)
              if not any(subject.mark in original for _, original in back)]  # fmt: skip
    assert len(cases) >= 120
    assert len(missed) <= 0.03 * len(cases), missed


def test_of_generated_messages_that_ask_for_nothing_of_the_past_nearly_none_brings_anything_back():
    cases = list(unwanted())
    expanded = [(text, back) for text, back in zip(cases, brought_back(cases), strict=True) if back]
    assert len(cases) >= 90
    assert len(expanded) <= 0.03 * len(cases), expanded


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.names[0])
def test_the_agents_own_words_lead_there_too(subject):
    with started() as session:
        key = read(session, "c1", subject.tool, subject.arguments, subject.text)
        collected(session)
        session.append(user("Go on."))
        session.pre_send()
        session.post_turn(
            call(("d1", "bash", {"command": "date"}), text=f"I need the {subject.word} of {subject.names[0]}.")
        )
        session.append(result("d1", "Monday"))
        assert [each.item for each in suggest_recall(session)] == [key]


# --- values of arguments, and what the agent is about to do ----------------------------------------------------------

VALUES = (
    ("open_sheet", {"title": "Rowing Club Duties"}, "Rowing Club Duties"),
    ("search_mail", {"query": "Frau Amsel-Dorn", "folder": "inbox"}, "Frau Amsel-Dorn"),
    ("find_person", {"name": "Captain Thistlewood"}, "Thistlewood"),
    ("project", {"project": "Kittiwake", "view": "all"}, "Kittiwake"),
    ("ssh", {"host": "attic-nas"}, "attic-nas"),
    ("http_get", {"url": "https://example.org/clubs/bus-timetable?lang=en"}, "bus-timetable"),
    ("http_get", {"url": "https://example.org/api/tides/port-ellen"}, "tides/port-ellen"),
    ("open_document", {"name": "Kellerplan Nordflügel.odt"}, "Kellerplan Nordflügel"),
    ("abrir", {"nombre": "Contrato taller Ribera"}, "contrato taller Ribera"),
    ("найти", {"от": "Мирослава Тихонова"}, "Мирославы Тихоновой"),
    ("open_document", {"title": "図書室の使い方"}, "図書室の使い方"),
    ("open_document", {"name": "植树节安排.docx"}, "植树节安排"),
    ("search_notes", {"query": "별빛천문대 프로젝트"}, "별빛천문대"),
    ("bash", {"command": "php bin/console price:check --all"}, "price:check"),
)
STEPS = (
    "Now I fill in the form for {}.",
    "I follow {} here.",
    "Ich halte mich an {} und schreibe den Entwurf.",
    "Je prépare la lettre d'après {}.",
    "Preparo el pedido según {}.",
    "Пишу письмо, исходя из {}.",
    "按照{}来写通知。",
)
QUESTIONS = (
    "What did {} say about the amount?",
    "Write the letter to the landlord, and use {}.",
    "Was stand in {} zum Betrag?",
    "¿Qué decía {}?",
    "{}里写的是什么？",
)
PUT_ASIDE = (
    "{} is settled, so next comes the garden.",
    "Good, I am done with {}.",
    "{} ist erledigt, weiter mit dem Garten.",
    "{} est terminé, je passe au jardin.",
    "{} ya está cerrado, sigo con el jardín.",
    "С {} всё закончено, дальше сад.",
    "I create {} anew.",
    "Ich lösche {}.",
)
LOOK_ALIKES = (
    "The kittiwake is a gull, isn't it?",
    "Which attic-pi do we use?",
    "Where is port-ellen-harbour on the map?",
    "Is there a bus timetable-like thing in Rome?",
    "Was kostet ein Kellerplan?",
    "Who is the captain of the inbox?",
    "図書の数はいくつですか？",
    "安排好了吗？",
)


def spoken(sentences, speak):
    """What each sentence brings back about each value, in sessions in which nobody has said it before."""
    for sentence in sentences:
        with started() as session:
            keys = [
                read(session, f"v{place}", tool, arguments, f"amount: {place}0417")
                for place, (tool, arguments, _) in enumerate(VALUES)
            ]
            collected(session)
            for key, (_, _, name) in zip(keys, VALUES, strict=True):
                text = sentence.format(name)
                speak(session, text)
                yield text, key, [each.item for each in suggest_recall(session)]


def by_agent(session, text):
    session.append(user("Go on."))
    session.pre_send()
    key = f"d{len(session.items())}-{text}"
    session.post_turn(call((key, "date", {}), text=text))
    session.append(result(key, "Monday"))


def by_user(session, text):
    said(session, "Fine.")
    session.append(user(text))


@pytest.mark.parametrize(("sentences", "speak"), [(STEPS, by_agent), (QUESTIONS, by_user)])
def test_a_document_person_host_or_page_that_a_call_named_brings_back_its_result(sentences, speak):
    cases = list(spoken(sentences, speak))
    missed = [text for text, key, back in cases if key not in back]
    assert len(missed) <= 0.05 * len(cases), missed


@pytest.mark.parametrize("speak", [by_agent, by_user])
def test_what_is_put_aside_or_made_anew_does_not_come_back(speak):
    cases = list(spoken(PUT_ASIDE, speak))
    expanded = [text for text, _, back in cases if back]
    assert len(expanded) <= 0.03 * len(cases), expanded


@pytest.mark.parametrize("speak", [by_agent, by_user])
def test_common_words_and_names_that_look_alike_bring_nothing_back(speak):
    with started() as session:
        for place, (tool, arguments, _) in enumerate(VALUES):
            read(session, f"v{place}", tool, arguments, f"amount: {place}0417")
        collected(session)
        for text in LOOK_ALIKES:
            speak(session, text)
            assert suggest_recall(session) == (), text


@pytest.mark.parametrize(
    "text",
    [
        "Create the peering for net_north.tf; which range did we give it again?",
        "Use net_north.tf, please.",
        "Set the test's size to one above what net_north.tf has please.",
    ],
)
def test_a_request_that_needs_the_thing_asks_for_it(text):
    with started() as session:
        key = read(session, "c1", "read_file", {"path": "infra/net_north.tf"}, 'cidr = "10.44.0.0/16"')
        collected(session)
        by_user(session, text)
        assert [each.item for each in suggest_recall(session)] == [key]


@pytest.mark.parametrize(
    "text",
    [
        "Tell me the cancellation fee of ORD-4711.",
        "Please answer the guest with the cancellation terms from ORD-4711.",
        "Please write the executive summary for the customer of ORD-4711.",
        "Please write the mail according to the conclusions of ORD-4711.",
        "Please book the second leg of the trip according to ORD-4711.",
        "Create the invoice based on ORD-4711.",
        "Please create the invoice with the address from ORD-4711.",
        "Please order the ice cream for the creditors as in ORD-4711.",
    ],
)
def test_a_thing_that_something_is_taken_from_is_neither_made_nor_done_with(text):
    with started() as session:
        returned = "cancellation fee 30 percent; executive summary; conclusions; trip; contract; address"
        key = read(session, "c1", "get_order", {"id": "ORD-4711"}, returned)
        collected(session)
        by_user(session, text)
        assert [each.item for each in suggest_recall(session)] == [key]


@pytest.mark.parametrize(
    "text",
    [
        "Delete the order ORD-4711.",
        "Cancella ORD-4711.",
        "Leg eine Kopie von ORD-4711 an.",
        "Excluir ORD-4711.",
        "ORD-4711 is signed, the fee is paid.",
        "Leave the fee in ORD-4711 alone.",
        "Crea ORD-4711, por favor.",
    ],
)
def test_what_is_made_or_done_with_asks_for_nothing(text):
    with started() as session:
        read(session, "c1", "get_order", {"id": "ORD-4711"}, "cancellation fee 30 percent")
        collected(session)
        by_user(session, text)
        assert suggest_recall(session) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Never mind the carrier; what is the address of ORD-4711?",
        "Forget the old plan, which address did ORD-4711 say?",
        "Ignore ORD-471, who signed ORD-4711?",
        "Never mind the size of ORD-4711; what is the address in ORD-4711?",
        "Forget the rest and tell me the address in ORD-4711.",
        "Did I forget the address of ORD-4711?",
        "Run the same check for ORD-4712, and tell me whether the address is that of ORD-4711.",
        "Please create the invoice for the garden, the address is in ORD-4711.",
    ],
)
def test_what_one_clause_forgets_or_makes_is_no_matter_of_the_others(text):
    assert [each.name for each in Mentions.of(text).named][:1] == ["ORD-4711"]


def test_what_a_script_is_made_from_is_named():
    assert [each.name for each in Mentions.of("Create a new script from the deploy rule in the Makefile.").named] == [
        "Makefile"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Wie hoch ist das Budget?",
        "What is the Budget of a wedding?",
        "Who needs a plan?",
        "Thanks for Budget!",
        "I always use net_north.tf.",
        "Which way does web/net_north.tf go?",
    ],
)
def test_a_word_that_is_also_a_title_and_the_same_name_elsewhere_ask_for_nothing(text):
    with started() as session:
        read(session, "c1", "open_document", {"title": "Budget"}, "rent: 900")
        read(session, "c2", "open_document", {"name": "plan.odt"}, "first: soup")
        read(session, "c3", "read_file", {"path": "infra/net_north.tf"}, 'cidr = "10.44.0.0/16"')
        collected(session)
        by_user(session, text)
        assert suggest_recall(session) == ()


def test_an_agent_needs_no_words_of_the_result_to_need_it():
    with started() as session:
        key = read(session, "c1", "get_ticket", {"id": "BARN-77"}, "Agreed: pay in shells")
        collected(session)
        by_agent(session, "The reply goes out as BARN-77 wants it.")
        assert [each.item for each in suggest_recall(session)] == [key]


# --- words that a message shares with a call and its result -----------------------------------------------------------

REVIEW = ("read_document", {"title": "Q3 Logistics Review (final)"}, "haulage: 412\nstaff: 9 drivers")
COOK = ("search_mail", {"query": "from:Ottoline Gravesend", "max": 3}, "stew for 40, no nuts")
FERRY = ("open_page", {"url": "https://www.ferry-isles.example/timetable/winter"}, "last sailing to Skarrow 18:20")
AUDIT = ("bash", {"command": "npm audit --omit=dev"}, "minimist-lite <1.4.9 high")
CALLS = (REVIEW, COOK, FERRY, AUDIT)


def answers(speak, text, calls=CALLS):
    """The texts that a message brings back in a session with these calls."""
    with started() as session:
        for place, (tool, arguments, returned) in enumerate(calls):
            read(session, f"c{place}", tool, arguments, returned)
        collected(session)
        speak(session, text)
        return [session.recall(each.item) for each in suggest_recall(session)]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("How much did the logistics review put down for haulage?", REVIEW),
        ("How many drivers were there in that review?", REVIEW),
        ("Has Ottoline said anything about nuts?", COOK),
        ("When did Gravesend want to eat?", COOK),
        ("When is the last boat from Skarrow, by the ferry timetable?", FERRY),
        ("Which package was it that the npm audits complained about?", AUDIT),
    ],
)
def test_a_question_that_shares_rare_words_with_a_call_brings_back_its_result(text, call):
    assert answers(by_user, text) == [call[2]]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("For the slide I take the haulage from the logistics review.", REVIEW),
        ("I'm ordering the food as Ottoline wants it.", COOK),
        ("The trip home has to fit the ferry to Skarrow.", FERRY),
        ("I pin the package that npm audit named.", AUDIT),
    ],
)
def test_so_do_an_agents_words_about_its_next_step(text, call):
    assert answers(by_agent, text) == [call[2]]


@pytest.mark.parametrize(
    ("speak", "text"),
    [
        (by_user, "Could you review how birds sleep in winter?"),
        (by_user, "Logistics is a dull word, and so is haulage."),
        (by_user, "Where does ferry-isles-2 go in winter?"),
        (by_user, "Forget the logistics review, what about lunch?"),
        (by_user, "Write a new logistics review, with a blank page for the staff."),
        (by_agent, "I've sent the logistics review to all drivers."),
        (by_agent, "I renamed the logistics review."),
        (by_agent, "I delete the logistics review and its list of drivers."),
    ],
)
def test_words_by_chance_and_what_is_done_with_or_new_bring_nothing_back(speak, text):
    assert answers(speak, text) == []


LAMPS = ("get_order", {"customer": "Wiebke Janssen"}, "order 17: two lamps")


@pytest.mark.parametrize("name", ["Wiebke Janssen", "Janssen", "Mrs Janssen", "Ms. Janssen"])
def test_a_name_with_or_without_its_first_part_means_its_call(name):
    assert answers(by_user, f"What did {name} order?", (*CALLS, LAMPS)) == [LAMPS[2]]


def test_what_was_brought_back_and_is_still_shown_does_not_come_back_again():
    with started(auto_expand=True) as session:
        for place, name in enumerate(("Janssen", "Lindqvist")):
            read(session, f"c{place}", "get_user", {"name": name}, f"phone 5550{place} office Malmo")
        for place in range(20):
            read(session, f"p{place}", "get_user", {"name": f"Person{place}"}, f"phone 77{place} {lines(3)}")
        collected(session)
        for name in ("Janssen", "Lindqvist", "Janssen", "Lindqvist"):
            session.append(user(f"What is the phone of {name}?"))
            session.pre_send()
            session.post_turn(answer("It is known."))
        assert [rendered(session).count(f"phone 5550{place}") for place in range(2)] == [1, 1]


def test_what_a_call_returned_before_another_one_changed_the_same_thing_does_not_come_back():
    changed = ("update_document", {"title": "Q3 Logistics Review (final)"}, "Done.")
    assert answers(by_user, "How much did the logistics review put down for haulage?", (REVIEW, changed)) == []


def test_of_several_calls_about_the_same_thing_the_newest_result_comes_back():
    again = (REVIEW[0], {**REVIEW[1], "page": 1}, "haulage: 500")
    assert answers(by_user, "How much did the logistics review put down for haulage?", (REVIEW, again)) == [again[2]]


def test_a_step_whose_own_call_asks_for_it_brings_nothing_back():
    with started() as session:
        read(session, "c1", *REVIEW)
        collected(session)
        session.append(user("Go on."))
        session.pre_send()
        text = "For the slide I take the haulage from the logistics review."
        session.post_turn(call(("c2", "find_document", {"words": "logistics review haulage"}), text=text))
        session.append(result("c2", "2 documents"))
        assert suggest_recall(session) == ()


# --- what the agent said of a result, deeds and rules ----------------------------------------------------------------

LIFT = ("get_device", {"number": "INV-6604"}, "load limit 272 kg, ward 32", "The ceiling hoist passed its inspection.")
HOIST = "How much does the hoist on ward 32 carry?"
HOST = ("get_host", {"name": "kiosk-hall-02"}, "address 10.60.3.15, image kiosk-2024")


def remarked(session, *cases):
    """Each call with its result, and what the agent said of it."""
    for place, (tool, arguments, returned, said) in enumerate(cases):
        session.append(user(f"Go on with {place}."))
        session.pre_send()
        session.post_turn(call((f"c{place}", tool, arguments)))
        session.append(result(f"c{place}", returned))
        session.pre_send()
        session.post_turn(answer(said))


@pytest.mark.parametrize(
    ("speak", "text"),
    [(by_user, HOIST), (by_agent, "For the order I need the load limit of the ceiling hoist.")],
)
def test_words_that_the_agent_said_right_after_a_result_bring_it_back(speak, text):
    with started() as session:
        remarked(session, LIFT)
        collected(session)
        speak(session, text)
        assert [session.recall(each.item) for each in suggest_recall(session)] == [LIFT[2]]


BALANCE = ("get_account", {"number": 900}, "balance 41 euros", "The account of Janssen has 41 euros.")


def after_remarks(text, *cases):
    """What a user's question brings back after calls with remarks, with the reasons."""
    with started() as session:
        remarked(session, *cases)
        collected(session)
        by_user(session, text)
        return [(session.recall(each.item), each.reason) for each in suggest_recall(session)]


@pytest.mark.parametrize(
    "said",
    [
        "Is that Janssen's?",
        "Nothing about Janssen in here.",
        "That is not Janssen's account.",
        "Kein Wort zu Janssen darin.",
        "Rien sur Janssen ici.",
        "Здесь ничего о Janssen.",
        "ここには Janssen の記載がありません。",
        "Next I search for Janssen.",
        "Now Janssen.",
    ],
)
def test_a_remark_that_asks_denies_or_says_what_comes_next_is_not_about_the_result(said):
    assert after_remarks("What is the balance of Janssen?", (*BALANCE[:3], said)) == []


def test_what_comes_back_for_the_agents_words_says_so():
    told = "what get_account told, of which the agent said Janssen"
    assert after_remarks("What is the balance of Janssen?", BALANCE) == [("balance 41 euros", told)]


def test_but_not_if_a_later_call_changed_the_same_thing():
    with started() as session:
        remarked(session, LIFT, ("update_device", {"number": "INV-6604", "state": "sold"}, "Done.", "That is noted."))
        collected(session)
        by_user(session, HOIST)
        assert LIFT[2] not in [session.recall(each.item) for each in suggest_recall(session)]


def test_a_long_report_after_a_result_is_no_remark_about_it():
    with started() as session:
        remarked(session, (*LIFT[:3], f"{LIFT[3]} {lines(60, 'report')}"))
        collected(session)
        by_user(session, HOIST)
        assert LIFT[2] not in [session.recall(each.item) for each in suggest_recall(session)]


@pytest.mark.parametrize(
    ("speak", "text"),
    [
        (by_agent, "I shelve kiosk-hall-02 in the inventory, then I tell the reception."),
        (by_agent, "Je désactive kiosk-hall-02 dans l'inventaire, puis je préviens l'accueil."),
        (by_agent, "Vou duplicar o kiosk-hall-02 no sistema."),
        (by_agent, "kiosk-hall-02 gets its packages upgraded now."),
        (by_user, "Schließ kiosk-hall-02 bitte mit dem Vermerk, dass die Techniker heute da waren."),
        (by_user, "kiosk-hall-02を今日中に停止してくださいね、よろしく。"),
        (by_user, "When you mention hosts such as kiosk-hall-02, please always add the date you looked at them."),
        (by_user, 'Give kiosk-hall-02 the title "Front kiosk image" for the address book.'),
    ],
)
def test_what_is_done_to_a_thing_and_a_rule_for_the_future_need_nothing_of_it(speak, text):
    assert answers(speak, text, (HOST,)) == []


@pytest.mark.parametrize(
    "text",
    [
        "I put the address of kiosk-hall-02 into the firewall rule.",
        "J'utilise kiosk-hall-02 pour l'essai.",
        "In de regel zet ik het adres van kiosk-hall-02.",
        "kiosk-hall-02 has an address and an image, both go into the list.",
    ],
)
def test_what_is_taken_from_a_thing_or_told_of_it_needs_it(text):
    assert answers(by_agent, text, (HOST,)) == [HOST[2]]


# --- what still holds -------------------------------------------------------------------------------------------------

CART = "def total(items):\n    return round_half_up(sum(items))"
QUESTION = "How does cart.py compute the total?"


def test_what_was_written_since_is_what_is_known():
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        read(session, "c2", "write_file", {"path": "/repo/src/cart.py", "content": "def total(): return 3"}, "written")
        collected(session)
        assert "return 3" in asked(session, QUESTION)
        assert CART not in str(session.pre_send().messages)


@pytest.mark.parametrize(
    ("tool", "arguments", "brought_back"),
    [
        ("bash", {"command": "sed -i s/sum/max/ src/cart.py"}, ""),
        ("bash", {"command": "cd src && rm cart.py"}, ""),
        ("delete_file", {"path": "src/cart.py"}, ""),
        ("edit_file", {"path": "src/cart.py", "old_string": "# a", "new_string": "# b"}, ""),
        ("edit_file", {"path": "src/cart.py", "old_string": "sum", "new_string": "the total of all"}, "of all"),
        ("str_replace_editor", {"command": "str_replace", "path": "cart.py", "new_str": "new total"}, "new total"),
    ],
)
def test_what_was_read_before_an_edit_does_not_come_back(tool, arguments, brought_back):
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        read(session, "c2", tool, arguments, "ok")
        collected(session)
        found = asked(session, QUESTION)
        assert brought_back in found
        assert bool(found) == bool(brought_back)
        assert "round_half_up" not in found


ORDER = "order ORD-1234, status: pending"


@pytest.mark.parametrize(
    "tool",
    ["cancel_order", "resolve", "approve_order", "mark_order_shipped", "archive_order", "complete_order", "refund"],
)
def test_what_a_tool_returned_before_something_was_done_to_the_thing_does_not_come_back(tool):
    with started() as session:
        read(session, "c1", "get_order", {"id": "ORD-1234"}, ORDER)
        read(session, "c2", tool, {"id": "ORD-1234"}, "Done.")
        collected(session)
        assert asked(session, "What is the status of ORD-1234?") == ""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "git checkout origin/main -- src/cart.py"}),
        ("bash", {"command": "python -c \"p='src/cart.py'; s=open(p).read(); open(p,'w').write(s.upper())\""}),
        ("format_code", {"target": "src/cart.py"}),
    ],
)
def test_what_was_read_before_a_call_that_may_have_changed_the_file_does_not_come_back(tool, arguments):
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        read(session, "c2", tool, arguments, "ok")
        collected(session)
        assert asked(session, QUESTION) == ""


@pytest.mark.parametrize(
    ("tool", "get", "patch", "brought_back"),
    [
        ("http_request", {"method": "GET"}, {"method": "PATCH", "body": '{"plan": "pro"}'}, "pro"),
        ("bash", "curl -s {}", "curl -s -X PATCH -d plan=pro {}", ""),
    ],
)
def test_what_a_url_returned_before_it_was_patched_does_not_come_back(tool, get, patch, brought_back):
    url = "https://example.org/v1/users/42"
    first, second = (
        {"command": how.format(url)} if isinstance(how, str) else {"url": url, **how} for how in (get, patch)
    )
    with started() as session:
        read(session, "c1", tool, first, "plan: free")
        read(session, "c2", tool, second, "204")
        collected(session)
        found = asked(session, f"What is the plan of {url} ?")
        assert brought_back in found
        assert bool(found) == bool(brought_back)
        assert "free" not in found


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "grep -n total src/cart.py"}),
        ("bash", {"command": "git log -3 -- src/cart.py"}),
        ("todo", {"text": "look at src/cart.py again"}),
    ],
)
def test_what_only_reads_or_mentions_the_thing_leaves_what_is_known_of_it(tool, arguments):
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        read(session, "c2", tool, arguments, "ok")
        collected(session)
        assert CART in asked(session, QUESTION)


def test_a_script_that_was_read_and_run_brings_back_what_the_run_said():
    with started() as session:
        read(session, "c1", "read_file", {"path": "ops/load_test.sh"}, "wrk -c 8 -d 30")
        read(session, "c2", "bash", {"command": "./ops/load_test.sh"}, "throughput: 48211")
        collected(session)
        assert "48211" in asked(session, "What was the throughput of load_test.sh?")


def test_another_file_of_the_same_name_may_have_been_edited():
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        read(session, "c2", "edit_file", {"path": "web/cart.py", "old_string": "1", "new_string": "2"}, "ok")
        collected(session)
        assert CART in asked(session, "How does src/cart.py compute the total?")


def test_what_was_read_after_an_edit_comes_back_and_the_newest_of_several():
    with started() as session:
        for place in range(3):
            read(session, f"r{place}", "read_file", {"path": "cart.py"}, f"total, version {place}")
            read(session, f"e{place}", "edit_file", {"path": "cart.py", "old_string": "a", "new_string": "b"}, "ok")
        read(session, "r9", "read_file", {"path": "cart.py"}, "total, version 9")
        collected(session)
        found = asked(session, QUESTION)
        assert "version 9" in found
        assert "version 2" not in found


def test_an_edit_that_failed_changed_nothing():
    with started() as session:
        read(session, "c1", "read_file", {"path": "cart.py"}, CART)
        read(session, "c2", "edit_file", {"path": "cart.py", "old_string": "x", "new_string": "y"}, "Error: not found")
        collected(session)
        assert CART in asked(session, QUESTION)


@pytest.mark.parametrize("text", ["Error: ENOENT: no such file or directory", "Permission denied"])
def test_a_call_that_failed_tells_nothing(text):
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, text)
        collected(session)
        assert asked(session, QUESTION) == ""


def test_a_repetition_that_failed_does_not_hide_what_the_call_returned_before():
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        read(session, "c2", "read_file", {"path": "src/cart.py"}, "Error: request timed out")
        collected(session)
        assert CART in asked(session, QUESTION)


def gemini_calls(session, name, *arguments):
    session.pre_send()
    calls = [{"functionCall": {"name": name, "args": each}} for each in arguments]
    session.post_turn({"role": "model", "parts": calls})


def gemini_results(session, name, *texts):
    parts = [{"functionResponse": {"name": name, "response": {"result": text}}} for text in texts]
    return session.append({"role": "user", "parts": parts})


def test_of_parallel_calls_of_one_tool_without_ids_each_leads_to_its_own_result():
    with small(20_000, format="gemini", preserve_recent_turns=0, pressure_percent=0, target_percent=70) as session:
        session.append({"role": "user", "parts": [{"text": "Do it."}]})
        gemini_calls(session, "get_ticket", {"id": "SHOP-71"}, {"id": "SHOP-72"}, {"id": "SHOP-73"})
        keys = gemini_results(session, "get_ticket", "reporter: Ana", "reporter: Bo", "reporter: Cy")
        for place in range(8):
            gemini_calls(session, "read_file", {"path": f"other{place}"})
            gemini_results(session, "read_file", lines(60, f"other{place}"))
        session.collect_now(target_percent=1)
        session.pre_send()
        session.post_turn({"role": "model", "parts": [{"text": "Done."}]})
        for key, ticket in zip(keys, ("SHOP-71", "SHOP-72", "SHOP-73"), strict=True):
            session.append({"role": "user", "parts": [{"text": f"Who is the reporter of {ticket}?"}]})
            assert [each.item for each in suggest_recall(session)] == [key]
            session.pre_send()
            session.post_turn({"role": "model", "parts": [{"text": "Fine."}]})


def test_a_ticket_that_was_updated_is_not_told_as_it_was():
    with started() as session:
        read(session, "c1", "get_ticket", {"id": "SHOP-4711"}, "status: open")
        read(session, "c2", "update_ticket", {"id": "SHOP-4711", "status": "closed"}, "ok")
        collected(session)
        found = asked(session, "What is the status of shop-4711?")
        assert "closed" in found
        assert "open" not in found


@pytest.mark.parametrize(
    "said_later",
    [
        "The status of SHOP-4711 is closed now.",
        "Write a mail to ops about the status of SHOP-4711.",
        "The customer of SHOP-4711 called about its status, she is nice.",
    ],
)
def test_what_a_user_says_of_a_ticket_later_does_not_hide_what_a_tool_returned(said_later):
    with started() as session:
        read(session, "c1", "get_ticket", {"id": "SHOP-4711"}, "status: open")
        collected(session)
        session.append(user(said_later))
        said(session, "Fine.")
        session.append(user("And what is the status of SHOP-4711?"))
        assert [session.recall(each.item) for each in suggest_recall(session)] == ["status: open"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "docs/howto.md", "content": "Run git pull, then git merge main."}),
        ("bash", {"command": "git commit -m 'Undo the git pull from yesterday'"}),
    ],
)
def test_a_command_that_a_later_call_only_mentions_does_not_hide_a_file(tool, arguments):
    with started() as session:
        read(session, "c1", "read_file", {"path": "/srv/src/cart.py"}, CART)
        read(session, "c2", tool, arguments, "ok")
        collected(session)
        assert CART in asked(session, QUESTION)


def test_what_was_taken_back_does_not_come_back():
    with started() as session:
        said(session, "Gladly.")
        session.append(user("Read it."))
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        collected(session)
        session.rewind(1)
        session.append(user("Go on."))
        said(session, "Done.")
        assert asked(session, QUESTION) == ""


def test_what_still_stands_in_the_window_does_not_come_back_and_a_mention_of_it_is_not_the_thing():
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        said(session, "I have read it.")
        assert asked(session, QUESTION) == ""
        collected(session)
        session.append(user("Have a look at cart.py later."))
        said(session, "I will look at cart.py later.")
        assert CART in asked(session, QUESTION)
        assert asked(session, "And what else does cart.py compute?") == ""


def test_a_call_of_the_agents_own_brings_back_no_older_result():
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        collected(session)
        session.append(user("Go on."))
        session.pre_send()
        call_again = call(
            ("d1", "read_file", {"path": "src/cart.py", "offset": 1}), text="I read cart.py's total again."
        )
        session.post_turn(call_again)
        session.append(result("d1", "def total(): ..."))
        assert suggest_recall(session) == ()


# --- what of it -------------------------------------------------------------------------------------------------------


def test_of_a_long_result_the_part_that_the_question_asks_for_comes_back_otherwise_the_beginning():
    rows = "\n".join(f"A-{place},{place % 90}.95,some article" for place in range(1_000, 3_000))
    with started() as session:
        text = f"sku,price,what\nreported,purport\n{rows}\nA-17,19.94,a blue kettle\n{rows}"
        read(session, "c1", "read_file", {"path": "data/prices.csv"}, text)
        collected(session)
        assert "sku,price,what" in asked(session, "Can you show me prices.csv again?")
        assert "A-17,19.94" in asked(session, "Now back to data/prices.csv. How expensive is A-17?")
        assert asked(session, "Is prices.csv right about A-17?") == ""


def test_of_several_results_the_one_with_the_questions_words_comes_back():
    with started() as session:
        read(session, "c1", "read_file", {"path": "cart.py", "offset": 1}, "import decimal")
        read(session, "c2", "read_file", {"path": "cart.py", "offset": 90}, "def total(): ...")
        read(session, "c3", "read_file", {"path": "cart.py", "offset": 300}, "def empty(): ...")
        collected(session)
        assert "def total" in asked(session, QUESTION)
        assert "decimal" in asked(session, "And what of decimal numbers in cart.py?")


def test_what_was_said_about_a_file_comes_back_where_its_text_does_not_have_the_words():
    with started() as session:
        read(session, "c1", "read_file", {"path": "cart.py"}, CART)
        said(session, "We decided with Ingrid that cart.py stays in euros.")
        session.append(user("Good."))
        collected(session)
        found = asked(session, "What did Ingrid want of cart.py?")
        assert "stays in euros" in found
        assert "round_half_up" not in found


def test_a_list_of_files_is_not_the_file():
    with started() as session:
        read(session, "c1", "read_file", {"path": "src/cart.py"}, CART)
        read(session, "c2", "bash", {"command": "ls src"}, "src/cart.py\nsrc/checkout.py")
        collected(session)
        assert CART in asked(session, QUESTION)


def test_each_sentence_of_a_message_is_judged_once(monkeypatch):
    judged = []
    monkeypatch.setattr("gc_core.task.stated_rules.is_plainly_rule", lambda text: bool(judged.append(text)))
    with started() as session:
        collected(session)
        asked(session, f"{', '.join(f'crate {place}' for place in range(90))}, please. The rest is here.")
    assert len(judged) == 2


def test_a_dozen_searches_are_made_at_most(monkeypatch):
    searches, real = [], History.search
    with started() as session:
        for place in range(20):
            read(session, f"c{place}", "read_file", {"path": f"src/file_{place}.py"}, f"value {place}")
        collected(session)
        monkeypatch.setattr(History, "search", lambda *a, **filters: searches.append(a) or real(*a, **filters))
        shared = History.sharing
        monkeypatch.setattr(History, "sharing", lambda *a: searches.append(a) or shared(*a))
        names = " ".join(
            [*(f"file_{place}.py" for place in range(20)), *(f"some_symbol_{place}" for place in range(20))]
        )
        session.append(user(f"Which colour has {names}?"))
        assert len(suggest_recall(session)) <= 3
        assert len(searches) <= 12
