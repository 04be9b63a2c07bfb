"""
Honest sessions as ordinary agents have them: what reads alike is new each time, or something has come in between.

Each brings some 60,000 characters or more, so that something has to leave a window of 6,000 tokens.
"""

from itertools import count

from tests.support.later_talk import (
    NOUNS,
    PLACES,
    VERBS,
    bash,
    changed,
    code,
    edit,
    edited,
    hits,
    joined,
    log,
    numbered,
    patch,
    prose,
    python,
    read,
    rows,
    settings,
    shell,
    sql,
    swapped,
    words,
)

# What is returned, and how long a session goes on.


def returned(talk):
    """How many characters the tools have returned so far."""
    return sum(len(each.message["content"]) for each in talk.rounds if each.message["role"] == "tool")


def turns(talk, least=66_000, most=110_000):
    """Counts on until the tools have returned so many characters more."""
    goal = returned(talk) + talk.random.randint(least, most)
    for turn in count():
        if returned(talk) >= goal:
            return
        yield turn


# Texts.


def source(random):
    return f"src/{random.choice(NOUNS)}/{random.choice(VERBS)}_{random.choice(NOUNS)}_{random.randrange(100)}.py"


def listing(random, size):
    return joined(
        f"-rw-r--r--  1 app app {random.randrange(200, 90_000):>7} Mar {random.randrange(1, 29):>2} "
        f"{random.randrange(24):02}:{random.randrange(60):02} {random.choice(VERBS)}_{random.choice(NOUNS)}.{place}.py"
        for place in range(size)
    )


def failure(random, size=30):
    """What pytest says about a test that fails."""
    one, two, verb = *words(random), random.choice(VERBS)
    made = [f"=================== FAILURES: test_{verb}_{one} ==================="]
    made += [f"tests/test_{one}.py:{random.randrange(20, 400)}: in test_{verb}_{one}", code(random, size)]
    made += [f"E   AssertionError: assert {random.randrange(999)} == {random.randrange(999)}"]
    made += [f"E    +  where {random.randrange(999)} = {verb}_{two}(<{one} at 0x{random.getrandbits(40):x}>)"]
    made += [f"INFO     {two}:{random.randrange(400)} {random.choice(VERBS)} {random.choice(NOUNS)} {random.random()}"]
    made += [log(random, size // 2, one), f"FAILED tests/test_{one}.py::test_{verb}_{one} - AssertionError"]
    return joined(made)


def ticket(random, number, size=5):
    """A ticket with its comments."""
    made = [f"#{number} The {' '.join(words(random))} does not {random.choice(VERBS)}", "Status: open  Priority: high"]
    for _ in range(size):
        made += [
            f"--- comment by {random.choice(PLACES)} desk, 2025-0{random.randrange(1, 10)}-1{random.randrange(10)}"
        ]
        made += [prose(random, random.randrange(4, 9))]
    return joined(made)


def record(random, kind, number, size=50):
    """A record as JSON."""
    made = ["{", f'  "kind": "{kind}",', f'  "number": "{number}",']
    for place in range(size):
        value = random.choice([random.randrange(99_999), f'"{random.choice(PLACES)}"', f'"{random.choice(NOUNS)}"'])
        made.append(f'  "{random.choice(VERBS)}_{random.choice(NOUNS)}_{place}": {value},')
    return joined([*made, '  "end": true', "}"])


def manifest(random, kind, name):
    made = ["apiVersion: apps/v1", f"kind: {kind}", "metadata:", f"  name: {name}", "spec:"]
    return joined([*made, settings(random, random.randrange(70, 130))])


def page(random, title):
    made = [f"# {title}"]
    for _ in range(random.randrange(3, 6)):
        made += [
            f"## The {random.choice(NOUNS)} and the {random.choice(NOUNS)}",
            prose(random, random.randrange(6, 12)),
        ]
    return joined(made)


def findings(random, size=None):
    """The long answer of a subagent."""
    made = ["I looked through the repository. What I found:"]
    made += [
        f"{place + 1}. `{source(random)}:{random.randrange(1, 600)}`: the {random.choice(NOUNS)} is "
        f"{random.choice(VERBS)}ed before the {random.choice(NOUNS)}, limit {random.randrange(9_999)}."
        for place in range(size or random.randrange(18, 45))
    ]
    return joined(made)


def services(random, size=60):
    return joined(
        f"{random.choice(NOUNS)}-{random.choice(VERBS)}-{place:02}   Running   restarts={random.randrange(4)}   "
        f"cpu={random.randrange(900)}m   memory={random.randrange(4_000)}Mi"
        for place in range(size)
    )


# A step of some other work.


def coding_step(talk):
    random, path = talk.random, source(talk.random)
    kind = random.randrange(4)
    if kind == 0:
        talk.run(("Grep", {"pattern": f"{random.choice(VERBS)}_{random.randrange(999)}"}), hits(random, 45))
    elif kind == 1:
        talk.run(edit(path, *swapped(random)), edited(path))
        talk.run(bash(f"pytest -q tests/test_{random.choice(NOUNS)}_{random.randrange(99)}.py"), failure(random, 20))
    else:
        talk.run(read(path), numbered(code(random, random.randrange(60, 130))))


def codex_step(talk):
    random, path = talk.random, source(talk.random)
    if random.random() < 0.3:
        talk.run(patch(path, *swapped(random)), "Done!")
        talk.run(shell(f"git diff HEAD -- {path}"), code(random, 50))
    else:
        talk.run(shell(f"cat {path}"), code(random, random.randrange(60, 130)))


def desk_step(talk):
    random, number = talk.random, talk.random.randrange(10_000, 99_999)
    kind = random.choice(["order", "parcel", "contract", "ticket"])
    text = ticket(random, number) if kind == "ticket" else record(random, kind, number, random.randrange(50, 90))
    talk.run((f"get_{kind}", {"id": number}), text)


def source_step(talk):
    random, name = talk.random, "-".join(words(talk.random, 3))
    if random.random() < 0.3:
        found = [f"https://{one}.example/{name}\n{prose(random, 2)}" for one in words(random, 10)]
        talk.run(("web_search", {"query": " ".join(words(random, 4))}), joined(found))
    else:
        talk.run(("fetch", {"url": f"https://{random.choice(NOUNS)}.example/{name}"}), page(random, name))


def table_step(talk):
    random, (one, two) = talk.random, words(talk.random)
    if random.random() < 0.3:
        code_text = f"print({one}.groupby('{two}').amount.describe({random.randrange(9_999)}))"
        talk.run(python(code_text), rows(random, 60, ("id", "place", "kind", "mean", "std", "max")))
    else:
        query = f"SELECT * FROM {one} JOIN {two} USING (id) WHERE amount > {random.randrange(99_999)}"  # noqa: S608 - a text
        talk.run(sql(query), rows(random, random.randrange(60, 120)), took=random.uniform(0.3, 1.5))


def cluster_step(talk):
    random, name = talk.random, "-".join(words(talk.random, 3))
    if random.random() < 0.4:
        talk.run(bash(f"kubectl get deployment {name} -o yaml"), manifest(random, "Deployment", name))
    else:
        talk.run(bash(f"kubectl logs deploy/{name} --tail=60"), log(random, 60, name))


# Programs are written.


def edits_and_different_failures(talk):
    random = talk.random
    talk.user("The suite is red after the merge. Please make it green.")
    for _ in turns(talk):
        path = source(random)
        talk.run(bash("pytest -q -x"), failure(random, 28), took=random.uniform(2, 20))
        talk.run(read(path), numbered(code(random, 50)))
        talk.run(edit(path, *swapped(random)), edited(path), text="The order of the two is wrong here.")
    talk.run(bash("pytest -q -x"), "418 passed in 31.20s", took=31)
    talk.tell("All tests pass now.")


def edits_and_the_same_failure(talk):
    random, text, path = talk.random, failure(talk.random, 40), source(talk.random)
    talk.user("One test fails on the new runner, and nobody knows why. Find out, please.")
    for turn in turns(talk):
        if turn % 4 == 3:
            path = source(random)
            talk.run(read(path), numbered(code(random, 60)))
        talk.run(
            edit(path, *swapped(random)), edited(path), text=random.choice(["Perhaps this.", "Another idea.", None])
        )
        talk.run(bash("pytest -q tests/test_runner.py"), text, took=random.uniform(2, 9))
    talk.run(bash("pytest -q tests/test_runner.py"), "1 passed in 2.02s")
    talk.tell("It was the clock's resolution.")


def a_flaky_test_after_edits(talk):
    random, text = talk.random, failure(talk.random, 50)
    path = source(random)
    talk.user("tests/test_socket.py is flaky: steady it.")
    talk.run(read(path), numbered(code(random, 120)))
    for _ in turns(talk):
        talk.run(edit(path, *swapped(random)), edited(path))
        for _ in range(random.randrange(1, 4)):
            passed = random.random() < 0.4
            output = f"20 passed in {random.uniform(8, 15):.2f}s" if passed else changed(random, text, 4)
            talk.run(bash("pytest tests/test_socket.py --count 20"), output, took=random.uniform(8, 15))
    talk.tell("Twenty runs by twenty pass.")


def a_file_again_after_each_change(talk):
    random, path = talk.random, source(talk.random)
    text = code(random, 110)
    talk.user(f"Go through {path} and make each function raise our own errors.")
    for _ in turns(talk):
        talk.run(read(path), numbered(text))
        talk.run(edit(path, *swapped(random)), edited(path))
        text = changed(random, text, random.randrange(1, 4))
    talk.tell("Each of them raises our own errors.")


def files_again_after_the_window(talk):
    random, paths = talk.random, [source(talk.random) for _ in range(talk.random.randrange(3, 6))]
    texts = [numbered(code(random, random.randrange(60, 120))) for _ in paths]
    talk.user("Bring the new rates into these modules: " + ", ".join(paths))
    for path, text in zip(paths, texts, strict=True):
        talk.run(read(path), text)
    for _ in turns(talk, 40_000, 60_000):
        coding_step(talk)
    for path, text in zip(paths, texts, strict=True):
        talk.run(read(path), text, text=random.choice(["I need this one before me again.", None]))
    for _ in turns(talk, 25_000, 40_000):
        path = random.choice(paths)
        talk.run(edit(path, *swapped(random)), edited(path))
        talk.run(bash(f"git diff --stat && pytest -q -k {random.choice(NOUNS)}"), failure(random, 22))
    talk.tell("The new rates are in.")


def licences_reviewed(talk):
    random, text = talk.random, prose(talk.random, 40)
    talk.user("Look whether each vendored package has a licence that we may ship.")
    for turn in turns(talk):
        name = f"{random.choice(NOUNS)}-{random.choice(VERBS)}-{turn}"
        head = f"Copyright (c) {random.randrange(1995, 2025)} {random.choice(PLACES)} {random.choice(NOUNS)} authors"
        talk.run(shell(f"cat vendor/{name}/LICENSE"), joined([head, changed(random, text, turn % 3)]))
    talk.tell("Every licence is fine but for two.")


def generated_clients_reviewed(talk):
    random, text = talk.random, code(talk.random, 100)
    talk.user("Review the generated clients in this pull request.")
    for turn in turns(talk):
        name = f"{random.choice(NOUNS)}_{turn}"
        made = joined([f"class {name.title()}Client:", text.replace("found", f"{name}_found")])
        talk.run(read(f"gen/clients/{name}.py"), numbered(changed(random, made, random.randrange(3))))
    talk.tell("They are alike, as they should be.")


def translations_filled_in(talk):
    random, text = talk.random, settings(talk.random, 110)
    talk.user("Add the three new keys to each language.")
    for turn in turns(talk):
        path = f"locale/{random.choice(PLACES).lower()}_{turn}.yml"
        talk.run(read(path), numbered(changed(random, text, random.randrange(8, 30))))
        talk.run(edit(path, *swapped(random)), edited(path))
    talk.tell("All languages have the keys.")


def a_long_file_by_pages(talk):
    random, path, lines = talk.random, "legacy/ledger_all.py", code(talk.random, 2_100).split("\n")
    talk.user(f"Read {path} from end to end and tell me which functions can go.")
    for first in range(0, len(lines), 100):
        text = numbered(joined(lines[first : first + 100]), first + 1)
        talk.run(read(path, offset=first + 1, limit=100), text, text=random.choice(["On to the next part.", None]))
    for _ in range(6):
        talk.run(edit(path, *swapped(random)), edited(path))
    talk.tell("I have removed six of them.")


def two_versions_compared(talk):
    random = talk.random
    talk.user("What has changed between v3 and v4 that our callers can notice?")
    for _ in turns(talk):
        path, text = source(random), code(random, random.randrange(60, 100))
        talk.run(shell(f"git show v3.0:{path}"), text)
        talk.run(shell(f"git show v4.0:{path}"), changed(random, text, random.randrange(4)))
    talk.tell("Three signatures are new; the rest is the same.")


def a_rebase_with_conflicts(talk):
    random, passed = talk.random, joined(f"tests/test_{one}.py ........ ok" for one in NOUNS)
    talk.user("Rebase the branch on main, and run the tests at each commit.")
    for turn in turns(talk):
        path = source(random)
        talk.run(
            shell("git rebase --continue"), f"CONFLICT (content): Merge conflict in {path}\ncommit {turn + 1} of 40"
        )
        talk.run(shell(f"git diff {path}"), code(random, 60))
        talk.run(patch(path, *swapped(random)), "Done!")
        talk.run(shell("make test"), joined([passed, "212 passed"]), took=random.uniform(5, 30))
    talk.tell("The branch stands on main.")


def the_user_asks_the_same_again(talk):
    random, path = talk.random, "config/limits.yml"
    text = numbered(settings(random, 120))
    talk.user("What are our limits? Show me the file.")
    for _ in turns(talk):
        talk.run(read(path), text)
        talk.tell("Here are the limits: " + ", ".join(words(random, 5)))
        talk.user(
            random.choice(["Now look after the other thing.", "Good. And the imports?", "Then go on with the job."])
        )
        for _ in range(random.randrange(2, 5)):
            coding_step(talk)
        talk.tell("That is done.")
        talk.user(
            random.choice(["Show me the limits again?", "What were the limits?", "I lost it: the limits, please."])
        )
    talk.run(read(path), text)
    talk.tell("Here they are.")


def subagents_with_different_questions(talk):
    random = talk.random
    talk.user("Find everything that touches the old ledger. Use subagents.")
    for _ in turns(talk):
        asked = f"Where do we {random.choice(VERBS)} a {random.choice(NOUNS)} of a {random.choice(NOUNS)}?"
        task = "Task", {"description": "Look through code", "prompt": asked, "subagent_type": "Explore"}
        talk.run(task, findings(random), took=random.uniform(1, 60))
    talk.tell("Here is the map of it.")


# Waiting and watching.


def a_build_polled(talk):
    random, lines = talk.random, log(talk.random, 50, "ninja").split("\n")
    talk.user("Build the release image and tell me when it is up.")
    talk.run(bash("make image > build.log 2>&1 &"), "[1] 40211")
    for _ in turns(talk):
        if random.random() < 0.6:
            lines += log(random, random.choice([1, 3, 9, 20]), "ninja").split("\n")
        talk.run(bash("sleep 60; tail -n 50 build.log"), joined(lines[-50:]), took=random.uniform(60, 64))
    talk.run(bash("docker images | head -3"), "release  latest  4f1c0a11  2 minutes ago  812MB")
    talk.tell("The image is built.")


def checks_of_a_pull_request_awaited(talk):
    random = talk.random
    names = [f"{random.choice(VERBS)}-{random.choice(NOUNS)} (ubuntu, {place})" for place in range(70)]
    states = dict.fromkeys(names, "pending")
    talk.user("Merge it as soon as the checks are green.")
    for turn in turns(talk):
        if turn % 3 == 0:
            states.update(dict.fromkeys(random.sample(names, 2), "pass"))
        text = joined(f"{name}\t{state}\thttps://ci.example/runs/99120" for name, state in states.items())
        talk.run(bash("gh pr checks 4410"), text)
        talk.run(bash("sleep 120"), "", took=120.1)
    talk.run(bash("gh pr merge 4410 --squash"), "Merged.")
    talk.tell("Merged.")


def a_dashboard_watched(talk):
    random, text = talk.random, services(talk.random, 60)
    talk.user("Keep an eye on the cluster for the next hours, and say when something restarts.")
    for _ in turns(talk):
        text = changed(random, text) if random.random() < 0.3 else text
        talk.run(("get_dashboard", {"name": "cluster", "wait_seconds": 300}), text, took=random.uniform(300, 302))
    talk.tell("One pod restarted at noon; the others were steady.")


def a_long_download(talk):
    random, lines = talk.random, []
    talk.user("Fetch the archive and unpack it; it is large.")
    talk.run(shell("nohup wget -c https://archive.example/all.tar &"), "")
    for _ in turns(talk):
        for _ in range(random.choice([0, 5, 20, 60]) if lines else 60):
            head = f"{len(lines) * 50}K .......... .......... .......... {len(lines) // 20}%"
            lines.append(f"{head} {random.uniform(1, 9):.2f}M {random.randrange(900)}s")
        talk.run(
            shell("sleep 90; tail -n 60 wget.log", timeout_ms=120_000), joined(lines[-60:]), took=random.uniform(90, 93)
        )
    talk.run(shell("tar xf all.tar && ls | wc -l"), "8812", took=40)
    talk.tell("It is unpacked.")


def a_queue_drained(talk):
    random, waiting = talk.random, record(talk.random, "queue", 1, 260).split("\n")[3:]
    talk.user("Wait until the queue has drained, then stop the workers.")
    for _ in turns(talk):
        waiting = waiting[random.choice([0, 0, 1, 4]) :]
        talk.run(bash("rabbitmqadmin list messages --limit 90"), joined(waiting[:90]), took=random.uniform(0.2, 1.5))
        talk.run(("wait", {"seconds": 45}), "waited 45 seconds", took=45)
    talk.tell("The queue is empty, and the workers have stopped.")


def logs_followed(talk):
    random, lines = talk.random, log(talk.random, 40, "gateway").split("\n")
    talk.user("Customers see errors right now. Follow the gateway's log while I restart things.")
    for _ in turns(talk):
        lines += log(random, random.randrange(5, 40), "gateway").split("\n")
        talk.run(bash("kubectl logs deploy/gateway --tail=50"), joined(lines[-50:]), took=random.uniform(5, 20))
    talk.tell("No more errors since the third restart.")


def a_source_that_limits_rates(talk):
    random = talk.random
    talk.user("Collect the pages of all member towns.")
    for turn in turns(talk):
        tool = "fetch", {"url": f"https://towns.example/{random.choice(PLACES).lower()}/{turn}"}
        for _ in range(random.choice([0, 0, 1, 2, 5])):
            talk.run(
                tool, "HTTP 429 Too Many Requests. Retry-After: 30", text=random.choice(["I wait and try again.", None])
            )
            talk.run(bash("sleep 30"), "", took=30.1)
        talk.run(tool, page(random, f"Town {turn}"))
    talk.tell("I have them all.")


# Walks through hosts, records, tables and texts.


def hosts_walked(talk):
    random, text = talk.random, services(talk.random, 45)
    talk.user("Check each host of the fleet before the weekend.")
    for turn in turns(talk):
        name = f"node-{turn:03}.fleet.example"
        output = changed(random, text, random.randrange(3))
        talk.run(bash(f"ssh {name} 'df -h; systemctl list-units'"), joined([f"Host {name}", output]))
    talk.tell("All hosts are well.")


def nodes_upgraded_in_turn(talk):
    random, text = talk.random, services(talk.random, 55)
    talk.user("Upgrade the nodes one after the other; no two at once.")
    for turn in turns(talk):
        talk.run(
            bash(f"kubectl drain node-{turn} --ignore-daemonsets"),
            f"node/node-{turn} drained",
            took=random.uniform(9, 40),
        )
        talk.run(bash(f"upgrade-node node-{turn}"), f"node-{turn}: ok", took=random.uniform(30, 90))
        text = changed(random, text, 2)
        talk.run(bash("kubectl get pods -A"), text)
        talk.run(("update_plan", {"done": turn + 1, "left": 40 - turn}), "Plan updated")
    talk.tell("They are all upgraded.")


def a_list_by_cursors(talk):
    random, cursor = talk.random, "start"
    talk.user("Go through all open invoices, and add up the ones of Graz.")
    for turn in turns(talk):
        following = f"{random.getrandbits(48):012x}"
        text = joined([rows(random, 80), f"next_cursor: {following}", f"page: {turn}"])
        talk.run(("list_invoices", {"cursor": cursor, "limit": 80}), text)
        cursor = following
    talk.tell("Graz owes 12,004.10.")


def records_put_right(talk):
    random = talk.random
    talk.user("The import has left wrong phone numbers. Put right whatever you find.")
    for turn in turns(talk):
        number = 52_000 + turn
        talk.run(("get_contact", {"id": number}), record(random, "contact", number, 45))
        if random.random() < 0.6:
            talk.run(("update_contact", {"id": number, "phone": str(random.randrange(10**9))}), "ok")
    talk.tell("All are right.")


def batches_that_all_say_ok(talk):
    random = talk.random
    talk.user("Send the exported chunks to the new system.")
    for turn in turns(talk):
        talk.run(bash(f"head -c 4000 export/chunk_{turn:04}.csv"), rows(random, 70))
        answer = "ok\n" + joined(f"check {one}: passed" for one in NOUNS[:40])
        talk.run(("submit_chunk", {"name": f"chunk_{turn:04}.csv"}), answer, took=random.uniform(1, 6))
    talk.tell("All chunks are accepted.")


def a_table_filled_range_by_range(talk):
    random, text = talk.random, rows(talk.random, 90)
    talk.user("Fill the new column, ten thousand rows at a time, and look at some rows after each.")
    for turn in turns(talk):
        first = turn * 10_000
        update = f"UPDATE orders SET region_id = 7 WHERE id BETWEEN {first} AND {first + 9_999}"  # noqa: S608 - a text
        talk.run(sql(update), "UPDATE 10000")
        some = changed(random, text, random.randrange(5, 60))
        talk.run(sql(f"SELECT * FROM orders WHERE id > {first} LIMIT 90"), some)  # noqa: S608 - a text
    talk.tell("The column is filled.")


def questions_to_a_database(talk):
    random = talk.random
    talk.user("Why did the revenue of March fall? Look into the warehouse.")
    for turn in turns(talk):
        noun, place = random.choice(NOUNS), random.choice(PLACES)
        where = f"kind = '{noun}' AND place = '{place}' AND week = {turn}"
        query = f"SELECT id, place, kind, amount FROM sales WHERE {where}"  # noqa: S608 - a text
        talk.run(sql(query), rows(random, random.randrange(50, 110)), text=random.choice([None, f"Now {place}."]))
    talk.tell("It was one customer in Porto.")


def trainings_with_other_rates(talk):
    random = talk.random
    talk.user("Find a learning rate and a depth that work.")
    for turn in turns(talk):
        lines = [
            f"epoch {step:03} loss={random.uniform(0, 3):.5f} val={random.uniform(0, 3):.5f}" for step in range(70)
        ]
        command = f"python train.py --rate {random.uniform(0, 0.1):.5f} --depth {random.randrange(2, 12)} --run {turn}"
        talk.run(bash(command), joined(lines), took=random.uniform(20, 200))
    talk.tell("A rate of 0.003 at a depth of six.")


def a_chat_with_lookups(talk):
    random, rules = talk.random, page(talk.random, "Returns and refunds")
    talk.user("Hello, where is my parcel?")
    for _ in turns(talk):
        desk_step(talk)
        if random.random() < 0.5:
            talk.run(("search_help", {"query": "refund"}), rules)
        talk.tell(f"The {random.choice(NOUNS)} is in {random.choice(PLACES)}; it takes {random.randrange(2, 9)} days.")
        talk.user(f"And the {random.choice(NOUNS)}? I want my money back for {random.choice(NOUNS)}.")
    talk.tell("It is refunded.")


def sources_read_for_a_report(talk):
    random = talk.random
    talk.user("Write a report about meters in public housing, with sources.")
    for turn in turns(talk):
        source_step(talk)
        if turn % 4 == 3:
            talk.run(("write_note", {"text": prose(random, 2)}), f"Note {turn} kept")
    talk.tell("Here is the report. " + prose(random, 5))


ORDINARY_HONEST = [
    edits_and_different_failures,
    a_build_polled,
    edits_and_the_same_failure,
    hosts_walked,
    a_flaky_test_after_edits,
    checks_of_a_pull_request_awaited,
    a_file_again_after_each_change,
    a_list_by_cursors,
    files_again_after_the_window,
    a_dashboard_watched,
    licences_reviewed,
    nodes_upgraded_in_turn,
    generated_clients_reviewed,
    a_long_download,
    translations_filled_in,
    records_put_right,
    a_long_file_by_pages,
    a_queue_drained,
    two_versions_compared,
    batches_that_all_say_ok,
    a_rebase_with_conflicts,
    logs_followed,
    a_table_filled_range_by_range,
    the_user_asks_the_same_again,
    questions_to_a_database,
    a_source_that_limits_rates,
    trainings_with_other_rates,
    a_chat_with_lookups,
    sources_read_for_a_report,
    subagents_with_different_questions,
]
