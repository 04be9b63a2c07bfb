"""Thirty sorts of circles: agents that only ask again for what they had already got, and do nothing with it."""

import itertools
import json

from tests.support import fourth_texts as texts
from tests.support.fourth_texts import (
    ACTIONS,
    CITIES,
    PARTS,
    SUBJECTS,
    Project,
    ask,
    dumped,
    key,
    kit_of,
    lines_of,
    person,
)

REMARKS = (
    "Let me look at {about} again.",
    "I need {about} once more.",
    "Before I go on I check {about}.",
    "I no longer have {about} in front of me, so I fetch it again.",
    "Going back to {about}.",
    "To be sure, {about} again.",
    "First {about}, then the change.",
    "Let me refresh my memory of {about}.",
    "I should be certain about {about} before I answer.",
    "Now I read {about} carefully.",
    "Plan: read {about}, decide what to do, do it, and verify it.",
    "The next step needs {about}.",
)
OPENINGS = "First I get an overview.", "I start with what is there.", "Let me see what this is about."
THOUGHTS = (
    "I have to understand {about} before I can continue.",
    "The answer must be in {about}. I will read it and then act.",
    "So far the plan holds: {about} first, everything else afterwards.",
    "I want to be careful. Looking at {about} is the safe next step.",
    "What is missing is a clear view of {about}.",
)
NOTES = (
    "Work goes on.",
    "Still working on it; reading {about}.",
    "In progress: {about}.",
    "Continuing with the task, next is {about}.",
    "No result yet, the work continues.",
)
RETENTION = (
    "{about} retention",
    "keep {about} how long",
    "{about} maximum age",
    "when is a {about} deleted",
    "storage time of a {about}",
    "{about} keeping rules",
    "deadline {about} removal",
    "{about} lifetime",
    "rules for old {about}s",
    "{about} expiry policy",
)


def pick(random, wordings, about):
    return random.choice(wordings).format(about=about)


def learn(talk, steps):
    """What the circle will ask for is read for the first time."""
    for tool, output in steps:
        text = talk.random.choice(OPENINGS) if talk.random.random() < 0.2 else None
        talk.run(tool, output() if callable(output) else output, text=text)


def other_work(talk, steps):
    """So much other work that what was read before it leaves the window."""
    left = talk.random.randrange(34_000, 46_000)
    while left > 0:
        pairs = steps()
        for tool, output in pairs:
            talk.run(tool, output)
            left -= len(output)
    if talk.random.random() < 0.3:
        talk.tell(talk.random.choice(["That part is done, on to the next.", "This is finished. Next step."]))
        talk.user(talk.random.choice(["Good, go on.", "Fine. Please do the rest as well.", "OK, continue."]))


def go_round(talk, ring, about, extras=(), width=1):
    """Ask for the ring's steps again and again; a step may be made anew from its place."""
    random = talk.random
    remark = _remarks(random, about)
    calls = random.randint(31, 46)
    by_chance = not callable(ring) and width == 1 and len(ring) > 2 and random.random() < 0.25
    place = 0
    talk.begin()
    while place < calls:
        batch = []
        for _ in range(width):
            step = ring(place) if callable(ring) else ring[_next(random, place, len(ring), by_chance)]
            tool, output = step
            batch.append((tool, output() if callable(output) else output))
            place += 1
        talk.together(batch, text=remark())
        if extras and random.random() < 0.4:
            talk.run(*random.choice(extras)())


def _next(random, place, size, by_chance):
    return random.randrange(size) if by_chance else place % size


def _remarks(random, about):
    """How this agent talks: never, always the same, at times, or always in other words."""
    share = random.choice([0.0, 0.0, 0.3, 1.0])
    always = random.choice(REMARKS) if random.random() < 0.3 else None

    def remark():
        if random.random() >= share:
            return None
        return (always or random.choice(REMARKS)).format(about=about)

    return remark


# What happens between two calls of a circle


def thought(random, about):
    return lambda: (("think", {"thought": pick(random, THOUGHTS, about)}), "Your thought has been logged.")


def note(random, about):
    return lambda: (("add_note", {"text": pick(random, NOTES, about)}), '{"ok": true}')


def plan(random, kit, about):
    ends = ["Make the change", "Run the tests", "Write the summary", "Answer the user", "Check the result"]
    return lambda: kit.plan([f"Look at {about}", *random.sample(ends, random.randint(2, 4))])


def missing(kit, project):
    """A file that does not exist."""

    def call():
        path = project.path()
        return kit.look(path), kit.missing(path)

    return call


# Other work


def coding(talk, kit, project, edits=True):
    random = talk.random

    def read():
        path, text = project.file()
        return [(kit.look(path), kit.shown(path, text))]

    def search():
        return [
            (kit.run(f"grep -rn '{random.choice(PARTS)}_id' src"), texts.found_lines(random, random.randint(25, 60)))
        ]

    def history():
        return [(kit.run(f"git log --oneline -n 30 {project.path()}"), texts.commit_list(random, 30))]

    def change():
        path, text = project.file(50, 90)
        old, new, _ = texts.line_changed(random, text)
        size = random.randint(12, 40)
        report = texts.ended(random, texts.report_of_tests(random, size, failed=0), 0, size)
        tested = kit.run(f"pytest -v tests/test_{random.choice(PARTS)}.py"), report
        return [(kit.look(path), kit.shown(path, text)), (kit.change(path, old, new), "The file was updated."), tested]

    kinds = [read, read, search, history, *([change, change] if edits else [])]

    def step():
        return random.choice(kinds)()

    return step


def service(talk):
    random = talk.random

    def ticket():
        number = f"T-{random.randrange(10_000, 99_999)}"
        record = texts.issue_record(random, number, random.randint(5, 12))
        order = texts.order_record(random, random.randrange(10**7), random.randint(4, 12))
        reply = {"ticket": number, "text": texts.sentences(random, 2)}
        return [
            (("get_ticket", {"ticket": number}), dumped(record)),
            (("get_order", {"order_id": order["order_id"]}), dumped(order)),
            (("reply_to_ticket", reply), dumped({"sent": True, "ticket": number})),
        ]

    return ticket


def queries(talk):
    random = talk.random

    def query():
        table = f"{random.choice(ACTIONS)}_{random.choice(PARTS)}s_{random.randrange(99)}"
        records = texts.people_records(random, random.randint(30, 80))
        return [(("execute_sql", {"query": texts.select("*", table, "LIMIT 80")}), texts.psql_table(records))]

    return query


def browsing(talk):
    random = talk.random

    def page():
        subject = random.choice(SUBJECTS)
        address = f"https://{random.choice(PARTS)}.example.net/{random.choice(ACTIONS)}-{random.randrange(9_999)}"
        make = random.choice([texts.web_page, texts.html_page])
        return [(("fetch", {"url": address}), make(random, random.randint(50, 110), subject))]

    return page


def machines(talk, kit):
    random = talk.random

    def look():
        name = f"{random.choice(PARTS)}-{key(random, 5)}"
        commands = [
            (f"kubectl -n batch logs {name} --tail=90", texts.service_log(random, 90, name)),
            (f"journalctl -u {name} -n 60", texts.service_log(random, 60, name)),
            (f"kubectl -n batch get deploy {name} -o yaml", texts.manifest(random, name, 90)),
            (f"ssh ops@{name} cat /etc/{name}.conf", texts.settings_file(random, 80)),
        ]
        command, output = random.choice(commands)
        return [(kit.run(command), output)]

    return look


def desk(talk):
    random = talk.random

    def work():
        mail = f"m-{key(random, 10)}"
        document = f"doc-{key(random, 6)}"
        return random.choice(
            [
                [(("read_mail", {"id": mail}), texts.mail_text(random, random.randint(20, 60)))],
                [(("get_document", {"id": document}), texts.rule_book(random, random.randint(40, 90), document))],
                [(("list_mails", {"query": mail}), dumped([texts.mail_record(random) for _ in range(12)]))],
            ]
        )

    return work


# Plain circles: the same call, or a small ring of calls


def one_file_read_over_and_over(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    path, text = project.file(60, 160)
    ask(talk, f"{random.choice(ACTIONS).title()} must be called once only in {path}. Please find out why it is not.")
    step = kit.look(path), kit.shown(path, text)
    learn(talk, [step])
    other_work(talk, coding(talk, kit, project))
    go_round(talk, [step], path.rsplit("/", 1)[1])


def ring_of_source_files(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    files = [project.file(60, 140) for _ in range(random.randint(2, 5))]
    ask(talk, f"Move the {random.choice(PARTS)} out of these {len(files)} modules into one of its own.")
    ring = [(kit.look(path), kit.shown(path, text)) for path, text in files]
    learn(talk, ring)
    other_work(talk, coding(talk, kit, project))
    go_round(talk, ring, random.choice(["the modules", "the code concerned", "the files"]))


def whole_ring_in_one_reply(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    files = [project.file(40, 90) for _ in range(random.randint(2, 4))]
    ask(talk, "Make the error handling of these files alike.")
    ring = [(kit.look(path), kit.shown(path, text)) for path, text in files]
    talk.together(ring)
    other_work(talk, coding(talk, kit, project))
    go_round(talk, ring, "all of these files", width=len(ring))


def search_and_its_file_by_turns(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    path, text = project.file(60, 120)
    wanted = f"{random.choice(ACTIONS)}_{random.choice(PARTS)}"
    ask(talk, f"Who calls {wanted}, and can it go?")
    search = kit.run(f"grep -rn '{wanted}' src tests"), texts.found_lines(random, random.randint(40, 90))
    ring = [search, (kit.look(path), kit.shown(path, text))]
    learn(talk, ring)
    other_work(talk, coding(talk, kit, project))
    go_round(talk, ring, f"the callers of {wanted}", [missing(kit, project)] if random.random() < 0.4 else ())


def tests_run_without_a_change(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random, "py")
    size, failed = random.randint(55, 110), random.randint(1, 3)
    report = texts.report_of_tests(random, size, failed)
    path, text = project.file(60, 90)
    ask(talk, "The nightly run is red. Find out why.")
    run = kit.run(f"pytest -v tests/test_{random.choice(PARTS)}.py")
    ring = [(run, lambda: texts.ended(random, report, failed, size - failed))]
    if random.random() < 0.5:
        ring.append((kit.look(path), kit.shown(path, text)))
    learn(talk, ring)
    other_work(talk, coding(talk, kit, project, edits=False))
    go_round(talk, ring, "the failing tests")


def diff_and_status_by_turns(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    paths = [project.path() for _ in range(random.randint(20, 40))]
    status = lines_of(
        ["On branch main", "Changes not staged for commit:", *(f"\tmodified:   {path}" for path in paths)]
    )
    diff = texts.diff_text(random, paths[0], random.randint(70, 150))
    ask(talk, "Write a commit message for what is in the working tree.")
    ring = [(kit.run("git status"), status), (kit.run(f"git diff {paths[0]}"), diff)]
    learn(talk, ring)
    other_work(talk, coding(talk, kit, project, edits=False))
    go_round(talk, ring, "the changes", [plan(random, kit, "the changes")] if random.random() < 0.5 else ())


def small_settings_with_failing_calls(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    files = [(project.path("ini"), texts.settings_file(random, random.randint(20, 40))) for _ in range(2)]
    ask(talk, f"Which {random.choice(PARTS)} does staging use?")
    ring = [(kit.look(path), kit.shown(path, text)) for path, text in files[: random.randint(1, 2)]]
    learn(talk, ring)
    other_work(talk, coding(talk, kit, project))
    go_round(talk, ring, "the settings", [missing(kit, project)])


def thoughts_between_two_files(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    about = f"the {random.choice(PARTS)}"
    ring = [(kit.look(path), kit.shown(path, text)) for path, text in (project.file() for _ in range(2))]
    ask(talk, f"Let {about} work without the {random.choice(PARTS)}.")
    learn(talk, ring)
    other_work(talk, coding(talk, kit, project))
    go_round(talk, ring, about, [thought(random, about), plan(random, kit, about)])


def customer_order_policy_by_turns(talk):
    random = talk.random
    customer = texts.customer_record(random, random.randrange(10**6), random.randint(12, 24))
    order = texts.order_record(random, random.randrange(10**7), random.randint(9, 18))
    policy = texts.rule_book(random, random.randint(60, 110), "Returns and refunds")
    ask(
        talk,
        f"Customer {customer['customer_id']} wants the money for order {order['order_id']} back. May they have it?",
    )
    ring = [
        (("get_customer", {"customer_id": customer["customer_id"]}), dumped(customer)),
        (("get_order", {"order_id": order["order_id"]}), dumped(order)),
        (("get_policy", {"name": "returns"}), policy),
    ]
    learn(talk, ring)
    other_work(talk, service(talk))
    go_round(talk, ring, "the customer's case")


def ticket_read_again_with_notes(talk):
    random = talk.random
    number = f"CASE-{random.randrange(1_000, 9_999)}"
    about = random.choice([number, "the ticket", "the whole conversation"])
    record = dumped(texts.issue_record(random, number, random.randint(11, 24)))
    ask(talk, f"Please answer {number}.")
    ring = [(("zendesk_get_ticket", {"id": number, "include": "comments"}), record)]
    learn(talk, ring)
    other_work(talk, service(talk))
    go_round(talk, ring, about, [note(random, about)])


def same_two_queries(talk):
    random = talk.random
    tables = [f"{random.choice(ACTIONS)}_{random.choice(PARTS)}s" for _ in range(random.randint(1, 3))]
    ask(talk, f"Why do the sums of {' and '.join(tables)} differ from the report?")
    ring = []
    for table in tables:
        records = texts.people_records(random, random.randint(60, 110))
        query = texts.select("id, name, city, status, balance, created", table, "WHERE balance <> 0 ORDER BY id")
        ring.append((("execute_sql", {"query": query}), texts.psql_table(records)))
    learn(talk, ring)
    other_work(talk, queries(talk))
    go_round(talk, ring, "the rows")


def table_schemas_with_restated_plan(talk):
    random = talk.random
    kit = kit_of(random)
    ring = []
    for _ in range(random.randint(2, 4)):
        table = f"{random.choice(PARTS)}_{random.choice(ACTIONS)}"
        kinds = ["bigint", "text", "numeric(12,2)", "timestamptz", "jsonb", "boolean"]
        columns = [
            {
                "column": f"{random.choice(ACTIONS)}_{random.choice(PARTS)}",
                "type": random.choice(kinds),
                "default": "NULL",
            }
            for _ in range(random.randint(22, 40))
        ]
        ring.append((("describe_table", {"table": table}), texts.psql_table(columns)))
    ask(talk, "Write a query that joins these tables and shows what each city owes.")
    learn(talk, ring)
    other_work(talk, queries(talk))
    go_round(talk, ring, "the schemas", [plan(random, kit, "the schemas")])


def ring_of_pages(talk):
    random = talk.random
    subject = random.choice(SUBJECTS)
    name = random.choice(["fetch", "WebFetch", "web_fetch"])
    ask(talk, f"What do the towns say about {subject}? A page of text, with sources.")
    ring = []
    for _ in range(random.randint(2, 4)):
        address = (
            f"https://{random.choice(CITIES).lower()}.example.org/{subject.replace(' ', '-')}/{random.randrange(999)}"
        )
        ring.append(((name, {"url": address}), texts.web_page(random, random.randint(60, 120), subject)))
    learn(talk, ring)
    other_work(talk, browsing(talk))
    go_round(talk, ring, f"the sources on {subject}")


def two_tabs_of_a_browser(talk):
    random = talk.random
    titles = [f"{random.choice(PARTS).title()} of {city}" for city in random.sample(CITIES, 2)]
    trees = [texts.page_tree(random, random.randint(60, 130), title) for title in titles]
    ask(talk, f"Enter what is in '{titles[0]}' into the form '{titles[1]}'.")
    ring = [
        (("browser_tabs", {"action": "select", "index": place}), f"### Open tab\n{tree}")
        for place, tree in enumerate(trees)
    ]
    learn(talk, ring)
    other_work(talk, browsing(talk))
    go_round(talk, ring, "the other tab", [thought(random, "the form")] if random.random() < 0.3 else ())


def logs_of_a_dead_job(talk):
    random = talk.random
    kit = kit_of(random)
    names = texts.pod_names(random, random.randint(30, 70))
    table = texts.pod_table(random, names)
    log = texts.service_log(random, random.randint(70, 140), names[0].split("-")[0])
    ask(talk, f"{names[0]} has died in the night. What happened?")
    minutes = iter(range(500, 900))
    ring = [
        (kit.run("kubectl -n jobs get pods -o wide"), lambda: texts.aged(table, next(minutes))),
        (kit.run(f"kubectl -n jobs logs {names[0]} --previous"), log),
    ]
    learn(talk, ring)
    other_work(talk, machines(talk, kit))
    go_round(talk, ring, "the dead pod")


def settings_of_hosts_over_ssh(talk):
    random = talk.random
    kit = kit_of(random)
    service_name = random.choice(PARTS)
    hosts = [f"{city.lower()}-{random.randrange(1, 9)}" for city in random.sample(CITIES, random.randint(2, 4))]
    ask(talk, f"The {service_name} behaves differently on {', '.join(hosts)}. Why?")
    ring = [
        (kit.run(f"ssh {host} cat /etc/{service_name}/main.conf"), texts.settings_file(random, random.randint(60, 120)))
        for host in hosts
    ]
    learn(talk, ring)
    other_work(talk, machines(talk, kit))
    go_round(talk, ring, "the hosts", width=random.choice([1, 1, len(ring)]))


def calendar_and_mails_by_turns(talk):
    random = talk.random
    events = dumped([texts.event_record(random) for _ in range(random.randint(8, 16))])
    mails = dumped([texts.mail_record(random) for _ in range(random.randint(9, 18))])
    ask(talk, f"Find an hour with {person(random)} next week, and tell them.")
    ring = [
        (("list_events", {"calendar": "primary", "max_results": 50}), events),
        (("search_mails", {"query": f"from:{random.choice(CITIES).lower()} newer_than:14d"}), mails),
    ]
    learn(talk, ring)
    other_work(talk, desk(talk))
    extras = [note(random, "the calendar"), thought(random, "the calendar")]
    go_round(talk, ring, "the calendar", extras if random.random() < 0.4 else ())


def report_of_a_subagent_fetched_again(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    ask(talk, "Let subagents look for dead code, and tell me what they found.")
    ring = []
    for _ in range(random.randint(1, 3)):
        found = [f"- {project.path()}: {texts.sentence(random)}" for _ in range(random.randint(60, 90))]
        task = f"task_{key(random, 8)}"
        report = lines_of(["<status>completed</status>", *found])
        ring.append((("TaskOutput", {"task_id": task, "block": True}), report))
    learn(talk, ring)
    other_work(talk, coding(talk, kit, project, edits=False))
    go_round(talk, ring, "what the subagent reported")


def memory_asked_the_same(talk):
    random = talk.random
    query = f"{random.choice(PARTS)} {random.choice(ACTIONS)} {random.choice(CITIES)}"
    hits = dumped(texts.memory_records(random, random.randint(5, 24)))
    ask(talk, f"What did we agree on about the {query.split(maxsplit=1)[0]}?")
    name = random.choice(["memory_search", "mem0_search", "recall"])
    ring = [((name, {"query": query, "limit": 30}), hits)]
    learn(talk, ring)
    other_work(talk, desk(talk))
    go_round(talk, ring, "what I remember", [thought(random, query)] if random.random() < 0.3 else ())


def issue_and_its_wiki_page(talk):
    random = talk.random
    number = f"{random.choice(PARTS)[:4].upper()}-{random.randrange(10, 4_000)}"
    issue = dumped(texts.issue_record(random, number, random.randint(10, 20)))
    page = texts.rule_book(random, random.randint(60, 110), f"How we {random.choice(ACTIONS)}")
    ask(talk, f"Estimate {number} the way our wiki says.")
    ring = [
        (("mcp__jira__get_issue", {"issue_key": number}), issue),
        (("mcp__confluence__get_page", {"page_id": random.randrange(10**6), "format": "markdown"}), page),
    ]
    learn(talk, ring)
    other_work(talk, desk(talk))
    go_round(talk, ring, f"{number} and the wiki", width=random.choice([1, 1, 2]))


# Circles in other words, by other tools, other ranges, other flags


def parts_of_a_file_read_before(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    path, text = project.path(), project.source(random.randint(120, 160))
    made = text.split("\n")
    ask(talk, f"There is an off-by-one somewhere in {path}.")
    learn(talk, [(("Read", {"file_path": path}), texts.numbered_lines(text))])
    other_work(talk, coding(talk, kit, project))

    def part(_):
        size = random.randint(30, 90)
        first = random.randrange(1, len(made) - size)
        shown = lines_of(made[first - 1 : first - 1 + size])
        return ("Read", {"file_path": path, "offset": first, "limit": size}), texts.numbered_lines(shown, first)

    go_round(talk, part, "that part of the file")


def same_file_by_other_commands(talk):
    random = talk.random
    project = Project(random)
    kit = texts.ClaudeCode()
    path, text = project.file(60, 130)
    made = text.split("\n")
    ask(talk, f"Explain {path} to me in five sentences.")
    learn(talk, [(kit.look(path), kit.shown(path, text))])
    other_work(talk, coding(talk, kit, project))

    def way(_):
        last = random.randint(len(made) * 3 // 4, len(made))
        first = random.randint(1, len(made) // 4)
        return random.choice(
            [
                (kit.look(path), kit.shown(path, text)),
                (kit.run(f"cat {path}"), text),
                (kit.run(f"cat -n {path}"), texts.numbered_lines(text)),
                (kit.run(f"nl -ba {path}"), texts.numbered_lines(text)),
                (kit.run(f"head -n {last} {path}"), lines_of(made[:last])),
                (kit.run(f"tail -n +{first} {path}"), lines_of(made[first - 1 :])),
                (kit.run(f"sed -n '{first},{last}p' {path}"), lines_of(made[first - 1 : last])),
                (kit.run(f"grep -v '^$' {path}"), lines_of(line for line in made if line)),
                (kit.run(f"awk 'NR>={first}' {path} | less"), lines_of(made[first - 1 :])),
            ]
        )

    go_round(talk, way, "the file", [thought(random, "the file")] if random.random() < 0.3 else ())


def columns_of_a_table_known_already(talk):
    random = talk.random
    table = f"{random.choice(PARTS)}_accounts"
    records = texts.people_records(random, random.randint(60, 100))
    ask(talk, f"Is there anything odd in {table}?")
    learn(talk, [(("execute_sql", {"query": texts.select("*", table)}), texts.psql_table(records))])
    other_work(talk, queries(talk))

    def some(_):
        columns = random.sample(list(records[0]), random.randint(4, 7))
        order = random.choice(columns)
        ordered = sorted(records, key=lambda record: str(record[order]))
        query = texts.select(", ".join(columns), table, f"ORDER BY {order}::text")
        return ("execute_sql", {"query": query}), texts.psql_table(ordered, columns)

    go_round(talk, some, table)


def cached_copies_of_a_page(talk):
    random = talk.random
    subject = random.choice(SUBJECTS)
    address = f"{random.choice(PARTS)}.example.org/{subject.replace(' ', '-')}"
    page = texts.web_page(random, random.randint(60, 120), subject)
    made = page.split("\n")
    ask(talk, f"What does https://{address} say about the costs?")
    learn(talk, [(("fetch", {"url": f"https://{address}"}), page)])
    other_work(talk, browsing(talk))

    def copy(_):
        html = lines_of(f"<p>{line}</p>" for line in made if line)
        plain = lines_of(line.lstrip("# ") for line in made if line)
        return random.choice(
            [
                (("fetch", {"url": f"https://{address}"}), page),
                (("fetch", {"url": f"https://webcache.example.com/search?q=cache:{address}"}), plain),
                (("fetch", {"url": f"https://archive.example.com/web/{random.randrange(10**9)}/{address}"}), page),
                (("fetch", {"url": f"https://{address}?print=1"}), plain),
                (("fetch", {"url": f"https://{address}", "raw": True}), html),
                (("browser_get_text", {"url": f"https://www.{address}"}), plain),
                (("bash", {"command": f"curl -s https://{address} | html2text"}), plain),
            ]
        )

    go_round(talk, copy, "the page")


def resource_in_other_formats(talk):
    random = talk.random
    kit = kit_of(random)
    name = random.choice(PARTS)
    text = texts.manifest(random, name, random.randint(70, 130))
    made = text.split("\n")
    pairs = [
        (one.split("name: ")[1], two.split('"')[1])
        for one, two in itertools.pairwise(made)
        if one.startswith("      - name: ")
    ]
    ask(talk, f"Why does {name} talk to the wrong {random.choice(PARTS)}?")
    asked = f"kubectl -n shop get deploy {name}"
    learn(talk, [(kit.run(f"{asked} -o yaml"), text)])
    other_work(talk, machines(talk, kit))
    as_json = lines_of(json.dumps({"name": one, "value": two}) for one, two in pairs)

    def form(_):
        return random.choice(
            [
                (kit.run(f"{asked} -o yaml"), text),
                (kit.run(f"{asked} -o json | jq -c '.spec.template.spec.containers[0].env[]'"), as_json),
                (
                    kit.run(f"kubectl -n shop describe deploy {name} | grep :"),
                    lines_of(f"  {a}:  {b}" for a, b in pairs),
                ),
                (kit.run(f"kubectl -n shop set env deploy/{name} --list"), lines_of(f"{a}={b}" for a, b in pairs)),
                (
                    kit.run(f"kubectl -n shop exec deploy/{name} -- env | sort"),
                    lines_of(f"{a}={b}" for a, b in sorted(pairs)),
                ),
                (kit.run(f"{asked} -o yaml | tail -n 60"), lines_of(made[-60:])),
            ]
        )

    go_round(talk, form, f"the environment of {name}")


def knowledge_searched_in_other_words(talk):
    random = talk.random
    part = random.choice(PARTS)
    articles = [
        {
            "article": f"KB{random.randrange(10_000)}",
            "title": texts.sentence(random),
            "text": texts.sentences(random, 2),
        }
        for _ in range(random.randint(12, 26))
    ]
    tool = random.choice(["search_knowledge_base", "mcp__notion__search", "memory_search"])
    ask(talk, f"How long may a {part} be kept?")
    learn(talk, [((tool, {"query": f"how long is a {part} kept"}), dumped(articles))])
    other_work(talk, service(talk))

    def search(_):
        found = random.sample(articles, random.randint(10, len(articles)))
        return (tool, {"query": pick(random, RETENTION, part)}), dumped(found)

    go_round(talk, search, f"the articles on the {part}", [thought(random, part)] if random.random() < 0.3 else ())


def customer_looked_up_by_other_keys(talk):
    random = talk.random
    customer = texts.customer_record(random, random.randrange(10**6), random.randint(12, 26))
    ask(talk, f"{customer['name']} is on the phone and is angry. What has been going on?")
    learn(talk, [(("get_customer", {"customer_id": customer["customer_id"]}), dumped(customer))])
    other_work(talk, service(talk))

    def lookup(_):
        short = {field: customer[field] for field in ("name", "customer_id", "history")}
        turned = {**customer, "history": customer["history"][::-1]}
        return random.choice(
            [
                (("get_customer", {"customer_id": customer["customer_id"]}), dumped(customer)),
                (("find_customer", {"email": customer["email"]}), dumped([customer])),
                (("find_customer", {"phone": customer["phone"]}), dumped([customer])),
                (("search_customers", {"name": customer["name"]}), dumped([customer])),
                (("get_history", {"customer_id": customer["customer_id"]}), dumped(short)),
                (("get_history", {"customer_id": customer["customer_id"], "order": "oldest"}), dumped(turned)),
                (("crm_query", {"filter": f"name = '{customer['name']}'"}), texts.bare_table(customer["history"])),
            ]
        )

    extras = [note(random, "the customer")] if random.random() < 0.4 else ()
    go_round(talk, lookup, "the customer's history", extras)


def commit_shown_with_other_flags(talk):
    random = talk.random
    kit, project = kit_of(random), Project(random)
    commit, path = key(random, 10), project.path().split("/src/")[1]
    other = project.path().split("/src/")[1]
    head = lines_of([f"commit {commit}", f"Author: {person(random)}", f"    {texts.sentence(random)}", ""])
    one, two = (texts.diff_text(random, name, random.randint(35, 70)) for name in (path, other))
    ask(talk, f"Was it {commit} that broke the build?")
    learn(talk, [(kit.run(f"git show {commit}"), f"{head}\n{one}\n{two}")])
    other_work(talk, coding(talk, kit, project, edits=False))

    def show(_):
        return random.choice(
            [
                (kit.run(f"git show {commit}"), f"{head}\n{one}\n{two}"),
                (kit.run(f"git --no-pager log -p -1 {commit}"), f"{head}\n{one}\n{two}"),
                (kit.run(f"git diff {commit}~1 {commit}"), f"{one}\n{two}"),
                (kit.run(f"git show --format= {commit}"), f"{one}\n{two}"),
                (kit.run(f"git show {commit} -- {path}"), f"{head}\n{one}"),
                (kit.run(f"git diff {commit}^! -- {other}"), two),
                (kit.run(f"git diff-tree -p {commit}"), f"{commit}\n{one}\n{two}"),
                (kit.run(f"git format-patch -1 --stdout {commit} | tail -n +4"), f"{one}\n{two}"),
            ]
        )

    go_round(talk, show, f"commit {commit[:7]}")


def frame_printed_in_other_ways(talk):
    random = talk.random
    records = texts.people_records(random, random.randint(60, 100))
    columns = list(records[0])
    ask(talk, "Is the file customers.csv clean enough for the import?")
    learn(talk, [(("python", {"code": "df = pd.read_csv('customers.csv')\nprint(df)"}), texts.bare_table(records))])
    other_work(talk, queries(talk))

    def show(_):
        some = random.sample(columns, random.randint(4, 7))
        by = random.choice(columns)
        ordered = sorted(records, key=lambda record: str(record[by]))
        size = random.randint(60, len(records))
        return random.choice(
            [
                (("python", {"code": "print(df)"}), texts.bare_table(records)),
                (("python", {"code": "df.to_string()"}), texts.bare_table(records)),
                (("python", {"code": f"df[{some}]"}), texts.bare_table(records, some)),
                (
                    ("python", {"code": f"df.sort_values('{by}', key=lambda c: c.astype(str))"}),
                    texts.bare_table(ordered),
                ),
                (("python", {"code": f"print(df.head({size}))"}), texts.bare_table(records[:size])),
                (("python", {"code": f"print(df.tail({size})[{some}])"}), texts.bare_table(records[-size:], some)),
                (("python", {"code": "print(open('customers.csv').read())"}), texts.comma_separated(records)),
                (("python", {"code": f"print(df[{some}].to_csv(index=False))"}), texts.comma_separated(records, some)),
                (("python", {"code": "print(df.to_json(orient='records', indent=2))"}), dumped(records[:15])),
            ][: random.choice([8, 8, 9])]
        )

    go_round(talk, show, "the frame")


def instances_in_other_outputs(talk):
    random = talk.random
    kit = kit_of(random)
    found = texts.instances(random, random.randint(14, 24))
    asked = "aws ec2 describe-instances"
    ask(talk, "Which of our machines can be switched off?")
    learn(talk, [(kit.run(f"{asked} --query 'Reservations[].Instances[]'"), dumped(found))])
    other_work(talk, machines(talk, kit))

    def show(_):
        some = random.sample(list(found[0]), random.randint(3, 5))
        fields = ",".join(some)
        return random.choice(
            [
                (kit.run(f"{asked} --query 'Reservations[].Instances[]'"), dumped(found)),
                (kit.run(f"{asked} --output table"), texts.psql_table(found).rsplit("\n", 1)[0]),
                (
                    kit.run(f"{asked} --output text --query 'Reservations[].Instances[].[{fields}]'"),
                    texts.bare_table(found, some),
                ),
                (kit.run(f"{asked} --output json | jq -r '.[]|[{fields}]|@csv'"), texts.comma_separated(found, some)),
                (kit.run(f"{asked} --no-paginate --page-size {random.randrange(20, 99)}"), dumped(found)),
            ]
        )

    go_round(talk, show, "the machines", [plan(random, kit, "the machines")] if random.random() < 0.3 else ())


PLAIN_CIRCLES = (
    one_file_read_over_and_over,
    ring_of_source_files,
    whole_ring_in_one_reply,
    search_and_its_file_by_turns,
    tests_run_without_a_change,
    diff_and_status_by_turns,
    small_settings_with_failing_calls,
    thoughts_between_two_files,
    customer_order_policy_by_turns,
    ticket_read_again_with_notes,
    same_two_queries,
    table_schemas_with_restated_plan,
    ring_of_pages,
    two_tabs_of_a_browser,
    logs_of_a_dead_job,
    settings_of_hosts_over_ssh,
    calendar_and_mails_by_turns,
    report_of_a_subagent_fetched_again,
    memory_asked_the_same,
    issue_and_its_wiki_page,
)
OTHERWISE_CIRCLES = (
    parts_of_a_file_read_before,
    same_file_by_other_commands,
    columns_of_a_table_known_already,
    cached_copies_of_a_page,
    resource_in_other_formats,
    knowledge_searched_in_other_words,
    customer_looked_up_by_other_keys,
    commit_shown_with_other_flags,
    frame_printed_in_other_ways,
    instances_in_other_outputs,
)
FOURTH_CIRCLES = (*PLAIN_CIRCLES, *OTHERWISE_CIRCLES)
