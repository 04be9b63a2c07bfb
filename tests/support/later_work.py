"""Later honest sessions that work: they edit, test, compare, look up, and get on."""

from tests.support.later_talk import (
    PLACES,
    bash,
    changed,
    code,
    edit,
    edited,
    hits,
    joined,
    log,
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
    words,
)


def edits_and_tests_by_turns(talk):
    """The same test command after each edit; the failures become fewer."""
    talk.user("Make the tests of the ledger pass.")
    path = "/workspace/app/ledger.py"
    talk.run(read(path), code(talk.random, 120))
    failures = log(talk.random, 70, "pytest").split("\n")
    for place in range(8):
        talk.run(edit(path, *swapped(talk.random)), edited(path))
        shown = joined([*failures[place * 6 :], f"{12 - place} failed"])
        talk.run(bash("python -m pytest tests/test_ledger.py -q"), shown, took=talk.random.uniform(3, 20))
    talk.run(bash("python -m pytest tests/test_ledger.py -q"), "41 passed", took=6.0)
    talk.tell("They pass.")


def tests_edits_that_change_nothing_yet(talk):
    """Three files must be edited before the failure, which is long, becomes another."""
    talk.user("Find out why the import fails and repair it.")
    failure = log(talk.random, 65, "pytest")
    for place in range(talk.random.randrange(6, 9)):
        path = f"src/{words(talk.random)[0]}.py"
        talk.run(patch(path, *swapped(talk.random)), "Done!")
        failure = log(talk.random, 65, "pytest") if place % 3 == 2 else failure
        talk.run(shell("python -m pytest -x 2>&1 | tail -80"), failure, took=talk.random.uniform(4, 9))
    talk.tell("The import works.")


def bisects(talk):
    """The same script at another commit each time."""
    talk.user("Since when does the export fail? The tag v3.1 is good.")
    talk.run(bash("git bisect start HEAD v3.1"), "Bisecting: 211 revisions left to test after this")
    good, bad = log(talk.random, 55, "export"), log(talk.random, 55, "export")
    for _ in range(8):
        verdict = talk.random.choice(["good", "bad"])
        output = good if verdict == "good" else bad
        talk.run(bash("./scripts/export.sh fixtures/large.csv"), output, took=talk.random.uniform(4, 12))
        commit = f"{talk.random.getrandbits(40):010x}"
        talk.run(bash(f"git bisect {verdict}"), f"[{commit}] {' '.join(words(talk.random, 4))}", took=0.6)
    talk.tell("The first bad commit is found.")


def reads_a_file_after_each_edit(talk):
    """Codex looks at what it has written."""
    talk.user("Turn the callbacks of the scheduler into coroutines.")
    source = code(talk.random, 170)
    for _ in range(talk.random.randrange(7, 10)):
        talk.run(shell("sed -n '1,200p' src/scheduler.py"), source)
        talk.run(patch("src/scheduler.py", *swapped(talk.random)), "Done!")
        source = changed(talk.random, source, 3)
    talk.tell("All callbacks are coroutines.")


def reads_before_each_of_many_edits(talk):
    """opencode wants a file to be read before it is edited; three large files are edited by turns."""
    talk.user("Rename the field in the model, the view and the form, one use after the other.")
    files = {f"/workspace/shop/{name}.ts": code(talk.random, 190) for name in ("model", "view", "form")}
    for _ in range(4):
        for path, source in list(files.items()):
            talk.run(("read", {"filePath": path}), source)
            old, new = swapped(talk.random)
            talk.run(("edit", {"filePath": path, "oldString": old, "newString": new}), "Edit applied successfully.")
            files[path] = changed(talk.random, source, 2)
    talk.tell("The field is renamed.")


def looks_up_a_checklist_between_items(talk):
    """A long plan, read before each of its items is done."""
    talk.user("Do the migration as MIGRATION.md says, item by item. Read the item again before you do it.")
    plan = prose(talk.random, 50)
    for item in range(talk.random.randrange(7, 10)):
        talk.run(read("/workspace/MIGRATION.md"), plan, text=f"Item {item + 1}.")
        path = f"/workspace/src/{words(talk.random)[0]}_{item}.py"
        talk.run(read(path), code(talk.random, 60))
        talk.run(edit(path, *swapped(talk.random)), edited(path))
    talk.tell("All items are done.")


def compares_two_large_files(talk):
    """Old and new are read by turns, each time for another question, with an edit after it."""
    talk.user("Port what the old parser does to the new one, feature by feature.")
    old, new = code(talk.random, 220), code(talk.random, 200)
    for _ in range(talk.random.randrange(5, 8)):
        feature = " of ".join(words(talk.random))
        talk.run(read("/workspace/legacy/parser.py"), old, text=f"How does the old one treat the {feature}?")
        talk.run(read("/workspace/src/parser.py"), new, text="And the new one?")
        talk.run(edit("/workspace/src/parser.py", *swapped(talk.random)), edited("/workspace/src/parser.py"))
        new = changed(talk.random, new, 5)
    talk.tell("All features are ported.")


def works_in_a_repl(talk):
    """After each step the head of the frame is looked at."""
    talk.user("Clean the export of the meters.")
    frame = rows(talk.random, 70)
    for _ in range(talk.random.randrange(8, 12)):
        one, two = words(talk.random)
        talk.run(python(f"df[{one!r}] = df[{two!r}].fillna({talk.random.randrange(9)})"), "")
        frame = changed(talk.random, frame, 35)
        talk.run(python("print(df.head(70).to_string())"), frame)
    talk.tell("It is clean.")


def reads_many_files_with_one_header(talk):
    """Each file begins with the same long licence."""
    talk.user("List the public functions of each module.")
    licence = prose(talk.random, 22)
    for place in range(talk.random.randrange(9, 13)):
        name = f"{words(talk.random)[0]}_{place}"
        talk.run(read(f"/workspace/lib/{name}.py"), joined([licence, code(talk.random, 45)]))
    talk.tell("Here is the list.")


def fills_in_a_form(talk):
    """A browser agent sees the whole page after each field."""
    talk.user("Apply for the permit with the data in my profile.")
    page = snapshot(talk.random, 75, "Permit")
    for place in range(talk.random.randrange(8, 12)):
        page = changed(talk.random, page)
        arguments = {"element": f"{words(talk.random)[0]} field", "ref": f"e{place + 10}", "text": str(place * 37)}
        talk.run(("browser_type", arguments), "Typed.")
        talk.run(("browser_snapshot", {}), page)
    talk.tell("The form is filled in.")


def plans_after_each_change(talk):
    """Terraform: the plan is long, and shrinks by what was repaired."""
    talk.user("Bring the network module in line with what runs.")
    drift = settings(talk.random, 170).split("\n")
    for place in range(talk.random.randrange(6, 9)):
        talk.run(bash("terraform plan -no-color"), joined(drift[place * 9 :]), took=talk.random.uniform(8, 20))
        path = "/workspace/infra/network.tf"
        talk.run(edit(path, *swapped(talk.random)), edited(path))
    talk.tell("The plan is empty.")


def works_off_a_linter(talk):
    """The list of findings after each edit."""
    talk.user("Repair what the linter finds, one rule at a time.")
    found = hits(talk.random, 95).split("\n")
    while len(found) > 8:
        talk.run(shell("ruff check src --output-format concise"), joined(found), took=0.4)
        talk.run(patch(found[0].split(":")[0], *swapped(talk.random)), "Done!")
        found = found[talk.random.randrange(6, 12) :]
    talk.tell("It is clean.")


def reads_its_notes_between_sources(talk):
    """A research agent adds to its notes after each source, and reads them before the next."""
    talk.user("Write an overview of tram systems, with sources.")
    notes = prose(talk.random, 15)
    for place in range(talk.random.randrange(6, 9)):
        town = talk.random.choice(PLACES)
        page = prose(talk.random, 45)
        talk.run(("WebFetch", {"url": f"https://trams.example.org/{town}/{place}", "prompt": "Key facts"}), page)
        talk.run(("read_file", {"path": "notes.md"}), notes)
        more = prose(talk.random, 4)
        talk.run(("append_file", {"path": "notes.md", "content": more}), "ok")
        notes = joined([notes, more])
    talk.tell("The overview stands in notes.md.")


def asks_the_same_of_many_tables(talk):
    """One question to each table, and the schema looked up now and then."""
    talk.user("In which tables are there rows without an owner?")
    schema = settings(talk.random, 140)
    for place in range(talk.random.randrange(9, 12)):
        if place % 3 == 0:
            talk.run(("describe_schema", {"schema": "public"}), schema)
        table = f"{words(talk.random)[0]}_{place}"
        talk.run(sql(f"SELECT * FROM {table} WHERE owner_id IS NULL LIMIT 50"), rows(talk.random, 45))  # noqa: S608
    talk.tell("In all but two.")


def answers_letters_from_a_template(talk):
    """The template is fetched for each letter that is answered."""
    talk.user("Answer every open letter with the fitting template.")
    template = prose(talk.random, 50)
    for place in range(talk.random.randrange(7, 10)):
        talk.run(("gmail_read", {"message_id": f"18f{place:05}"}), prose(talk.random, 20))
        talk.run(("get_template", {"name": "complaint"}), template)
        arguments = {"message_id": f"18f{place:05}", "body": f"Dear {words(talk.random)[0]}, you are right."}
        talk.run(("gmail_reply", arguments), "sent")
    talk.tell("All are answered.")


def translates_with_a_glossary(talk):
    """The glossary is read before each chapter, and a chapter is written after it."""
    talk.user("Translate the handbook. Keep to the glossary.")
    glossary = settings(talk.random, 150)
    for chapter in range(1, talk.random.randrange(7, 10)):
        talk.run(read("/workspace/book/glossary.yaml"), glossary)
        talk.run(read(f"/workspace/book/en/{chapter:02}.md"), prose(talk.random, 35))
        arguments = {"file_path": f"/workspace/book/nl/{chapter:02}.md", "content": prose(talk.random, 10)}
        talk.run(("Write", arguments), "File created successfully.")
    talk.tell("It is translated.")


def makes_commits_of_a_large_change(talk):
    """The diff is looked at before each commit, which takes a part of it away."""
    talk.user("Split what I have changed into small commits.")
    diff = code(talk.random, 230).split("\n")
    for place in range(talk.random.randrange(6, 9)):
        talk.run(bash("git diff"), joined(diff[place * 18 :]))
        name = words(talk.random)[0]
        talk.run(bash(f"git add src/{name}.py && git commit -m 'Split the {name}'"), f"[main {place}] Split")
    talk.tell("Done.")


def draws_until_it_looks_right(talk):
    """A chart is drawn again with another size; the table beneath it is printed each time."""
    talk.user("Draw the chart so that no label is cut off.")
    table = rows(talk.random, 75)
    for _ in range(talk.random.randrange(9, 13)):
        width = talk.random.randrange(6, 30)
        talk.run(python(f"fig = draw(df, width={width}); fig.savefig('chart.png'); print(df)"), table, took=2.5)
        talk.run(("view_image", {"path": "chart.png"}), f"A chart, {width} wide. {prose(talk.random, 3)}")
    talk.tell("Now it fits.")


LATER_WORK = [
    edits_and_tests_by_turns,
    tests_edits_that_change_nothing_yet,
    bisects,
    reads_a_file_after_each_edit,
    reads_before_each_of_many_edits,
    looks_up_a_checklist_between_items,
    compares_two_large_files,
    works_in_a_repl,
    reads_many_files_with_one_header,
    fills_in_a_form,
    plans_after_each_change,
    works_off_a_linter,
    reads_its_notes_between_sources,
    asks_the_same_of_many_tables,
    answers_letters_from_a_template,
    translates_with_a_glossary,
    makes_commits_of_a_large_change,
    draws_until_it_looks_right,
]
