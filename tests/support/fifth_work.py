"""Twenty-four sorts of honest sessions that repeat calls for a good reason; most of them read the same things often."""

import json

from tests.support.fifth_texts import (
    CLAUDE,
    HOME,
    LAWS,
    ROOMS,
    WEB,
    chart,
    claude_greps,
    claude_reads,
    cloud_log,
    cloud_object,
    contract,
    entities,
    frame,
    legal_document,
    mail,
    manifest,
    medical_chart,
    named,
    page,
    paper,
    place_of,
    query,
    record,
    sentence,
    sheet,
    shop_product,
    sized,
    source,
    thought,
    ticket,
    web_fetch,
)
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
    snapshot,
    sql,
    swapped,
)


def some(random):
    """How many pieces of work there are."""
    return random.randrange(18, 30)


def long(random):
    """A text that everything else is held against."""
    return sized(random, sentence, 2_500, 7_500)


def says(random, share=0.3):
    return thought(random, f"the {random.choice(NOUNS)}") if random.random() < share else None


def wrote(talk, path, text):
    talk.run(("Write", {"file_path": path, "content": text}), f"File created successfully at: {path}")


# Something is made for each of many things, and what holds for all of them is read again for each.


def policy_for_each_customer(talk):
    """A batch of tickets: the policy, the customer, an answer that is sent."""
    random = talk.random
    key, policy = f"POL-{random.randrange(999)}", long(random)
    talk.user("Work through the open requests. Read the refund policy before you answer each of them.")
    for _ in range(some(random)):
        number = str(random.randrange(10**6, 10**7))
        if random.random() < 0.85:
            talk.run(("get_policy", {"policy_id": key}), policy, text=says(random))
        talk.run(("get_ticket", {"ticket_id": number}), record(random, ticket=number))
        body = f"Dear {named(random)}, {sentence(random)} {sentence(random)}"
        talk.run(("send_message", {"ticket_id": number, "body": body}), json.dumps({"sent": True, "ticket": number}))
    talk.tell("All requests are answered.")


def style_guide_for_each_page(talk):
    random = talk.random
    guide, text = f"/site/docs/{random.choice(NOUNS)}_style.md", numbered(long(random))
    glossary, terms = "/site/docs/glossary.md", numbered(settings(random, random.randrange(50, 120)))
    talk.user("Translate the pages into Dutch. Keep to the style guide and the glossary, check both for every page.")
    for _ in range(some(random)):
        path = f"/site/pages/{random.choice(NOUNS)}_{random.randrange(999)}.md"
        pairs = [(read(guide), text), (read(glossary), terms)]
        talk.together(random.sample(pairs, random.choice([1, 2, 2])), text=says(random))
        talk.run(read(path), numbered(page(random)))
        wrote(talk, path.replace("/pages/", "/pages/nl/"), page(random))


def schema_for_each_question(talk):
    random = talk.random
    tables = [(("describe_table", {"table": f"{name}s"}), settings(random, 70)) for name in random.sample(NOUNS, 3)]
    talk.user("Here are thirty questions for the quarterly report. Answer them from the warehouse, one file for each.")
    for place in range(some(random)):
        talk.together(random.sample(tables, random.randrange(1, 4)), text=says(random))
        for _ in range(random.choice([1, 1, 2])):
            talk.run(sql(query(random)), rows(random, random.randrange(15, 60)))
        value = {"path": f"report/q{place:02}.md", "content": f"{sentence(random)}\n\n{sentence(random)}"}
        talk.run(("write_file", value), "ok")


def protocol_for_each_patient(talk):
    random = talk.random
    name, protocol = f"{random.choice(NOUNS)}-followup", long(random)
    talk.user(f"Screen this week's patients against the {name} protocol and record for each whether they are eligible.")
    for _ in range(some(random)):
        key = f"{random.randrange(10**6, 10**7)}"
        steps = [
            (("get_protocol", {"name": name}), protocol),
            (("get_chart", {"mrn": key, "section": "all"}), chart(random)),
        ]
        if random.random() < 0.5:
            talk.together(steps, text=says(random))
        else:
            for tool, output in steps:
                talk.run(tool, output)
        verdict = {"mrn": key, "eligible": random.random() < 0.5, "because": sentence(random)}
        talk.run(("record_result", verdict), json.dumps({"stored": random.getrandbits(40)}))


def playbook_for_each_contract(talk):
    random = talk.random
    book = f"playbook_{random.choice(LAWS).lower()}.docx"
    text = contract(random)
    talk.user("Mark up the supplier contracts against our playbook.")
    for _ in range(some(random)):
        tool, draft = legal_document(random)
        talk.run(("open_document", {"doc": book}), text, text=says(random))
        talk.run(tool, draft)
        for _ in range(random.choice([1, 2])):
            remark = {**tool[1], "clause": f"{random.randrange(30)}.{random.randrange(9)}", "text": sentence(random)}
            talk.run(("insert_redline", remark), f"Redline {random.randrange(10**6)} inserted.")


def files_after_an_example(talk):
    """Each file is brought into the form of one that is done, and tested."""
    random = talk.random
    example, shown = f"/repo/{place_of(random)}", numbered(source(random))
    talk.user(f"Move all handlers to the new base class; {example} shows how.")
    for _ in range(some(random)):
        path = f"/repo/{place_of(random, 'py')}"
        talk.run(read(example), shown, text=says(random))
        talk.run(read(path), numbered(source(random)))
        for _ in range(random.choice([1, 1, 3])):
            talk.run(edit(path, *swapped(random)), edited(path))
        if random.random() < 0.7:
            passed = f"{random.randrange(3, 40)} passed in {random.uniform(0.5, 9):.2f}s"
            talk.run(bash(f"pytest -q {path.replace('src', 'tests')}"), passed, took=random.uniform(2, 15))


def mapping_for_each_row(talk):
    random = talk.random
    key = f"{random.getrandbits(64):016x}"
    head, mapping = "Mapping!A1:F90", sheet(random)
    talk.user("Fill the missing account codes in the journal. The mapping sheet says which code goes with what.")
    for place in range(some(random)):
        row = 2 + place * random.randrange(1, 4)
        talk.run(("sheets_get_values", {"spreadsheet_id": key, "range": head}), mapping, text=says(random))
        asked = {"spreadsheet_id": key, "range": f"Journal{place}!A{row}:F{row + 40}"}
        talk.run(("sheets_get_values", asked), sheet(random))
        cell = {"spreadsheet_id": key, "range": f"Journal{place}!G{row}", "values": [[random.randrange(9_999)]]}
        talk.run(("sheets_update_values", cell), json.dumps({"updatedCells": 1, "updatedRange": cell["range"]}))


def claims_against_a_paper(talk):
    random = talk.random
    key, text = f"2511.{random.randrange(99_999):05}", paper(random)
    talk.user(f"Referee {key}: check every claim against its tables and the cited work, and write the review.")
    for place in range(some(random)):
        talk.run(("get_paper", {"arxiv_id": key}), text, text=says(random))
        cited = f"24{random.randrange(10, 13)}.{random.randrange(99_999):05}"
        talk.run(("get_paper", {"arxiv_id": cited}), paper(random))
        remark = {"path": "review.md", "text": f"{place + 1}. {sentence(random)} {sentence(random)}\n"}
        talk.run(("append_to_file", remark), f"Appended {len(remark['text'])} bytes to review.md")


def questions_from_a_questionnaire(talk):
    """A security questionnaire: the same few wiki pages are looked up for question after question."""
    random = talk.random
    pages = [(("get_page", {"page_id": random.randrange(10**6, 10**7)}), page(random)) for _ in range(4)]
    talk.user("Fill in the customer's security questionnaire from our wiki.")
    talk.run(("list_questions", {"form": "security"}), sized(random, sentence, 3_000, 6_000))
    for place in range(some(random)):
        talk.together(random.sample(pages, random.choice([1, 1, 2])), text=says(random))
        if random.random() < 0.4:
            talk.run(("search_wiki", {"cql": f'text ~ "{sentence(random)[:25]}"'}), hits(random, 25))
        value = {"form": "security", "question": place + 1, "answer": f"{sentence(random)} {sentence(random)}"}
        talk.run(("answer_question", value), json.dumps({"question": place + 1, "status": "answered"}))


# Code is changed between.


def edits_of_one_file(talk):
    """The file is read before or after each edit, and has changed."""
    random = talk.random
    path, text = f"/repo/{place_of(random)}", code(random, 90)
    talk.user(f"Split {path} into smaller functions, step by step, and run the tests after each step.")
    for _ in range(some(random)):
        talk.run(read(path), numbered(text), text=says(random))
        talk.run(edit(path, *swapped(random)), edited(path))
        text = changed(random, text, random.randrange(1, 4))
        if random.random() < 0.6:
            talk.run(bash("pytest -q"), f"{random.randrange(90, 120)} passed in {random.uniform(3, 9):.2f}s", took=6.0)


def one_test_and_many_causes(talk):
    """The same test file is read again while one cause after the other is removed in other files."""
    random = talk.random
    test, text = "tests/test_end_to_end.py", code(random, 60)
    talk.user("The end-to-end test has been red since the merge. Get it green.")
    for left in range(some(random), 0, -1):
        talk.run(shell(f"sed -n '1,200p' {test}"), text, text=says(random))
        path = place_of(random)
        talk.run(shell(f"cat {path}"), source(random))
        talk.run(patch(path, *swapped(random)), f"Success. Updated the following files:\nM {path}")
        told = f"{log(random, random.randrange(8, 30), 'pytest')}\n{left - 1} failed"
        talk.run(shell(f"pytest -q {test}"), told, took=random.uniform(5, 40))


def flaky_test(talk):
    """A test is run several times to see how often it fails; then the cause is looked for and it is run again."""
    random = talk.random
    test = f"tests/test_{random.choice(NOUNS)}_queue.py"
    talk.user(f"{test} fails now and then in CI. Find out why.")
    for _ in range(random.randrange(4, 7)):
        for _ in range(random.randrange(4, 8)):
            end = "1 failed, 8 passed" if random.random() < 0.25 else "9 passed"
            talk.run(bash(f"pytest -q {test}"), f"{end} in {random.uniform(2, 4):.2f}s", took=random.uniform(3, 9))
        for _ in range(random.randrange(4, 8)):
            tool, output = random.choice(CLAUDE)(random)
            talk.run(tool, output, text=says(random))
        path = f"/repo/{place_of(random)}"
        talk.run(read(path), numbered(code(random, 90)))
        talk.run(edit(path, *swapped(random)), edited(path))
    for _ in range(8):
        talk.run(bash(f"pytest -q {test}"), "9 passed", took=random.uniform(3, 9))


def bisecting(talk):
    """The same test at one commit after the other; the outputs of the good ones, and of the bad ones, are the same."""
    random = talk.random
    good, bad = log(random, 45, "build"), log(random, 60, "build")
    talk.user("Some commit of the last months made the import slow. Find it; several might be to blame.")
    for _ in range(random.randrange(26, 36)):
        key = f"{random.getrandbits(28):07x}"
        talk.run(bash(f"git checkout -q {key}"), f"HEAD is now at {key} {sentence(random)[:40]}")
        talk.run(bash("make bench"), random.choice([good, bad]), took=random.uniform(8, 60))
        if random.random() < 0.4:
            talk.run(bash(f"git show --stat {key}"), hits(random, 20), text=says(random))


def making_it_faster(talk):
    """A source is read again between changes elsewhere, and the benchmark says something else each time."""
    random = talk.random
    core, text = f"/repo/{place_of(random, 'go')}", numbered(code(random, 80))
    talk.user("Halve the time of the hot path. Measure after every change.")
    for _ in range(some(random)):
        other = f"/repo/{place_of(random, 'go')}"
        if random.random() < 0.8:
            talk.run(read(core), text, text=says(random))
        talk.run(read(other), numbered(source(random)))
        talk.run(edit(other, *swapped(random)), edited(other))
        told = joined(
            f"Benchmark{word.title()} {random.uniform(90, 9_000):.1f} ns/op" for word in random.sample(NOUNS, 9)
        )
        talk.run(bash("go test -bench . ./core"), told, took=random.uniform(9, 30))


# Time passes, or the world is not the same.


def rollout_is_watched(talk):
    """A deployment: the status is asked for every minute, and says for long that nothing is new."""
    random = talk.random
    talk.user("Roll out the new release to all regions, one after the other, and tell me when it is done.")
    for place in random.sample(PLACES, random.randrange(5, 8)):
        tool, output = cloud_object(random)
        talk.run(tool, output)
        talk.run(("run_command", {"command": f"kubectl --context {place} apply -f release.yaml"}), "configured")
        status = f"kubectl --context {place} get pods -o wide"
        waiting = rows(random, random.randrange(14, 30), ("name", "zone", "kind", "age"))
        for _ in range(random.randrange(5, 10)):
            talk.run(("run_command", {"command": f"sleep {random.choice([30, 60])}; {status}"}), waiting, took=45.0)
        talk.run(("run_command", {"command": status}), rows(random, 20, ("name", "zone", "kind", "age")))
        tool, output = cloud_log(random)
        talk.run(tool, output)


def training_is_watched(talk):
    """A job in a queue: every few minutes the same call, with pauses between that a tool makes."""
    random = talk.random
    key = f"job-{random.getrandbits(32):08x}"
    talk.user(f"Watch {key} and write the report when it has finished. Check every five minutes.")
    waiting = manifest(random)
    for place in range(random.randrange(24, 36)):
        talk.run(("sleep", {"seconds": 300}), "Slept for 300 seconds.", took=300.0)
        told = waiting if random.random() < 0.7 else changed(random, waiting, 2)
        talk.run(("get_job", {"job_id": key}), told, text=says(random, 0.1))
        if place % 6 == 5:
            talk.run(python("print(losses.tail(40))"), frame(random))


def infrastructure_after_each_change(talk):
    """After each change the plan is made again; it says often that nothing is left to do."""
    random = talk.random
    clean = (
        f"{settings(random, random.randrange(40, 90))}\n\nNo changes. Your infrastructure matches the configuration."
    )
    talk.user("Import the hand-made resources into Terraform, one by one. The plan must be clean after each.")
    for _ in range(some(random)):
        name = f"{random.choice(NOUNS)}_{random.choice(NOUNS)}_{random.randrange(99)}"
        talk.run(bash(f"aws resourcegroupstaggingapi get-resources --tag-filters Key={name}"), record(random, tag=name))
        path = f"/infra/{name}.tf"
        wrote(talk, path, settings(random, 12))
        talk.run(bash(f"terraform import module.{name} {random.getrandbits(40):010x}"), "Import successful!", took=8.0)
        plan = clean if random.random() < 0.75 else changed(random, clean, 5)
        talk.run(bash("terraform plan -no-color"), plan, took=random.uniform(5, 25), text=says(random))


def inbox_is_emptied(talk):
    """The inbox and the rules are looked at again for each mail that is answered or put away."""
    random = talk.random
    rules, week = prose(random, random.randrange(15, 30)), sheet(random)
    left = [f"{random.getrandbits(32):08x} {named(random)}: {sentence(random)}" for _ in range(some(random))]
    talk.user("Empty my inbox by the rules in my handbook; invitations only where the calendar is free.")
    while left:
        if random.random() < 0.5:
            talk.run(("list_inbox", {"limit": 50}), joined(left))
        one = left.pop(0).split()[0]
        again = [(("get_handbook", {"section": "mail"}), rules), (("list_events", {"from": "monday"}), week)]
        talk.together([*random.sample(again, random.choice([1, 2])), (("read_email", {"id": one}), mail(random))])
        if random.random() < 0.5:
            talk.run(("send_reply", {"id": one, "body": sentence(random)}), json.dumps({"status": "sent"}))
        else:
            folder = random.choice(NOUNS)
            talk.run(("move_email", {"id": one, "folder": folder}), json.dumps({"moved": one, "to": folder}))


def forms_in_the_browser(talk):
    """From the list to a thing, its form is filled in and sent, and back to the list, which looks the same."""
    random = talk.random
    home, listing = "https://intranet.example/assets", snapshot(random, random.randrange(45, 90), "Assets")
    talk.user("Enter the serial numbers of the delivery for all assets in the list.")
    for place in range(some(random)):
        talk.run(("browser_navigate", {"url": home}), listing, text=says(random))
        talk.run(
            ("browser_click", {"ref": f"e{place + 10}"}), snapshot(random, random.randrange(20, 40), f"Asset {place}")
        )
        typed = {"ref": f"e{random.randrange(10, 40)}", "text": f"{random.getrandbits(48):012X}", "submit": True}
        talk.run(("browser_type", typed), f"Saved asset {place} at {random.randrange(24):02}:{random.randrange(60):02}")


# The user says something between.


def customer_asks_on(talk):
    """The same order is looked up for each new question of the customer."""
    random = talk.random
    key = f"#W{random.randrange(10**6, 10**7)}"
    order = record(random, order_id=key)
    talk.user(f"Hello, this is {named(random)}, it's about order {key}.")
    for _ in range(some(random)):
        talk.run(("get_order_details", {"order_id": key}), order)
        if random.random() < 0.8:
            tool, output = shop_product(random)
            talk.run(tool, output)
        talk.tell(f"{sentence(random)} Is there anything else?")
        talk.user(f"Yes: {sentence(random)} Can I {random.choice(VERBS)} the {random.choice(NOUNS)}?")
    talk.run(("get_order_details", {"order_id": key}), order)
    for _ in range(9):
        tool, output = shop_product(random)
        talk.run(tool, output)


def house_through_the_day(talk):
    """Somebody at home asks for this and that; each time the states are read first."""
    random = talk.random
    rooms = random.sample(ROOMS, 3)
    known = {room: entities(random) for room in rooms}
    for _ in range(random.randrange(26, 36)):
        room = random.choice(rooms)
        asked = random.choice(["Is it warm in the {r}?", "Turn the light in the {r} off.", "Anything on in the {r}?"])
        talk.user(asked.format(r=room), after=random.uniform(60, 3_000))
        talk.run(("get_area_entities", {"area_id": room}), known[room])
        if "off" in asked:
            known[room] = entities(random)
            talk.run(("call_service", {"service": "light.turn_off", "area_id": room}), "[]")
        else:
            tool, output = random.choice(HOME)(random)
            talk.run(tool, output)
        talk.tell(sentence(random))


# Much is read, and most of it is new.


def long_log_by_pages(talk):
    """A long result page by page; now and then the first page, with its head, is looked at again."""
    random = talk.random
    key, first = f"export-{random.randrange(9_999)}", rows(random, 40)
    talk.user(f"Go through {key} to its end and list all rows that look wrong.")
    cursor = None
    for place in range(random.randrange(46, 60)):
        value = {"export": key} if cursor is None else {"export": key, "cursor": cursor}
        cursor = f"{random.getrandbits(40):010x}"
        shown = first if place == 0 else rows(random, random.randrange(25, 50))
        talk.run(("read_export", value), f"{shown}\nnext_cursor: {cursor}", text=says(random, 0.1))
        if place % 9 == 8:
            talk.run(("read_export", {"export": key, "limit": 40}), first)
            talk.run(("report_row", {"export": key, "row": random.randrange(9_999), "why": sentence(random)}), "noted")


def notes_while_reading(talk):
    """Findings are written down while always other things are read."""
    random = talk.random
    talk.user(f"Survey how {random.choice(PLACES)} and its neighbours regulate the {random.choice(NOUNS)}.")
    book = []
    for _ in range(some(random)):
        for _ in range(random.choice([1, 1, 2])):
            tool, output = random.choice(WEB)(random)
            talk.run(tool, output, text=says(random))
        book.append(f"- {sentence(random)}")
        talk.run(("write_note", {"name": "findings", "text": book[-1]}), "Saved.")
        if random.random() < 0.3:
            talk.run(("read_note", {"name": "findings"}), joined(book))
    while len(book) < 30:
        tool, output = web_fetch(random)
        talk.run(tool, output)
        book.append(f"- {sentence(random)}")


def overview_then_parts(talk):
    """An overview, a part, what the part says goes into a summary, the overview again, the next part."""
    random = talk.random
    overview = hits(random, random.randrange(30, 60))
    tool = random.choice(
        [("list_documents", {"case": "A-17"}), bash("ls -R docs"), ("get_outline", {"book": "manual"})]
    )
    talk.user("Make an abstract of each chapter and put them together in one file.")
    for place in range(some(random)):
        talk.run(tool, overview, text=says(random))
        if random.random() < 0.5:
            part, output = medical_chart(random)
        else:
            part, output = random.choice([claude_reads, claude_greps, legal_document])(random)
        talk.run(part, output)
        wrote(talk, f"/out/abstracts/{place:02}.md", f"{sentence(random)}\n{sentence(random)}\n{ticket(random)[:300]}")


FIFTH_HONEST = (
    policy_for_each_customer,
    style_guide_for_each_page,
    schema_for_each_question,
    protocol_for_each_patient,
    playbook_for_each_contract,
    files_after_an_example,
    mapping_for_each_row,
    claims_against_a_paper,
    questions_from_a_questionnaire,
    edits_of_one_file,
    one_test_and_many_causes,
    flaky_test,
    bisecting,
    making_it_faster,
    rollout_is_watched,
    training_is_watched,
    infrastructure_after_each_change,
    inbox_is_emptied,
    forms_in_the_browser,
    customer_asks_on,
    house_through_the_day,
    long_log_by_pages,
    notes_while_reading,
    overview_then_parts,
)
