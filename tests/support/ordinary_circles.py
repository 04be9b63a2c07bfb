"""
Circles as ordinary agents walk them: what was read, and has left the window, is asked for again, and nothing new comes.

Before a circle begins, its things are read once, and so much other work follows that they leave a window of 6,000
tokens. Two thirds of the sorts are plain; the others word their calls now so and now otherwise, as models do.
"""

from itertools import cycle

from tests.support.later_talk import (
    NOUNS,
    bash,
    code,
    hits,
    joined,
    log,
    numbered,
    prose,
    python,
    read,
    rows,
    settings,
    shell,
    snapshot,
    sql,
    words,
)
from tests.support.ordinary_work import (
    cluster_step,
    codex_step,
    coding_step,
    desk_step,
    failure,
    findings,
    listing,
    manifest,
    page,
    record,
    source,
    source_step,
    table_step,
    ticket,
    turns,
)

REMARKS = (
    "Let me look at this once more.",
    "I need to see it again before I go on.",
    "To be sure, I check it again.",
    "Let me re-read this carefully.",
    "I should verify what it says exactly.",
    "First, the current state.",
)
BESIDE = {"think", "TodoWrite", "update_plan", "message_user"}
MISSING = "Error: there is no such file or directory"


def is_beside(name, output):
    """Whether a call of a circle is one of the harmless ones between: a thought, a plan, a note, one that fails."""
    return name in BESIDE or output.startswith("Error:")


# How a session comes to a circle, and walks it.


def before(talk, task, things, step, *, apart=0.3):
    """The honest part: each thing once, now and then with other work between, and then much other work."""
    talk.user(task)
    for thing in things:
        talk.run(*made(thing))
        if talk.random.random() < apart:
            step(talk)
    for _ in turns(talk, 40_000, 70_000):
        step(talk)


def made(thing):
    """A call and what it returns; a thing that has several wordings chooses one."""
    return thing() if callable(thing) else thing


def in_turn(_random, things):
    return cycle(things)


def in_any_order(random, things):
    while True:
        yield random.choice(things)


def lap_by_lap(random, things):
    """Each lap in an order of its own."""
    while True:
        yield from random.sample(things, len(things))


def go_round(talk, things, *, order=in_turn, beside=None, every=3):
    """The circle: at least 30 calls, and after each ``every`` of them one that is harmless, if there is one."""
    talk.begin()
    number, often = talk.random.randint(31, 55), talk.random.choice([0.0, 0.3, 0.8])
    for place, thing in zip(range(1, number + 1), order(talk.random, things), strict=False):
        talk.run(*made(thing), text=talk.random.choice(REMARKS) if talk.random.random() < often else None)
        if beside is not None and place % every == 0:
            talk.run(*beside())


# Plain circles.


def the_same_file(talk):
    path = source(talk.random)
    things = [(read(path), numbered(code(talk.random, talk.random.randrange(60, 150))))]
    before(talk, "Make the retries configurable.", things, coding_step)
    go_round(talk, things)


def two_files_by_turns(talk):
    things = [(shell(f"cat {source(talk.random)}"), code(talk.random, 90)) for _ in range(2)]
    before(talk, "Why do the two modules round differently?", things, codex_step)
    go_round(talk, things)


def three_or_four_files_in_one_reply(talk):
    random = talk.random
    things = [(("read_file", {"path": source(random)}), code(random, 70)) for _ in range(random.randrange(3, 5))]
    before(talk, "Move the shared part of these modules into one.", things, codex_step)
    talk.begin()
    for _ in range(random.randint(11, 16)):
        talk.together(things, text=random.choice([None, *REMARKS]))


def five_files_in_turn(talk):
    random = talk.random
    things = []
    for _ in range(5):
        tool = "str_replace_editor", {"command": "view", "path": f"/repo/{source(random)}"}
        things.append((tool, numbered(code(random, random.randrange(50, 110)))))
    before(talk, "The order of the imports makes a cycle: untie it.", things, coding_step)
    go_round(talk, things)


def six_files_in_any_order(talk):
    things = [(read(source(talk.random)), numbered(code(talk.random, 80))) for _ in range(6)]
    before(talk, "Where is the quota of a tenant lost on its way?", things, coding_step)
    go_round(talk, things, order=in_any_order)


def the_same_search(talk):
    one = talk.random.choice(NOUNS)
    tool = "Grep", {"pattern": f"{one}_limit", "output_mode": "content", "-n": True}
    things = [(tool, hits(talk.random, talk.random.randrange(40, 110)))]
    before(talk, f"Rename {one}_limit wherever it is used.", things, coding_step)
    go_round(talk, things)


def the_same_query(talk):
    one, two = words(talk.random)
    query = f"SELECT place, kind, amount FROM {one} LEFT JOIN {two} USING (id) ORDER BY place"  # noqa: S608 - a text
    things = [(sql(query), rows(talk.random, talk.random.randrange(60, 160)))]
    before(talk, f"How much of each {one} is missing?", things, table_step)
    go_round(talk, things)


def a_table_and_its_schema(talk):
    one = talk.random.choice(NOUNS)
    things = [
        (("describe_table", {"table": one}), settings(talk.random, 90)),
        (sql(f"SELECT * FROM {one} ORDER BY id LIMIT 80"), rows(talk.random, 80)),  # noqa: S608 - a text
    ]
    before(talk, f"Write a view that joins {one} with its history.", things, table_step)
    go_round(talk, things)


def a_file_by_ranges(talk):
    random, path = talk.random, source(talk.random)
    number = random.randrange(3, 7)
    lines = code(random, 90 * number).split("\n")
    things = []
    for first in range(0, 90 * number, 90):
        text = numbered(joined(lines[first : first + 90]), first + 1)
        things.append((read(path, offset=first + 1, limit=90), text))
    before(talk, f"Split {path} into modules.", things, coding_step, apart=0)
    go_round(talk, things)


def the_same_ticket(talk):
    number = talk.random.randrange(1_000, 9_999)
    things = [(("get_ticket", {"id": number}), ticket(talk.random, number, 7))]
    before(talk, f"Please answer ticket {number}.", things, desk_step)
    go_round(talk, things)


def a_ticket_its_customer_and_orders(talk):
    random, number = talk.random, talk.random.randrange(1_000, 9_999)
    things = [
        (("get_ticket", {"id": number}), ticket(random, number)),
        (("get_customer", {"ticket": number}), record(random, "customer", number, 60)),
        (("list_orders", {"customer": number, "limit": 70}), rows(random, 70)),
    ]
    before(talk, f"Is the customer of ticket {number} entitled to a refund?", things, desk_step)
    go_round(talk, things, order=random.choice([in_turn, lap_by_lap]))


def the_same_page(talk):
    name = "-".join(words(talk.random))
    url = f"https://{name}.example/reports/2024"
    things = [(("fetch", {"url": url}), page(talk.random, name))]
    if talk.random.random() < 0.5:
        things = [(("browser_navigate", {"url": url}), snapshot(talk.random, 110, name))]
    before(talk, "What do the reports of the last years say about housing?", things, source_step)
    go_round(talk, things)


def the_sources_of_a_report(talk):
    random, names = talk.random, words(talk.random, talk.random.randrange(3, 7))
    things = [(("fetch", {"url": f"https://{one}.example/study"}), page(random, one)) for one in names]
    before(talk, "Compare the studies about rents, with sources.", things, source_step)
    go_round(talk, things, order=lap_by_lap)


def the_log_of_a_job_that_ended(talk):
    name = "-".join(words(talk.random))
    things = [(bash(f"kubectl logs job/{name} --tail=90"), log(talk.random, 90, name))]
    before(talk, f"The job {name} ended with code 3 tonight. Why?", things, cluster_step)
    go_round(talk, things)


def a_test_that_fails_as_before(talk):
    text = failure(talk.random, talk.random.randrange(25, 60))
    command = bash(f"python -m pytest tests/test_{talk.random.choice(NOUNS)}.py -x")

    def run():
        return command, joined([text, f"1 failed in {talk.random.uniform(1, 4):.2f}s"])

    before(talk, "Repair the test that fails on main.", [run], coding_step)
    go_round(talk, [run])


def a_listing_a_file_and_a_missing_one(talk):
    path = source(talk.random)
    things = [
        (shell(f"ls -l {path.rsplit('/', 1)[0]}"), listing(talk.random, 70)),
        (shell(f"cat {path}"), code(talk.random, 90)),
    ]

    def miss():
        name = f"{talk.random.choice(NOUNS)}_{talk.random.choice(NOUNS)}.py"
        return shell(f"cat {path.rsplit('/', 1)[0]}/{name}"), MISSING

    before(talk, "Which of these modules is dead?", things, codex_step)
    go_round(talk, things, beside=miss, every=talk.random.randrange(3, 6))


def what_was_remembered(talk):
    random, keys = talk.random, words(talk.random, talk.random.randrange(1, 4))
    things = [(("recall_memory", {"key": f"{key}/notes"}), prose(random, random.randrange(25, 70))) for key in keys]
    before(talk, "Go on with the migration where you stopped yesterday; your notes are kept.", things, coding_step)
    go_round(talk, things)


def manifests_and_thoughts(talk):
    random, name = talk.random, "-".join(words(talk.random))
    things = [
        (bash(f"kubectl get {kind.lower()} {name} -o yaml"), manifest(random, kind, name))
        for kind in ("Deployment", "ConfigMap", "Ingress")
    ]

    def think():
        thought = f"The {random.choice(NOUNS)} may be wrong, or the {random.choice(NOUNS)}. I have to see them again."
        return ("think", {"thought": thought}), "Your thought has been logged."

    before(talk, f"{name} answers 502 now and then. Find the reason.", things, cluster_step)
    go_round(talk, things, beside=think, every=random.randrange(2, 5))


def a_plan_and_two_files(talk):
    random = talk.random
    things = [(read(source(random)), numbered(code(random, 100))) for _ in range(2)]
    todos = [{"content": f"Port the {one}", "status": "pending"} for one in words(random, 4)]
    todos[0]["status"] = "in_progress"

    def plan():
        return ("TodoWrite", {"todos": todos}), "Todos have been modified successfully."

    before(talk, "Port the two modules to the new client.", things, coding_step)
    go_round(talk, things, beside=plan, every=random.randrange(2, 5))


def a_ticket_with_notes_to_the_user(talk):
    random, number = talk.random, talk.random.randrange(1_000, 9_999)
    things = [
        (("get_ticket", {"id": number}), ticket(random, number)),
        (("get_policy", {"name": "refunds"}), page(random, "Refunds")),
    ]

    def note():
        text = random.choice(["I am still looking into it.", "One moment, please.", "I am checking our policy again."])
        return ("message_user", {"text": text}), "sent"

    before(talk, f"Tell the customer of {number} what we can do.", things, desk_step)
    go_round(talk, things, beside=note, every=random.randrange(2, 5))


# Disguised circles.


def in_many_wordings(random, path, text):
    """Ways in which models read one file."""
    whole = f"/Users/dev/project/{path}"
    end = text.count("\n") + random.randrange(1, 90)
    return random.choice(
        [
            lambda: (bash(f"cat {path}"), text),
            lambda: (bash(f"cat {whole}"), text),
            lambda: (bash(f"sed -n '1,{end}p' {path}"), text),
            lambda: (bash(f"head -n {end} ./{path}"), text),
            lambda: (bash(f"cat -n {path}"), numbered(text)),
            lambda: (bash(f"cd /Users/dev/project && cat {path}"), text),
            lambda: (bash(f'python -c "print(open({path!r}).read())"'), text),
            lambda: (read(whole), numbered(text)),
            lambda: (read(whole, offset=1, limit=end), numbered(text)),
        ]
    )()


def one_file_in_many_wordings(talk):
    random, path = talk.random, source(talk.random)
    text = code(random, random.randrange(60, 140))
    things = [lambda: in_many_wordings(random, path, text)]
    before(talk, "The totals are off by a cent. Find out why.", things, coding_step)
    go_round(talk, things)


def files_in_many_wordings(talk):
    random = talk.random

    def of(path, text):
        return lambda: in_many_wordings(random, path, text)

    things = [of(source(random), code(random, random.randrange(50, 110))) for _ in range(random.randrange(2, 6))]
    before(talk, "These modules log the same thing twice. Which one should not?", things, coding_step)
    go_round(talk, things, order=random.choice([in_turn, lap_by_lap]))


def overlapping_ranges(talk):
    random, path = talk.random, source(talk.random)
    lines = code(random, random.randrange(250, 500)).split("\n")

    def part(first, size):
        text = joined(lines[first : first + size])
        if random.random() < 0.5:
            return read(path, offset=first + 1, limit=size), numbered(text, first + 1)
        return bash(f"sed -n '{first + 1},{first + size}p' {path}"), text

    def some():
        size = random.randrange(60, 120)
        return part(random.randrange(len(lines) - size), size)

    whole = [part(first, 100) for first in range(0, len(lines), 100)]
    before(talk, f"Understand {path} and take the caching out.", whole, coding_step, apart=0)
    go_round(talk, [some])


def the_same_rows_by_other_queries(talk):
    random, (table, kind) = talk.random, words(talk.random)
    lines = [line.split(" | ") for line in rows(random, random.randrange(60, 130)).split("\n")[1:]]

    def query():
        names = dict(enumerate(["id", "place", "kind", "amount"]))
        order = random.sample(list(names), 4)
        alias = random.choice(["", " AS t", " x", " AS s"])
        heads = [f"{names[each]}{random.choice(['', '', f' AS {names[each]}_1'])}" for each in order]
        found = random.choice([lines, lines[::-1]])
        after = "ORDER BY id" if found is lines else "ORDER BY id DESC"
        text = joined([" | ".join(heads), *(" | ".join(line[each] for each in order) for line in found)])
        wording = f"SELECT {', '.join(heads)} FROM {table}{alias} WHERE kind <> '{kind}' {after}"  # noqa: S608 - a text
        return random.choice([sql(wording), bash(f'psql -c "{wording}"'), python(f"print(frame({wording!r}))")]), text

    before(talk, f"Which {table} have no owner?", [query], table_step)
    go_round(talk, [query])


def a_subagent_asked_in_other_words(talk):
    random, (one, two) = talk.random, words(talk.random)
    text = findings(random)

    def task():
        asked = random.choice(
            [
                f"Where in the code is the {one} of a {two} computed? Give files and lines.",
                f"Find all places that compute a {two}'s {one}.",
                f"I need an overview of how {one} is derived for {two} objects; list files with line numbers.",
                f"Search thoroughly: which functions set the {one} on a {two}?",
                f"Look up everything about {two}.{one}, and report back.",
            ]
        )
        about = random.choice([f"Find {one}", f"Explore {two} {one}", "Look through code", f"Trace {one} of {two}"])
        return ("Task", {"description": about, "prompt": asked, "subagent_type": "Explore"}), text

    before(talk, f"The {one} of a {two} is wrong in reports.", [task], coding_step)
    go_round(talk, [task])


def a_search_with_other_flags(talk):
    random, one = talk.random, talk.random.choice(NOUNS)
    found = hits(random, random.randrange(40, 90)).split("\n")

    def search():
        tool = random.choice(
            [
                bash(f"grep -rn '{one}_' src"),
                bash(f"grep -rn --include='*.py' '{one}_' src/"),
                bash(f"rg -n '{one}_' src"),
                bash(f"rg --line-number --no-heading '{one}_' ./src | sort"),
                bash(f"git grep -n '{one}_' -- src"),
                ("Grep", {"pattern": f"{one}_", "path": "src", "output_mode": "content", "-n": True}),
                ("Grep", {"pattern": f"{one}_", "glob": "**/*.py", "output_mode": "content", "head_limit": 200}),
            ]
        )
        return tool, joined(random.choice([found, sorted(found), random.sample(found, len(found))]))

    before(talk, f"Who still calls the old {one} functions?", [search], coding_step)
    go_round(talk, [search])


def a_failing_test_with_other_flags(talk):
    random, one = talk.random, talk.random.choice(NOUNS)
    text = failure(random, 35)

    def run():
        command = random.choice(
            [
                f"pytest tests/test_{one}.py",
                f"pytest -x tests/test_{one}.py 2>&1 | tail -100",
                f"python -m pytest tests/test_{one}.py -vv",
                f"pytest tests/test_{one}.py --tb=long -p no:cacheprovider",
                f"cd /Users/dev/project && pytest -q -k {one}",
                f"make test ONLY=tests/test_{one}.py",
            ]
        )
        about = random.choice(["Run the failing test", "Run tests again", f"Check test_{one}", "See the failure"])
        return bash(command, description=about), joined([text, f"1 failed in {random.uniform(0.5, 3):.2f}s"])

    before(talk, f"tests/test_{one}.py fails since Monday; repair it.", [run], coding_step)
    go_round(talk, [run])


def files_with_other_descriptions(talk):
    random = talk.random

    def of(path, text):
        return lambda: (
            bash(
                f"cat {path}",
                description=f"{random.choice(['Show', 'Read', 'Check', 'Look at', 'View'])} {path.rsplit('/', 1)[1]} "
                f"{random.choice(['again', 'for its ' + random.choice(NOUNS), 'in full', 'to verify the change'])}",
                timeout=random.choice([10_000, 30_000, 60_000]),
            ),
            text,
        )

    things = [of(source(random), code(random, 80)) for _ in range(random.randrange(1, 5))]
    before(talk, "Document what these modules promise.", things, coding_step)
    go_round(talk, things)


def a_page_by_other_addresses(talk):
    random, name = talk.random, "-".join(words(talk.random))
    text = page(random, name)

    def fetch():
        url = random.choice(
            [
                f"https://{name}.example/guide",
                f"https://{name}.example/guide/",
                f"http://www.{name}.example/guide",
                f"https://{name}.example/guide#{random.choice(NOUNS)}",
                f"https://{name}.example/guide?ref={random.choice(NOUNS)}",
            ]
        )
        asked = f"What does the page say about {random.choice(NOUNS)}, {random.choice(NOUNS)} and deadlines?"
        return random.choice([("fetch", {"url": url}), ("fetch", {"url": url, "prompt": asked, "raw": True})]), text

    before(talk, "Summarise the rules for grants.", [fetch], source_step)
    go_round(talk, [fetch])


def an_old_log_with_other_flags(talk):
    random, name = talk.random, "-".join(words(talk.random))
    lines = log(random, 110, name).split("\n")
    config = manifest(random, "ConfigMap", name)

    def logs():
        size = random.randrange(40, 111)
        command = random.choice(
            [
                f"kubectl logs job/{name} --tail={size}",
                f"kubectl -n prod logs job/{name} --tail {size}",
                f"kubectl logs --namespace=prod job/{name} | tail -n {size}",
                f"journalctl --no-pager -u {name} -n {size}",
            ]
        )
        return bash(command), joined(lines[-size:])

    def settled():
        return bash(
            f"kubectl {random.choice(['-n prod ', ''])}get {random.choice(['cm', 'configmap'])} {name} -o yaml"
        ), config

    whole = bash(f"kubectl logs job/{name} --tail=110"), joined(lines)
    before(talk, f"What broke {name} last night?", [whole, settled], cluster_step)
    go_round(talk, [logs, settled])


ORDINARY_CIRCLES = [
    the_same_file,
    the_same_ticket,
    one_file_in_many_wordings,
    two_files_by_turns,
    the_same_query,
    files_in_many_wordings,
    three_or_four_files_in_one_reply,
    the_same_page,
    overlapping_ranges,
    five_files_in_turn,
    the_log_of_a_job_that_ended,
    the_same_rows_by_other_queries,
    six_files_in_any_order,
    a_ticket_its_customer_and_orders,
    a_subagent_asked_in_other_words,
    the_same_search,
    a_table_and_its_schema,
    a_search_with_other_flags,
    a_file_by_ranges,
    the_sources_of_a_report,
    a_failing_test_with_other_flags,
    a_test_that_fails_as_before,
    manifests_and_thoughts,
    files_with_other_descriptions,
    a_listing_a_file_and_a_missing_one,
    a_ticket_with_notes_to_the_user,
    a_page_by_other_addresses,
    what_was_remembered,
    a_plan_and_two_files,
    an_old_log_with_other_flags,
]
