"""Thirty sorts of honest sessions that look like repetition in places: each brings something new, or does something."""

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
    "Next: {about}.",
    "Now {about}.",
    "I look at {about}.",
    "{about}, then the next one.",
    "Checking {about}.",
    "That worked. On to {about}.",
    "Let me see {about} again before I go on.",
    "As before, with {about}.",
)
LANGUAGES = "de", "fr", "it", "es", "pt", "nl", "sv", "da", "fi", "pl", "cs", "hu", "ro", "el", "tr"


def voice(talk):
    """Make calls as this agent does: without a word, with one at times, or with one each time."""
    share = talk.random.choice([0.0, 0.3, 0.3, 0.9])
    aside = talk.random.choice([0.0, 0.0, 0.0, 0.07])

    def run(tool, output, about="the next step", took=None):
        if talk.random.random() < aside:
            talk.run(("think", {"thought": texts.sentence(talk.random)}), "Your thought has been logged.")
        says = talk.random.random() < share
        talk.run(tool, output, took=took, text=talk.random.choice(REMARKS).format(about=about) if says else None)

    return run


def several(talk, run, pairs, *, at_once):
    """Make calls that belong together, in one reply or one after the other."""
    if at_once:
        talk.together(pairs)
        return
    for tool, output in pairs:
        run(tool, output)


def passed(random, size, failed=0):
    return texts.ended(random, texts.report_of_tests(random, size, failed), failed, size - failed)


# Coding agents


def edit_read_test_loop(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random, "py")
    files = [list(project.file(50, 110)) for _ in range(random.randint(2, 4))]
    ask(talk, f"Take the {random.choice(PARTS)} out of {len(files)} modules. Run the tests after each step.")
    for _ in range(random.randint(11, 14)):
        file = random.choice(files)
        path, text = file
        run(kit.look(path), kit.shown(path, text), path)
        old, new, file[1] = texts.line_changed(random, text)
        run(kit.change(path, old, new), f"The file {path} has been updated.")
        if random.random() < 0.6:
            run(kit.look(path), kit.shown(path, file[1]), "the changed file")
        run(kit.run("pytest -v tests/unit"), passed(random, random.randint(20, 40), random.randrange(3)), "the tests")
    talk.tell("All tests pass, and the modules no longer need it.")


def specification_read_for_each_section(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    rules = texts.rule_book(random, random.randint(70, 130), "What the manual must say")
    path = project.path("md")
    ask(talk, f"Write the manual in ten sections. The rules are in {path}; keep to their wording.")
    sections = random.sample(PARTS, random.randint(10, 14))
    for place, name in enumerate(sections, 1):
        run(kit.look(path), kit.shown(path, rules), f"the rules for section {place}")
        run(kit.run(f"grep -rn {name} src"), texts.found_lines(random, random.randint(12, 30)), name)
        body = lines_of([f"# {place}. {name.title()}", *(texts.sentence(random) for _ in range(random.randint(8, 20)))])
        run(("write_file", {"path": f"manual/{place:02}-{name}.md", "content": body}), "File written.", name)
        if random.random() < 0.4:
            run(
                kit.run(f"markdownlint manual/{place:02}-{name}.md"),
                f"Checked 1 file, {len(body)} characters: no errors",
            )
    talk.tell(f"The manual has {len(sections)} sections.")


def comparison_of_two_files_by_turns(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    old_path, new_path = project.path(), project.path()
    size = random.randint(900, 1_150)
    old = project.source(size).split("\n")
    new = [line if random.random() < 0.93 else f"{line}  // {texts.sentence(random)}" for line in old]
    ask(talk, f"Bring over to {old_path} whatever {new_path} does better.")
    step = random.choice([50, 60, 70])
    at_once = random.random() < 0.4
    for first in range(0, size, step):
        parts = [
            (kit.run(f"sed -n '{first + 1},{first + step}p' {path}"), lines_of(text[first : first + step]))
            for path, text in ((old_path, old), (new_path, new))
        ]
        several(talk, run, parts, at_once=at_once)
        for place in range(first, min(first + step, size)):
            if old[place] != new[place] and random.random() < 0.2:
                run(kit.change(old_path, old[place], new[place]), "Updated.", f"line {place}")
                break
    talk.tell("Both files now do the same.")


def names_changed_in_files_that_look_alike(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    old, new = random.sample(ACTIONS, 2)
    base = project.source(random.randint(55, 80))
    paths = [project.path() for _ in range(random.randint(14, 18))]
    ask(talk, f"Rename {old}_all to {new}_all in every adapter.")
    left = [f"{path}:{random.randrange(20, 60)}:    {old}_all({place})" for place, path in enumerate(paths)]
    for place, path in enumerate(paths):
        if place % 3 == 0:
            run(kit.run(f"grep -rn {old}_all src"), lines_of(left[place:]), "what is left")
        text = f"{base}\n# adapter of {path}\n{old}_all({place})\n"
        run(kit.look(path), kit.shown(path, text), path)
        run(kit.change(path, f"{old}_all({place})", f"{new}_all({place})"), f"Changed 1 line in {path}.")
        if random.random() < 0.3:
            run(kit.run(f"git diff --stat {path}"), f" {path} | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)")
    run(kit.run(f"grep -rn {old}_all src; echo exit $?"), "exit 1")
    run(kit.run("pytest -v"), passed(random, 60), "the tests")
    talk.tell("None is left.")


def flaky_test_retried(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random, "py")
    path, text = project.file(70, 120)
    name = f"tests/test_{random.choice(PARTS)}.py::test_{random.choice(ACTIONS)}"
    ask(talk, f"{name} fails now and then. Mend it.")
    for _ in range(random.randint(4, 6)):
        for _ in range(random.randint(3, 6)):
            seed = random.randrange(10**9)
            failed = int(random.random() < 0.3)
            log = texts.service_log(random, random.randint(12, 30), "pytest")
            output = f"Using --random-order-seed={seed}\n{log}\n{passed(random, 1, failed)}"
            run(kit.run(f"pytest -x {name} -p random_order"), output, "another try", took=random.uniform(4, 20))
        run(kit.look(path), kit.shown(path, text), "the test's code")
        old, new, text = texts.line_changed(random, text)
        run(kit.change(path, old, new), "The file has been updated.")
    run(kit.run(f"pytest --count 200 {name}"), f"200 passed in {random.randrange(60, 200)}s", took=120)
    talk.tell("Two hundred runs in a row are green.")


def bisection_with_the_same_test(talk):
    random, run = talk.random, voice(talk)
    kit = kit_of(random)
    name = f"tests/test_{random.choice(PARTS)}.py"
    size = random.randint(18, 30)
    good, bad = (texts.report_of_tests(random, size, failed) for failed in (0, 1))
    ask(talk, f"Since which commit does {name} fail?")
    run(kit.run("git log --oneline -n 60"), texts.commit_list(random, 60), "the commits")
    run(kit.run("git bisect start HEAD v2.0"), "status: waiting for both good and bad commits")
    for left in range(random.randint(11, 13), 0, -1):
        works = random.random() < 0.5
        report = texts.ended(random, good if works else bad, int(not works), size - int(not works))
        run(kit.run(f"pytest -v {name}"), report, "the test at this commit", took=random.uniform(3, 15))
        if random.random() < 0.5:
            path = f"src/{random.choice(PARTS)}.py"
            run(
                kit.run(f"git show HEAD -- {path}"), texts.diff_text(random, path, random.randint(25, 50)), "the commit"
            )
        answer = f"Bisecting: {2**left} revisions left to test\n[{key(random, 40)}] {texts.sentence(random)}"
        run(kit.run(f"git bisect {'good' if works else 'bad'}"), answer)
    run(kit.run("git bisect log"), texts.commit_list(random, 14))
    talk.tell(f"It was {key(random, 10)}.")


def benchmark_after_each_setting(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    path, text = project.path("toml"), texts.settings_file(random, random.randint(60, 90))
    names = [f"{random.choice(ACTIONS)}_{random.choice(PARTS)}" for _ in range(random.randint(28, 40))]
    ask(talk, f"Tune {path} until the benchmark is at least a third faster.")
    for _ in range(random.randint(13, 16)):
        run(kit.look(path), kit.shown(path, text), "the settings")
        old, new, text = texts.setting_changed(random, text)
        run(kit.change(path, old, new), "1 replacement made.", "one more setting")
        table = [{"benchmark": name, "mean_ms": f"{random.uniform(1, 90):.3f}"} for name in names]
        run(kit.run("make bench"), texts.psql_table(table), "the benchmark", took=random.uniform(20, 90))
    talk.tell("It is 36% faster.")


def review_with_files_opened_again(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    guide = texts.rule_book(random, random.randint(40, 70), "How we review")
    number = random.randrange(100, 9_000)
    ask(talk, f"Review pull request {number} by our guide (docs/review.md).")
    run(("mcp__github__get_pull_request", {"number": number}), dumped(texts.issue_record(random, number, 4)))
    for place in range(random.randint(11, 13)):
        path, text = project.file(40, 80)
        if place % 4 == 0:
            run(kit.look("docs/review.md"), kit.shown("docs/review.md", guide), "the guide")
        run(kit.run(f"gh pr diff {number} -- {path}"), texts.diff_text(random, path, random.randint(30, 60)), path)
        run(kit.look(path), kit.shown(path, text), "the whole file")
        comment = {"number": number, "path": path, "body": texts.sentences(random, 2)}
        run(("mcp__github__add_comment", comment), dumped({"id": random.randrange(10**8), "path": path}), "a comment")
        if random.random() < 0.25:
            run(kit.look(path), kit.shown(path, text), "the same file once more")
            comment = {"number": number, "path": path, "body": texts.sentences(random, 1)}
            run(("mcp__github__add_comment", comment), dumped({"id": random.randrange(10**8), "path": path}))
    talk.tell("I have asked for changes.")


def translations_from_one_source(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    path = project.path("json")
    english = {f"{random.choice(ACTIONS)}.{random.choice(PARTS)}": texts.sentence(random) for _ in range(60)}
    languages = random.sample(LANGUAGES, random.randint(12, 14))
    ask(talk, f"Translate {path} into {', '.join(languages)}.")
    for language in languages:
        run(kit.look(path), kit.shown(path, dumped(english)), "the English text")
        content = dumped({name: f"{language}: {texts.sentence(random)}" for name in list(english)[:25]})
        written = {"path": path.replace(".json", f".{language}.json"), "content": content}
        run(("write_file", written), f"Wrote {len(content)} bytes.", language)
        run(kit.run(f"npm run i18n:check -- {language}"), f"{language}: {len(english)} keys, 0 missing", "the check")
    talk.tell("All languages are there.")


def build_polled_until_done(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    jobs = [f"{random.choice(ACTIONS)}-{random.choice(PARTS)}" for _ in range(random.randint(14, 19))]
    ask(talk, "Push the branch and get the build green.")
    for _ in range(3):
        number = random.randrange(10**9, 10**10)
        run(kit.run("git push"), f"To github.com:acme/app.git\n   {key(random, 7)}..{key(random, 7)}  main -> main")
        done = 0
        while done < len(jobs):
            states = [f"{'completed' if place < done else 'in_progress':<12} {job}" for place, job in enumerate(jobs)]
            run(kit.run(f"sleep 60; gh run view {number}"), lines_of(states), "the build", took=random.uniform(60, 75))
            done += random.choice([0, 0, 2, 3, 5])
        log = texts.service_log(random, random.randint(90, 140), random.choice(jobs))
        run(kit.run(f"gh run view {number} --log-failed"), log, "the log")
        path, text = project.file(60, 100)
        run(kit.look(path), kit.shown(path, text), path)
        old, new, _ = texts.line_changed(random, text)
        run(kit.change(path, old, new), "The file has been updated.")
    talk.tell("The last build is green.")


def subagents_with_like_prompts(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    modules = [project.path() for _ in range(random.randint(14, 18))]
    path = project.path("md")
    ticks = dict.fromkeys(modules, " ")
    ask(talk, "Have every module checked for wrong locks, one subagent each, and keep a plan.")
    for module in modules:
        board = lines_of(f"- [{tick}] {name}" for name, tick in ticks.items())
        run(kit.look(path), kit.shown(path, board), "the plan")
        prompt = f"Check {module} for locks that are taken twice or never released. Report each with its line."
        report = lines_of(
            f"- line {random.randrange(400)}: {texts.sentence(random)}" for _ in range(random.randint(12, 30))
        )
        run(("Task", {"subagent_type": "reviewer", "prompt": prompt}), report, module, took=random.uniform(20, 90))
        ticks[module] = "x"
        run(kit.change(path, f"- [ ] {module}", f"- [x] {module}"), "The plan has been updated.")
    talk.tell("All modules have been checked.")


def checklist_ticked_step_by_step(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    path = project.path("md")
    steps = [texts.sentence(random) for _ in range(random.randint(14, 18))]
    ticks = [" "] * len(steps)
    ask(talk, f"Work through the release checklist in {path}, in order, ticking what is done.")
    for place, step in enumerate(steps):
        board = lines_of(f"- [{tick}] {name}" for name, tick in zip(steps, ticks, strict=True))
        run(kit.look(path), kit.shown(path, board), "the checklist")
        output = texts.service_log(random, random.randint(15, 40), "release")
        run(kit.run(f"make {random.choice(ACTIONS)}-{random.choice(PARTS)}"), output, f"step {place + 1}", took=8)
        ticks[place] = "x"
        run(kit.change(path, f"- [ ] {step}", f"- [x] {step}"), "OK, one line replaced.")
    talk.tell("Everything is ticked.")


# Operations


def log_read_page_by_page(talk):
    random, run = talk.random, voice(talk)
    kit = kit_of(random)
    service, size = random.choice(PARTS), random.choice([30, 40, 50])
    pages = random.randint(40, 50)
    log = texts.service_log(random, size * pages, service).split("\n")
    path = f"/var/log/{service}/{service}.log"
    ask(talk, f"Read {path} to its end and tell me about everything odd.")
    for place in range(pages):
        first = place * size
        page = lines_of(log[first : first + size])
        run(kit.run(f"sed -n '{first + 1},{first + size}p' {path}"), page, f"lines {first + 1} and following")
        if random.random() < 0.08:
            run(kit.run(f"grep -c ERROR {path}"), str(random.randrange(900)))
    talk.tell(texts.sentences(random, 3))


def deployment_verified_on_twelve_hosts(talk):
    random, run = talk.random, voice(talk)
    kit = kit_of(random)
    service, build = random.choice(PARTS), key(random, 7)
    settings = texts.settings_file(random, random.randint(50, 70))
    hosts = [f"{random.choice(CITIES).lower()}-{place:02}" for place in range(1, random.randint(13, 15))]
    ask(talk, f"Build {build} of {service} went out to {len(hosts)} hosts. Verify every one of them.")
    at_once = random.random() < 0.4
    for host in hosts:
        status = (
            f"{service}.service - active (running) since {texts.clock(random)}; Main PID: {random.randrange(60_000)}"
        )
        log = texts.service_log(random, random.randint(15, 25), service)
        checks = [
            (kit.run(f"ssh {host} systemctl status {service}"), f"{status}\n{log}"),
            (kit.run(f"ssh {host} cat /etc/{service}.conf"), settings),
            (kit.run(f"curl -s http://{host}:8080/health"), dumped({"status": "ok", "build": build, "host": host})),
        ]
        several(talk, run, checks, at_once=at_once)
        if random.random() < 0.3:
            run(
                kit.run(f"ssh {host} df -h /"), f"/dev/sda1  40G  {random.randrange(5, 39)}G  {random.randrange(90)}% /"
            )
    talk.tell("All hosts run the new build.")


def queue_watched(talk):
    random, run = talk.random, voice(talk)
    kit = kit_of(random)
    queues = [f"{random.choice(ACTIONS)}.{random.choice(PARTS)}.{place}" for place in range(random.randint(18, 30))]
    depths = {queue: random.randrange(40) for queue in queues}
    ask(talk, "Watch the queues for the next hour or two. Tell me when one goes over 500.")
    for _ in range(random.randint(42, 52)):
        if random.random() < 0.5:
            depths[random.choice(queues)] += random.randrange(1, 200)
        table = lines_of([f"{'name':<40} messages", *(f"{queue:<40} {depth}" for queue, depth in depths.items())])
        run(
            kit.run("sleep 120; rabbitmqctl list_queues name messages"),
            table,
            "the queues",
            took=random.uniform(120, 130),
        )
    talk.tell("None went over 500 for long.")


def deployments_scaled_one_by_one(talk):
    random, run = talk.random, voice(talk)
    kit = kit_of(random)
    services = random.sample(PARTS, random.randint(12, 15))
    names = texts.pod_names(random, random.randint(20, 30))
    table = texts.pod_table(random, names)
    minutes = 40
    ask(talk, f"Give {', '.join(services)} one replica more each, and look at the pods each time.")
    for service in services:
        number = random.randint(2, 9)
        run(
            kit.run(f"kubectl scale deploy/{service} --replicas={number}"), f"deployment.apps/{service} scaled", service
        )
        names.append(f"{service}-{key(random, 9)}-{key(random, 5)}")
        _, line = texts.pod_table(random, names[-1:]).split("\n")
        table = f"{table}\n{line}"
        minutes += random.randint(1, 3)
        run(kit.run("kubectl get pods -o wide"), texts.aged(table, minutes), "the pods")
        ready = f'deployment "{service}" successfully rolled out'
        run(kit.run(f"kubectl rollout status deploy/{service}"), ready, took=random.uniform(5, 40))
        if random.random() < 0.4:
            run(kit.run(f"kubectl logs {names[-1]} --tail=20"), texts.service_log(random, 20, service))
    talk.tell("All have been scaled.")


def plans_and_applies(talk):
    random, run = talk.random, voice(talk)
    kit, project = kit_of(random), Project(random)
    path, text = project.path("tfvars"), texts.settings_file(random, random.randint(60, 90))
    text = text.replace("[", "# ").replace("]", "")
    ask(talk, f"Move the networks in {path} over, one at a time, and apply after each.")
    state = [f"aws_{random.choice(PARTS)}.{random.choice(ACTIONS)}_{place}" for place in range(random.randint(28, 40))]
    for _ in range(random.randint(10, 12)):
        run(kit.look(path), kit.shown(path, text), path)
        old, new, text = texts.setting_changed(random, text)
        run(kit.change(path, old, new), "Edit applied.")
        name = random.choice(state)
        planned = lines_of(
            [*(f"{one}: Refreshing state..." for one in state), f"  # {name} will be updated", f"  - {old}"]
        )
        run(kit.run("terraform plan"), f"{planned}\n  + {new}\nPlan: 0 to add, 1 to change, 0 to destroy.", "the plan")
        applied = f"{name}: Modifications complete after {random.randrange(2, 40)}s\nApply complete! 1 changed."
        run(kit.run("terraform apply -auto-approve"), applied, "apply", took=random.uniform(10, 60))
    talk.tell("Everything has been moved.")


# Data


def frame_looked_at_after_each_step(talk):
    random, run = talk.random, voice(talk)
    records = texts.people_records(random, random.randint(25, 45))
    name = f"{random.choice(PARTS)}.csv"
    ask(talk, f"Clean {name}, one step at a time; look at it after each step.")
    run(("python", {"code": f"df = pd.read_csv('{name}')\ndf"}), texts.bare_table(records), name)
    for place in range(random.randint(20, 26)):
        column = random.choice(["name", "city", "status", "balance", "email"])
        value = f"{random.choice(CITIES)} {place}"
        for record in random.sample(records, random.randint(1, 5)):
            record[column] = value
        code = f"df.loc[df.{column}.map({random.choice(ACTIONS)}), '{column}'] = '{value}'"
        run(("python", {"code": code}), "", f"the {column} column")
        run(("python", {"code": "df.head(45)"}), texts.bare_table(records), "the frame")
    talk.tell("It is clean.")


def schema_read_between_queries(talk):
    random, run = talk.random, voice(talk)
    tables = random.sample(PARTS, random.randint(2, 4))
    kinds = ["bigint", "text", "numeric", "timestamptz", "boolean"]
    schemas = {
        table: texts.psql_table(
            [
                {"column": f"{random.choice(ACTIONS)}_{random.choice(PARTS)}", "type": random.choice(kinds)}
                for _ in range(25)
            ]
        )
        for table in tables
    }
    ask(talk, "Answer the twenty questions of the auditors from our database, one by one.")
    for place in range(random.randint(18, 21)):
        table = random.choice(tables)
        if random.random() < 0.7:
            run(("describe_table", {"table": table}), schemas[table], f"the schema of {table}")
        rows = texts.people_records(random, random.randint(8, 25))
        query = texts.select("*", table, f"WHERE {random.choice(ACTIONS)}_{random.choice(PARTS)} > {place}")
        run(("execute_sql", {"query": query}), texts.psql_table(rows), f"question {place + 1}")
        answer = {"question": place + 1, "answer": texts.sentence(random)}
        run(("save_answer", answer), dumped({"saved": place + 1}), "the answer")
    talk.tell("All questions have their answer.")


def paginated_listing(talk):
    random, run = talk.random, voice(talk)
    kind = random.choice(["customers", "charges", "repositories", "files"])
    ask(talk, f"How many of our {kind} come from Lille? The service has no search for it.")
    cursor = None
    for _ in range(random.randint(40, 48)):
        page = texts.people_records(random, random.randint(5, 12))
        following = f"cur_{key(random, 12)}"
        arguments = {"limit": len(page), **({"starting_after": cursor} if cursor else {})}
        run((f"list_{kind}", arguments), dumped({"data": page, "has_more": True, "next": following}), "the next page")
        cursor = following
    talk.tell(f"{random.randrange(2, 60)} of them.")


def invoices_against_one_statement(talk):
    random, run = talk.random, voice(talk)
    lines = [
        {"line": place, "date": texts.day(random), "payer": person(random), "amount": f"{random.uniform(5, 900):.2f}"}
        for place in range(random.randint(45, 60))
    ]
    account = f"DE{random.randrange(10**10)}"
    ask(talk, f"Match the open invoices with the statement of {account}.")
    for place in range(random.randint(16, 20)):
        if place % 3 == 0:
            run(("get_statement", {"account": account}), texts.psql_table(lines), "the statement")
        number = f"INV-{4_000 + place}"
        invoice = texts.order_record(random, number, random.randint(6, 11))
        run(("get_invoice", {"number": number}), dumped(invoice), number)
        match = {"invoice": number, "line": place, "note": texts.sentence(random)}
        run(("book_payment", match), dumped({"booked": number, "booking": random.randrange(10**6)}), "the booking")
    talk.tell("All are booked.")


# Customers


def same_policy_for_many_customers(talk):
    random, run = talk.random, voice(talk)
    policy = texts.rule_book(random, random.randint(40, 70), "Refund policy")
    ask(talk, "Work through the refund requests. Look at the policy for each; it is easily got wrong.")
    for _ in range(random.randint(14, 18)):
        number = random.randrange(10**6)
        run(
            ("get_order", {"order_id": number}),
            dumped(texts.order_record(random, number, random.randint(2, 6))),
            "a request",
        )
        run(("get_policy", {"name": "refunds"}), policy, "the policy")
        verdict = random.choice(["approve", "reject", "partial"])
        decision = {"order_id": number, "decision": verdict, "reason": texts.sentence(random)}
        run(("decide_refund", decision), dumped({"refund": f"re_{key(random)}", "order_id": number}), "the decision")
    talk.tell("No request is left.")


def customer_asks_for_the_status_again(talk):
    random, run = talk.random, voice(talk)
    number = random.randrange(10**7)
    order = dumped(texts.order_record(random, number, random.randint(9, 14)))
    question = random.choice(["Where is my order?", "Has it been sent?", f"And now? What about {number}?"])
    ask(talk, f"Hello, my order is {number}. {question}")
    for _ in range(random.randint(20, 26)):
        run(("get_order", {"order_id": number}), order, "the order")
        if random.random() < 0.3:
            run(("track_parcel", {"order_id": number}), texts.service_log(random, random.randint(5, 12), "parcel"))
        talk.tell(random.choice(["It is being packed.", "It has not left yet.", "There is no change so far, sorry."]))
        talk.user(question)
    talk.tell("It has just left the warehouse.")


def facts_kept_through_an_interview(talk):
    random, run = talk.random, voice(talk)
    kept = texts.memory_records(random, random.randint(8, 12))
    ask(talk, "I want to tell you about our firm. Keep what matters, and do not keep anything twice.")
    for _ in range(random.randint(16, 19)):
        fact = texts.sentence(random)
        talk.user(fact)
        topic = random.choice(PARTS)
        run(("memory_search", {"query": topic, "limit": 12}), dumped(kept[-12:]), "what I know already")
        kept.append({"id": f"mem_{key(random)}", "saved": texts.day(random), "score": "0.71", "text": fact})
        run(("memory_add", {"text": fact, "topic": topic}), dumped({"id": kept[-1]["id"]}), "this fact")
        talk.tell(random.choice(["I have kept that.", "Thanks. What else?", "Noted."]))


# Pages, documents, office


def list_of_results_between_sources(talk):
    random, run = talk.random, voice(talk)
    subject = random.choice(SUBJECTS)
    results = texts.result_page(random, random.randint(40, 70), subject)
    ask(talk, f"Read the first twenty hits on {subject} and say what they agree on.")
    for place in range(random.randint(20, 24)):
        if place % random.choice([1, 2]) == 0:
            run(("browser_navigate_back", {}), results, "the list of results")
        text = texts.web_page(random, random.randint(20, 50), subject)
        run(("browser_click", {"element": f"result {place + 1}", "ref": f"s1e{place + 9}"}), text, f"hit {place + 1}")
        if random.random() < 0.4:
            run(("save_quote", {"source": place + 1, "text": texts.sentence(random)}), dumped({"quotes": place + 1}))
    talk.tell(texts.sentences(random, 4))


def form_filled_field_by_field(talk):
    random, run = talk.random, voice(talk)
    tree = texts.page_tree(random, random.randint(35, 60), f"Application to {random.choice(ACTIONS)}").split("\n")
    ask(talk, "Fill in the application form with the data of our firm.")
    run(("browser_navigate", {"url": "https://forms.example.com/apply"}), lines_of(tree), "the form")
    for place in random.sample(range(1, len(tree)), random.randint(22, 28)):
        value = f"{random.choice(CITIES)} {random.randrange(9_999)}"
        tree[place] = f"{tree[place]}: {value}"
        run(("browser_type", {"ref": f"s1e{place + 2}", "text": value}), "Typed.", f"field {place}")
        run(("browser_snapshot", {}), lines_of(tree), "the form")
    talk.tell("The form is complete, and I have not sent it.")


def meeting_for_many_people(talk):
    random, run = talk.random, voice(talk)
    people = [texts.mail_address(person(random)) for _ in range(random.randint(14, 18))]
    mine = [texts.event_record(random) for _ in range(random.randint(4, 8))]
    ask(talk, "Set up a talk of half an hour with each of these: " + ", ".join(people))
    at_once = random.random() < 0.4
    for name in people:
        busy = [texts.event_record(random) for _ in range(random.randint(2, 7))]
        calendars = [
            (("list_events", {"calendar": name, "days": 14}), dumped(busy)),
            (("list_events", {"calendar": "primary", "days": 14}), dumped(mine)),
        ]
        several(talk, run, calendars, at_once=at_once)
        event = {**texts.event_record(random), "organizer": "me@example.com"}
        mine = [*mine[-9:], event]
        run(
            ("create_event", {"with": name, "start": event["start"]}),
            dumped({"created": event["id"]}),
            "the invitation",
        )
    talk.tell("All talks are in the calendar.")


def inbox_worked_through(talk):
    random, run = talk.random, voice(talk)
    mails = [texts.mail_record(random) for _ in range(random.randint(15, 17))]
    ask(talk, "Empty my inbox: answer what needs an answer, archive the rest.")
    while mails:
        if len(mails) % 2:
            run(("list_mails", {"folder": "inbox"}), dumped(mails), "what is left")
        mail = mails.pop(0)
        run(("read_mail", {"id": mail["id"]}), texts.mail_text(random, random.randint(8, 20)), mail["subject"])
        if random.random() < 0.5:
            run(
                ("send_reply", {"id": mail["id"], "text": texts.sentences(random, 2)}),
                dumped({"sent": True}),
                "a reply",
            )
        run(("archive_mail", {"id": mail["id"]}), dumped({"archived": mail["id"]}))
    talk.tell("The inbox is empty.")


def document_read_after_each_paragraph(talk):
    random, run = talk.random, voice(talk)
    document = f"doc_{key(random, 6)}"
    text = texts.web_page(random, random.randint(35, 55), random.choice(SUBJECTS)).split("\n")
    ask(talk, f"Go over {document} paragraph by paragraph and make it easier to read.")
    places = [place for place, line in enumerate(text) if line and not line.startswith("#")]
    for place in places[: random.randint(21, 26)]:
        run(("get_document", {"id": document}), lines_of(text), "the document")
        new = texts.sentence(random)
        run(
            ("replace_text", {"id": document, "old": text[place], "new": new}), dumped({"replaced": 1}), f"line {place}"
        )
        text[place] = new
    talk.tell("It reads better now.")


def board_triaged_issue_by_issue(talk):
    random, run = talk.random, voice(talk)
    board = [
        {"key": f"OPS-{100 + place}", "title": texts.sentence(random), "status": "Triage"}
        for place in range(random.randint(15, 19))
    ]
    ask(talk, "Triage the board: give every issue a status and a priority.")
    for issue in board:
        run(("mcp__linear__list_issues", {"team": "OPS", "limit": 50}), dumped(board), "the board")
        record = texts.issue_record(random, issue["key"], random.randint(1, 4))
        run(("mcp__linear__get_issue", {"id": issue["key"]}), dumped(record), issue["key"])
        issue["status"] = random.choice(["Todo", "Backlog", "Cancelled"])
        change = {"id": issue["key"], "status": issue["status"], "priority": random.randint(1, 4)}
        run(("mcp__linear__update_issue", change), dumped({"success": True, **change}), "its status")
    talk.tell("Every issue has been triaged.")


FOURTH_HONEST = (
    edit_read_test_loop,
    specification_read_for_each_section,
    comparison_of_two_files_by_turns,
    names_changed_in_files_that_look_alike,
    flaky_test_retried,
    bisection_with_the_same_test,
    benchmark_after_each_setting,
    review_with_files_opened_again,
    translations_from_one_source,
    build_polled_until_done,
    subagents_with_like_prompts,
    checklist_ticked_step_by_step,
    log_read_page_by_page,
    deployment_verified_on_twelve_hosts,
    queue_watched,
    deployments_scaled_one_by_one,
    plans_and_applies,
    frame_looked_at_after_each_step,
    schema_read_between_queries,
    paginated_listing,
    invoices_against_one_statement,
    same_policy_for_many_customers,
    customer_asks_for_the_status_again,
    facts_kept_through_an_interview,
    list_of_results_between_sources,
    form_filled_field_by_field,
    meeting_for_many_people,
    inbox_worked_through,
    document_read_after_each_paragraph,
    board_triaged_issue_by_issue,
)
