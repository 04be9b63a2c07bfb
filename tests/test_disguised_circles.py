"""The re-read guard on circles in disguise: what comes back decides, and what brings nothing hides nothing."""

import itertools
import json
import random

import attrs
import pytest

from gc_core import GCPolicy, ItemKind
from gc_core.relevance.circles import LAP
from gc_core.relevance.only_reads import only_reads
from gc_core.relevance.parts import MOST_LINES, MOST_LINES_IN_ALL, Parts, Target
from gc_core.relevance.polls import SMALL
from gc_core.relevance.reread_guard import RereadGuard
from gc_core.relevance.tool_calls import ToolCall
from gc_core.values.items import Item

LAPS = 8
RING = 3


def lines(name, number=120):
    return [f"{name} {place}: {place * 7919 % 1000} of what was counted in {name}" for place in range(number)]


def text(name, start=0, number=120):
    return "\n".join(lines(name, start + number)[start:])


def numbered(name, form="{:>6}\t{}"):
    return "\n".join(form.format(place, line) for place, line in enumerate(lines(name), 1))


def first_notice(steps, *, stay=2, tokens=SMALL + 1):
    """
    The place of the first step after which the guard speaks, or None. Of the results the last few ``stay`` in the
    window; a text of several lines has so many ``tokens``, another one has few.
    """
    guard, kept = RereadGuard(), [""] * stay
    for place, (name, arguments, shown) in enumerate(steps):
        size = tokens(shown) if callable(tokens) else tokens if "\n" in shown else 9
        asked = Item(
            id=f"i{2 * place + 1}", kind=ItemKind.TOOL_CALL, source="conversation", policy=GCPolicy.EPHEMERAL,
            tokens=1, original_tokens=1, text=json.dumps(arguments), unit=place, turn=0, step=place, name=name,
        )  # fmt: skip
        came = attrs.evolve(
            asked, id=f"i{2 * place + 2}", kind=ItemKind.TOOL_RESULT, text=shown, call=asked.id, original_tokens=size
        )
        guard.see([asked, came], collected=True)
        kept = [*kept, came.id]
        if guard.look(kept[len(kept) - stay :].__contains__) is not None:
            return place
    return None


def around(*ways, between=None, laps=LAPS):
    """Laps around a ring of texts, each lap by the next way to ask, with a step between if there is one."""
    for lap, member in itertools.product(range(laps), range(RING)):
        name, arguments, shown = ways[lap % len(ways)](f"m{member}", lap)
        yield name, arguments, shown
        if between is not None:
            yield between(lap * RING + member)


def shell(command, shown=text):
    return lambda name, _: ("bash", {"command": command.format(name)}, shown(name))


def tool(name, shown=text, **arguments):
    return lambda member, lap: (
        name,
        {key: value.format(member, lap) if isinstance(value, str) else value for key, value in arguments.items()},
        shown(member),
    )


def ages(name, minutes):
    return "\n".join(["NAME   AGE   NODE", *(f"{line}   {minutes}m   node-1" for line in lines(name))])


def turned(place):
    rows = lines("row")
    return "\n".join(rows[place:] + rows[:place])


NUMBERS = itertools.count(100)
PLAN = ("read_file", {"path": "PLAN.md"}, text("plan"))
REVIEWS = "Review {} for bugs", "Please look at the module {} and report", "Check {}: is it safe?"
AUDITS = "ssh {} cat /etc/ntp.conf", "ssh -q admin@{} sudo cat /etc/ntp.conf", "kubectl exec {} -- cat /etc/ntp.conf"
READ = tool("read_file", path="src/{0}.py")


@pytest.mark.parametrize(
    "ways",
    [
        [tool("code_search", query="where {0} is used, {1}")],
        [tool("web_search", query="{0}", count="{1}")],
        [tool("search_code", searchTerm="{0}, {1}", maxResults="{1}", path="src")],
        [shell("find . -name '{0}*'"), shell("find . -iname {0}.py"), shell("find . -type f -name '*{0}*'")],
        [shell("grep -rn {0} lib"), shell("grep -rn -e {0} lib"), shell("grep -rnE '{0}|x' lib")],
        [tool("get_logs", stream="{0}", start="2031-04-02T08:00Z"), tool("get_logs", stream="{0}", start="8:00")],
        [tool("fetch", url="https://{0}.example/a"), tool("fetch", url="http://{0}.example/a/#top")],
        [tool("run_sql", sql="SELECT * FROM {0}"), tool("run_sql", sql="select *\nfrom {0};")],
        [shell("rg -n -i {0} lib"), shell("rg -in {0} lib"), shell("rg -n --ignore-case {0} lib")],
        [
            tool("execute_sql", query="SELECT id, kind FROM {0} WHERE {0}_sum > 0"),
            tool("execute_sql", query="select t.id, t.kind from {0} as t where t.{0}_sum > 0;"),
            tool("execute_sql", query="SELECT id, kind FROM public.{0} WHERE NOT {0}_sum <= 0"),
        ],
        [
            tool("python", code="print(open('data/{0}.csv').read())"),
            tool("python", code="from pathlib import Path\nprint(Path('data/{0}.csv').read_text())"),
            tool("python", code="import subprocess; print(subprocess.getoutput('cat data/{0}.csv'))"),
        ],
        [
            tool("Task", prompt="Explore how {0} is handled and report", kind="Explore"),
            tool("Task", prompt="Investigate the {0} flow thoroughly", kind="general-purpose"),
            tool("Task", prompt="Locate and explain where {0} is done in here", kind="Explore"),
        ],
        [shell("git show {0}"), shell("git diff {0}~1 {0}"), shell("git log -p -1 {0}")],
        [
            tool("fetch", url="https://{0}.example/a?page=1"),
            tool("fetch", url="http://www.{0}.example/a?page=1&utm_source=mail{1}"),
        ],
        [shell("kubectl get pods -n {0}", lambda name: ages(name, next(NUMBERS)))],
        [shell("ls -la {0}"), shell("ls -l -a {0}/")],
        [shell("git show HEAD~{0}"), shell("git --no-pager show HEAD~{0}"), shell("git show HEAD~{0} | cat")],
        [shell("kubectl get pods -n {0}"), shell("kubectl -n {0} get pods")],
        [shell("tail -n 120 {0}.log"), shell("tail -120 {0}.log"), shell("cat {0}.log | tail -n 120")],
        [
            tool("open_document", document=path)
            for path in ("src/{0}.c", "./src/{0}.c", "/repo/src/{0}.c", "src/../src/{0}.c")
        ],
        [tool("read_file", path=path) for path in ("src/{0}.c", "./src/{0}.c", "/repo/src/../src/{0}.c", "{0}.c")],
        [
            shell("cat src/{0}.py"),
            tool("read_file", numbered, path="src/{0}.py"),
            tool("view", lambda name: f"Lines of {name}:\n{numbered(name, '{:05d}| {}')}", path="/repo/src/{0}.py"),
            shell("sed -n '1,400p' src/{0}.py"),
            shell("cat -n src/{0}.py", numbered),
        ],
        [
            lambda name, lap: ("open", {"target": name, "offset": lap * 3, "limit": 110}, text(name, lap * 3, 110)),
        ],
        [
            lambda name, lap: (
                "run_terminal_cmd",
                {"command_line": f"sed -n '{1 + lap * 4},{110 + lap * 4}p' {name}.txt"},
                text(name, lap * 4, 110),
            ),
        ],
    ],
)
def test_a_text_that_comes_back_is_known_whatever_words_asked_for_it(ways):
    place = first_notice(around(*ways))
    assert place is not None
    assert place < RING + LAP


@pytest.mark.parametrize(
    "ways",
    [
        [shell("psql -h db -c 'SELECT * FROM {0}'"), shell('psql -h db -At -c "SELECT * FROM {0};" | head -n 200')],
        [tool("execute_sql", query="SELECT status FROM {0}"), tool("execute_sql", query="select status from {0} x")],
        [tool("find_customer", id="{0}"), tool("find_customer", email="{0}"), tool("get_profile", of="{0}, please")],
    ],
)
def test_what_a_text_contains_names_its_thing(ways):
    """The first call with a word of its own may ask for another thing; from the second on it asks for the same."""
    place = first_notice(around(*ways))
    assert place is not None
    assert place < 5 * RING


@pytest.mark.parametrize(
    "statement",
    [
        "psql -o out -c 'SELECT 1 FROM m'",
        "psql --output=out -c 'SELECT 1 FROM m'",
        "psql -f m.sql -c 'SELECT 1 FROM m'",
        "psql -L log -c 'SELECT 1 FROM m'",
        "psql -c VACUUM -c 'SELECT 1 FROM m'",
        "psql -c 'SELECT 1; VACUUM'",
        "psql -c 'SELECT 1 \\g out'",
        "sqlite3 -init m.sql a.db 'SELECT 1 FROM m'",
        "psql < m.sql 'SELECT 1 FROM m'",
    ],
)
def test_a_statement_with_anything_beside_it_does_not_surely_read(statement):
    item = Item(
        id="i1", kind=ItemKind.TOOL_CALL, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=1,
        original_tokens=1, text=json.dumps({"command": statement}), unit=0, turn=0, step=0, name="bash",
    )  # fmt: skip
    assert not only_reads(ToolCall.of(item), item.text)


def test_what_a_tool_answers_to_messages_is_news_from_its_second_answer_on():
    """The first may be how it confirms them; a user that answers through a tool says something each time."""
    asked = (("message_user", {"text": "One moment."}, f"sent to {('Ann', 'Bob', 'Cid')[p % 3]}") for p in range(99))
    assert first_notice(around(READ, between=lambda _: next(asked), laps=4)) is not None
    told = (("message_ask_user", {"text": f"Field {p}?"}, f"Answer: {chr(97 + p)}.") for p in range(99))
    assert first_notice(around(READ, between=lambda _: next(told))) is None


@pytest.mark.parametrize(
    "between",
    [
        lambda place: ("think", {"thought": f"Thought {place}"}, "ok"),
        lambda place: ("sequentialthinking", {"thought": f"So {place}"}, json.dumps({"thoughtNumber": place})),
        lambda place: ("update_plan", {"plan": [{"step": f"look {place}", "status": "pending"}]}, "Plan updated"),
        lambda place: ("read_file", {"path": f"no{place}.py"}, f"Error: no such file: no{place}.py"),
        lambda place: ("bash", {"command": f"foo{place}"}, f"bash: foo{place}: command not found"),
        lambda place: ("http_get", {"url": f"/v{place}"}, f"404 Not Found: /v{place}"),
        lambda place: ("frobnicate", {"x": place}, "Unknown tool: frobnicate"),
        lambda place: ("message_notify_user", {"text": f"I look at part {place}."}, "Message sent"),
        lambda place: ("message_user", {"text": "One moment."}, f"sent, the {('first', 'next', 'last')[place % 3]}"),
        lambda place: (
            "update_plan",
            {"plan": f"- look at {place}"},
            f"Plan {('one', 'two', 'three')[place % 3]} kept",
        ),
    ],
)
def test_a_step_that_brings_nothing_hides_no_circle(between):
    place = first_notice(around(READ, between=between))
    assert place is not None
    assert place < 2 * RING + 8


@pytest.mark.parametrize(
    "between",
    [
        lambda place: ("edit", {"path": "a.py", "old_string": f"x{place}", "new_string": "y"}, "ok"),
        lambda place: ("edit", {"path": "a.py", "old_string": f"x{place}", "new_string": "y"}, "Error: not found"),
        lambda place: ("bash", {"command": f"make step{place}"}, "ok"),
        lambda place: ("deploy", {"port": place}, f"Error: port {place} is in use"),
        lambda place: ("grep", {"pattern": f"p{place}"}, "No matches found"),
        lambda place: ("move", {"to": place}, "ok"),
        lambda place: ("message_user", {"user_id": place, "text": "Your parcel is here."}, "Message sent"),
        lambda place: (
            "TodoWrite",
            {"todos": [{"content": f"t{one}", "status": "completed"} for one in range(place + 1)]},
            "Todos have been modified",
        ),
        lambda place: ("update_todo", {"id": place, "status": "done"}, "updated"),
        lambda place: ("write_plan", {"text": "\n".join(f"- [x] part {one}" for one in range(place + 1))}, "saved"),
    ],
)
def test_a_step_that_did_or_ticked_off_something_is_progress(between):
    assert first_notice(around(READ, between=between)) is None


def test_a_small_result_belongs_to_its_call():
    asked = ((f"read_{place}", {"path": f"f{place}"}, text("same")) for place in range(30))
    assert first_notice(asked, tokens=SMALL) is None


@pytest.mark.parametrize(
    "each",
    [
        lambda place: [("read_file", {"path": f"pkg{place}/LICENSE"}, text("licence"))],
        lambda place: [("read_file", {"path": f"pkg{place}/f{one}"}, text(f"f{one}")) for one in range(3)],
        lambda place: [("read_file", {"path": f"pkg{place}/package.json"}, f"{text('same')}\nname: {place}")],
        lambda place: [("bash", {"command": f"git show v{place}:a.py"}, f"{text('old')}\nversion {place}")],
        lambda place: [("bash", {"command": "make lint", "cwd": f"services/{place}"}, text("clean"))],
        lambda place: [("fetch", {"url": f"https://{place}.example"}, text("please log in"))],
        lambda place: [("fetch", {"url": f"https://{place}.example"}, f"{text('menu')}\naddress {place}")],
        lambda place: [("describe_host", {"host": f"web-{place}"}, text(f"profile {place % 3}"))],
        lambda place: [("get_schema", {"table": f"t{place}", "limit": place}, text(f"kind {place % 4}"))],
        lambda place: [("bash", {"command": f"kubectl get deploy shop-{place} -o yaml"}, text(f"{place % 3}"))],
        lambda place: [PLAN, ("list_indexes", {"db": f"shard{place}"}, text("indexes"))],
        lambda place: [("bash", {"command": f"rg -n -m {place} x"}, f"{text('same')}\nfound {place}")],
        lambda place: [("crm_query", {"filter": f"age > {place}"}, f"{text('same')}\ncount {place * 7919 % 1009}")],
        lambda place: [("list_jobs", {}, text("jobs", place))],
        lambda place: [("bash", {"command": f"psql -c 'VACUUM t{place}'"}, text("left"))],
        lambda place: [("bash", {"command": "kubectl top pods"}, ages("top", 100 + place).replace("AGE", "CPU"))],
        lambda place: [("list_orders", {"sort_by": f"column {place}"}, turned(place))],
        lambda place: [("bash", {"command": f"kubectl get pods -n {place}"}, text("pods", 4 * place, 4) * 9)],
        lambda place: [PLAN, ("find_user_settings", {"user": place}, text("settings"))],
        lambda place: [PLAN, ("bash", {"command": f"grep -rh timeout services/s{place}/"}, text("timeouts"))],
        lambda place: [PLAN, ("bash", {"command": f"cd services/s{place} && rg -n -A 2 timeout ."}, text("timeouts"))],
        lambda place: [PLAN, ("bash", {"command": "rg -e timeout", "cwd": f"services/s{place}"}, text("timeouts"))],
        lambda place: [PLAN, ("bash", {"command": f"find services/s{place} -name '*.yaml'"}, text("files"))],
        lambda place: [PLAN, ("bash", {"command": f"git grep -h -e timeout v{place}"}, text("timeouts"))],
        lambda place: [PLAN, ("grep", {"pattern": "timeout", "path": f"services/s{place}"}, text("timeouts"))],
        lambda place: [PLAN, ("search_flights", {"date": f"2031-04-{place + 1:02}", "to": "LIS"}, text("flights"))],
        lambda place: [PLAN, ("bash", {"command": f"./deploy.sh {place}"}, text("deployed"))],
        lambda place: [PLAN, ("deploy", {"host": f"h{place}", "app": "a", "region": f"r{place % 3}"}, text("done"))],
        lambda place: [PLAN, ("bash", {"command": f"tox -e py{place % 5} -- tests/{place // 5}"}, text("passed"))],
        lambda place: [PLAN, ("Task", {"prompt": REVIEWS[place % 3].format(f"m{place}.py")}, text("no findings"))],
        lambda place: [PLAN, ("bash", {"command": AUDITS[place % 3].format(f"web-{place}")}, text("ntp"))],
        lambda place: [PLAN, ("python", {"code": f"figure = draw(df, width={place}); print(df)"}, text("df"))],
    ],
)
def test_things_that_read_alike_are_no_circle(each):
    assert first_notice(step for place in range(30) for step in each(place)) is None


@pytest.mark.parametrize(
    "command", [lambda _: "cat a.log", lambda _: "tail -n 100 a.log", lambda place: f"{('cat', 'nl')[place % 2]} a.log"]
)
def test_a_log_that_grows_is_news(command):
    asked = (("bash", {"command": command(place)}, text("log", 0, 100 + place)) for place in range(40))
    assert first_notice(asked) is None


def test_a_log_that_is_read_in_pages_that_overlap_is_news():
    asked = (
        ("read_file", {"path": "a.log", "offset": at, "limit": 100}, text("log", at, 100)) for at in range(0, 400, 10)
    )
    assert first_notice(asked) is None


@pytest.mark.parametrize(
    "call", [("read_file", {"path": "queue.txt"}), ("execute_sql", {"query": "SELECT * FROM q ORDER BY score"})]
)
def test_the_same_lines_in_another_order_are_news_unless_they_were_searched(call):
    rows = [f"a row of the queue, number {place * 7919 % 1009}" for place in range(300)]
    turned = ["\n".join(rows[place:] + rows[:place]) for place in range(30)]
    assert first_notice((*call, shown) for shown in turned) is None
    assert first_notice(("bash", {"command": "rg -n row src"}, shown) for shown in turned) is not None


def test_a_text_that_has_not_left_the_window_is_sought_by_no_call():
    asked = [("search", {"query": f"query {place}"}, text("hits")) for place in range(30)]
    assert first_notice(asked, stay=30) is None
    assert first_notice(asked, stay=2) is not None  # the first copy has left


def pieces(lines_each, most=900, name="a"):
    """A file in pieces, one after the other."""
    return [
        (
            "read_file",
            {"path": f"{name}.py", "offset": at, "limit": lines_each},
            text(name, at, min(lines_each, most - at)),
        )
        for at in range(0, most, lines_each)
    ]


def test_a_file_that_is_cut_elsewhere_in_each_lap_is_the_same():
    laps = [step for lines_each in (180, 170, 200, 165, 190) for step in pieces(lines_each, 881)]
    assert first_notice(laps[:11]) is None
    place = first_notice(laps)
    assert place is not None
    assert place <= 11 + 6


def test_a_file_that_is_read_once_more_in_other_pieces_is_no_circle():
    assert first_notice([*pieces(180), *pieces(60)]) is None


def test_the_short_rest_of_a_file_is_no_news():
    small = {str(lines_each): pieces(lines_each, 604) for lines_each in (200, 150, 120, 100)}
    sizes = (SMALL + 1, 40)
    laps = [step for lap in small.values() for step in lap]
    assert first_notice(laps, tokens=lambda shown: sizes[shown.count("\n") < 10]) is not None


def test_a_file_whose_lines_recur_is_new_in_each_of_its_parts():
    states = [
        f"state {place * place % 31} of a pump is {('ok', 'late', 'gone')[place % 7 % 3]}" for place in range(4_000)
    ]
    parts = []
    for at in range(0, 4_000, 100):
        lines_of_it = random.Random(at).sample(states, 100)  # noqa: S311 - the same for a seed
        parts.append(("read_file", {"path": "a.txt", "offset": at, "limit": 100}, "\n".join(lines_of_it)))
    assert first_notice(parts) is None


@pytest.mark.parametrize(("others", "is_known"), [(1, True), (MOST_LINES_IN_ALL // MOST_LINES + 1, False)])
def test_lines_of_the_files_read_longest_ago_are_forgotten(others, is_known):
    parts = Parts()
    parts.read(b"a", Target(file="a.py"), text("a", 0, 100), is_other_call=True)
    for place in range(others):
        other = text(f"b{place}", 0, MOST_LINES + 1)
        parts.read(str(place).encode(), Target(file=f"b{place}.py"), other, is_other_call=True)
    part = parts.read(b"c", Target(file="a.py"), text("a", 5, 90), is_other_call=True)
    assert bool(part.covers) is is_known


def test_pieces_of_a_file_that_was_read_whole_are_no_circle():
    whole = [("read_file", {"path": "a.py"}, text("a", 0, 1_200))]
    pieces = [
        ("read_file", {"path": "a.py", "offset": at, "limit": 100}, text("a", at, 100)) for at in range(0, 900, 90)
    ]
    assert first_notice([*whole, *pieces], stay=0) is None


@pytest.mark.parametrize(
    ("name", "arguments", "only"),
    [
        ("bash", {"command": ["bash", "-lc", "sed -n 1,5p a.py"]}, True),
        ("run_sql", {"sql": "select 1"}, True),
        ("bash", {"command": "cat a.py"}, True),
        ("bash", {"command": ""}, False),
        ("pay", {"input": ""}, False),
        ("bash", {"command": "curl -sXPOST https://shop.example"}, False),
        ("bash", {"command": "curl --json '{}' https://shop.example"}, False),
        ("bash", {"command": "sort -o a.txt a.txt"}, False),
        ("bash", {"command": "cat a.py", "script": "rm -rf b"}, False),
        ("send_message", {"query": "show up at 5"}, False),
        ("gmail__delete__list", {"id": 5}, False),
        ("crm__reset__history", {"id": 5}, False),
        ("mcp__crm__delete__list", {"id": 5}, False),
        ("mcp__reset__get_user", {"id": 5}, True),
        ("mcp__delete__mail__list", {"id": 5}, True),
        ("reset__get_user", {"id": 5}, True),
    ],
)
def test_only_what_surely_changes_nothing_reads(name, arguments, only):
    asked = Item(
        id="i1", kind=ItemKind.TOOL_CALL, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=1,
        original_tokens=1, text=json.dumps(arguments), unit=0, turn=0, step=0, name=name,
    )  # fmt: skip
    assert only_reads(ToolCall.of(asked), asked.text) is only


def test_thoughts_alone_are_no_circle():
    assert first_notice(("think", {"thought": f"Thought {place}"}, "ok") for place in range(50)) is None
