"""Twenty-four sorts of circles: an agent reads, works, and then only asks again for what it has read before."""

import json

from tests.support.fifth_texts import (
    BROWSER,
    CLAUDE,
    CLOUD,
    CODEX,
    DATA,
    HOME,
    LAWS,
    ROOMS,
    SHOP,
    WEB,
    browser_page,
    chart,
    claude_greps,
    claude_reads,
    claude_tests,
    cloud_log,
    cloud_object,
    cloud_policy,
    codex_prints,
    codex_searches,
    codex_shows,
    data_frame,
    gemini_reads,
    gemini_runs,
    gemini_searches,
    home_history,
    home_manual,
    legal_case,
    legal_document,
    listed,
    mail_read,
    mail_week,
    manifest,
    medical_chart,
    medical_labs,
    named,
    open_code_greps,
    open_code_reads,
    paper_read,
    paper_search,
    place_of,
    record,
    sheet_range,
    shop_order,
    shop_user,
    source,
    thought,
    ticket,
    ticket_read,
    ticket_search,
    wiki_page,
    wiki_search,
)
from tests.support.later_talk import (
    NOUNS,
    PLACES,
    VERBS,
    bash,
    code,
    hits,
    joined,
    numbered,
    prose,
    read,
    shell,
)


def asked(message):
    """What a message calls for."""
    return [named_call["function"]["arguments"] for named_call in message.get("tool_calls", ())]


def busy(talk, makers):
    """Other work: different calls, each with a result of its own, until enough has been read to push the first out."""
    random, size = talk.random, 0
    least = random.randrange(36_000, 70_000)
    known = [key for made in talk.rounds for key in asked(made.message)]
    while size < least:
        pairs = [random.choice(makers)(random) for _ in range(random.choice([1, 1, 1, 2, 3]))]
        pairs = [pair for pair in pairs if json.dumps(pair[0][1]) not in known]
        if not pairs:
            continue
        known += [json.dumps(tool[1]) for tool, _ in pairs]
        text = thought(random, f"the {random.choice(NOUNS)}") if random.random() < 0.25 else None
        talk.together(pairs, text=text)
        size += sum(len(output) for _, output in pairs)


def first_reading(talk, ring):
    """The things are read, one by one or all at once."""
    if talk.random.random() < 0.5:
        talk.together(ring, text="I begin with what is there.")
    else:
        for tool, output in ring:
            talk.run(tool, output)


def circling(talk, ring, *, note=None, speech=None, way=None):
    """Thirty to 45 calls of a ring; each of its members makes a call with the result that it had before."""
    random = talk.random
    number, done, turn = random.randrange(30, 46), 0, 0
    way = way or random.choice(["turns", "chance", "several", "mixed"])
    how_often = random.choice([0.5, 0.75, 1.0])
    talk.begin()
    while done < number:
        now = random.choice(["turns", "chance", "several"]) if way == "mixed" else way
        if now == "turns":
            group = [ring[turn % len(ring)]]
        elif now == "chance":
            group = [random.choice(ring)]
        else:
            group = random.sample(ring, random.randrange(min(2, len(ring)), len(ring) + 1))
        pairs = [make(random) for make in group[: number - done]]
        talk.together(pairs, text=None if speech is None else speech(random))
        done, turn = done + len(pairs), turn + 1
        if note is not None and done < number and random.random() < how_often:
            note(talk)


def same(ring):
    """A ring of calls that are word for word the same."""
    return [lambda _, pair=pair: pair for pair in ring]


def quiet_or_not(random):
    """How an agent speaks that goes round: not at all, with one sentence, or with a few."""
    few = random.choice(
        [
            None,
            ["Let me check this again."],
            ["Let me look at it once more.", "I need to see that first.", "Let me have another look.", None],
            ["I'll verify the details.", None, None],
        ]
    )
    return None if few is None else lambda made: made.choice(few)


def ring_of(random, makers, least=1):
    """One to five things, made by makers that are chosen by chance."""
    return [random.choice(makers)(random) for _ in range(random.randrange(least, 6))]


# Eight sorts whose calls are word for word the same, with nothing but words between them.


def coding_rereads_files(talk):
    random = talk.random
    talk.user(f"The {random.choice(NOUNS)} service is slow. Find out why and fix it.")
    ring = ring_of(random, [claude_reads, claude_reads, claude_greps])
    first_reading(talk, ring)
    busy(talk, CLAUDE)
    circling(talk, same(ring), speech=quiet_or_not(random))


def codex_prints_the_same(talk):
    random = talk.random
    talk.user(f"Port the {random.choice(NOUNS)} module to the new interface.")
    ring = ring_of(random, [codex_prints, codex_searches, codex_shows])
    first_reading(talk, ring)
    busy(talk, CODEX)
    circling(talk, same(ring), speech=quiet_or_not(random), way=random.choice(["turns", "chance"]))


def retail_looks_up_again(talk):
    random = talk.random
    talk.user(f"Hi, I am {named(random)}. Two of my orders came without the {random.choice(NOUNS)}. What can you do?")
    ring = ring_of(random, SHOP)
    first_reading(talk, ring)
    busy(talk, SHOP)
    circling(talk, same(ring), speech=quiet_or_not(random))


def research_opens_the_same_pages(talk):
    random = talk.random
    talk.user(f"Write a brief on {random.choice(NOUNS)} rules in {random.choice(PLACES)}, with sources.")
    ring = ring_of(random, WEB, least=2)
    first_reading(talk, ring)
    busy(talk, WEB)
    circling(talk, same(ring), speech=quiet_or_not(random), way=random.choice(["several", "mixed"]))


def analyst_runs_the_same_queries(talk):
    random = talk.random
    talk.user(f"Why did the {random.choice(NOUNS)} numbers of {random.choice(PLACES)} drop in May?")
    ring = ring_of(random, DATA)
    first_reading(talk, ring)
    busy(talk, DATA)
    circling(talk, same(ring), speech=quiet_or_not(random))


def operator_describes_again(talk):
    random = talk.random
    talk.user(f"Make the {random.choice(NOUNS)} deployment ready for the move to {random.choice(PLACES)}.")
    ring = ring_of(random, [cloud_object, cloud_policy])
    first_reading(talk, ring)
    busy(talk, CLOUD)
    circling(talk, same(ring), speech=quiet_or_not(random))


def browser_goes_back_and_forth(talk):
    random = talk.random
    talk.user(f"Find the cheapest {random.choice(NOUNS)} that can be sent to {random.choice(PLACES)}.")
    ring = ring_of(random, [browser_page], least=2)
    first_reading(talk, ring)
    busy(talk, BROWSER)
    circling(talk, same(ring), speech=quiet_or_not(random), way="turns")


def house_is_looked_at_again(talk):
    random = talk.random
    talk.user(f"Last week the {random.choice(ROOMS)} was cold in the mornings. Which automation is to blame?")
    ring = ring_of(random, [home_history, home_manual])
    first_reading(talk, ring)
    busy(talk, HOME)
    circling(talk, same(ring), speech=quiet_or_not(random))


# Eight sorts whose calls are the same, with notes to itself between them that have new words each time.


def what_it_says(random, ring):
    """A line of what has been read, as an agent repeats it to itself."""
    lines = [line.strip() for line in random.choice(ring)[1].split("\n") if len(line.strip()) > 20]
    return random.choice(lines or ["nothing"])[:90]


def todos_between(talk):
    random = talk.random
    talk.user(f"Add a {random.choice(NOUNS)} export to the app, with tests.")
    ring = ring_of(random, [open_code_reads, open_code_greps])
    first_reading(talk, ring)
    busy(talk, [open_code_reads, open_code_reads, open_code_greps, claude_tests])

    def note(talk):
        todos = [
            {
                "id": str(place),
                "content": thought(random, random.choice(NOUNS)),
                "status": random.choice(["pending", "in_progress"]),
                "priority": random.choice(["high", "medium"]),
            }
            for place in range(random.randrange(2, 6))
        ]
        talk.run(("todowrite", {"todos": todos}), json.dumps(todos, indent=2))

    circling(talk, same(ring), note=note, speech=quiet_or_not(random))


def memories_between(talk):
    random = talk.random
    talk.user(f"Clean up how we {random.choice(VERBS)} a {random.choice(NOUNS)}; keep the public names.")
    ring = ring_of(random, [gemini_reads, gemini_searches])
    first_reading(talk, ring)
    busy(talk, [gemini_reads, gemini_reads, gemini_searches, gemini_runs])

    def note(talk):
        fact = f"{thought(random, 'the source')} {what_it_says(random, ring)}"
        talk.run(("save_memory", {"fact": fact}), f'Okay, I\'ve remembered that: "{fact}"')

    circling(
        talk, same(ring), note=note, speech=lambda made: thought(made, "the file") if made.random() < 0.5 else None
    )


def scratchpad_between(talk):
    random = talk.random
    talk.user(f"Find a date for the {random.choice(NOUNS)} meeting from the mails and the calendars, and propose it.")
    ring = ring_of(random, [mail_read, mail_week])
    first_reading(talk, ring)
    busy(talk, [mail_read, mail_week])

    def note(talk):
        text = f"- {thought(random, random.choice(['the mail', 'the calendar']))}\n- {what_it_says(random, ring)}"
        talk.run(
            ("update_scratchpad", {"text": text}), f"Scratchpad updated ({random.randrange(200, 9_000)} characters)."
        )

    circling(talk, same(ring), note=note)


def notes_between(talk):
    random = talk.random
    talk.user(f"Bring the pages about the {random.choice(NOUNS)} together in one page.")
    ring = ring_of(random, [wiki_page, wiki_page, wiki_search])
    first_reading(talk, ring)
    busy(talk, [wiki_page, wiki_page, wiki_search])
    place = iter(range(1, 999))

    def note(talk):
        talk.run(("add_note", {"note": thought(random, "the page")}), f"Note {next(place)} saved.")

    circling(talk, same(ring), note=note, speech=quiet_or_not(random))


def progress_comments_between(talk):
    random = talk.random
    key = f"OPS-{random.randrange(99_999)}"
    talk.user(f"Triage {key} and say which team owns it.")
    ring = [(("get_issue", {"key": key}), ticket(random)), *ring_of(random, [ticket_read, ticket_search])[:4]]
    first_reading(talk, ring)
    busy(talk, [ticket_read, ticket_read, ticket_search, cloud_log])

    def note(talk):
        body = f"Progress: {thought(random, random.choice(['the report', 'the log', key]))}"
        comment = {"key": key, "body": body, "visibility": "internal"}
        talk.run(("add_comment", comment), json.dumps({"id": random.randrange(10**5, 10**6), "created": True}))

    circling(talk, same(ring), note=note)


def thoughts_between(talk):
    random = talk.random
    talk.user(f"What do the papers say about {random.choice(NOUNS)} and {random.choice(NOUNS)}? Two pages, please.")
    ring = ring_of(random, [paper_read, paper_read, paper_search])
    first_reading(talk, ring)
    busy(talk, [paper_read, paper_read, paper_search])

    def note(talk):
        text = " ".join(
            thought(random, random.choice(["the table", "the abstract"])) for _ in range(random.randrange(1, 5))
        )
        if random.random() < 0.3:
            text += f" It says: {what_it_says(random, ring)}"
        talk.run(("think", {"thought": text}), "" if random.random() < 0.5 else "Your thought has been logged.")

    circling(talk, same(ring), note=note, speech=lambda made: thought(made, "the paper"))


def plans_between(talk):
    random = talk.random
    talk.user(f"Reconcile the {random.choice(NOUNS)} sheets and tell me which rows do not fit.")
    ring = ring_of(random, [sheet_range])
    first_reading(talk, ring)
    busy(talk, [sheet_range, data_frame, sheet_range])

    def note(talk):
        steps = [
            {"step": thought(random, "the sheet"), "status": random.choice(["pending", "in_progress", "completed"])}
            for _ in range(random.randrange(2, 6))
        ]
        talk.run(("update_plan", {"explanation": thought(random, "the range"), "plan": steps}), "Plan updated")

    circling(talk, same(ring), note=note, speech=quiet_or_not(random))


def memory_file_between(talk):
    random = talk.random
    talk.user(f"Compare the drafts: which binds the {random.choice(LAWS)} longer? Cite the clauses.")
    ring = ring_of(random, [legal_document, legal_document, legal_case])
    first_reading(talk, ring)
    busy(talk, [legal_document, legal_case])
    path = f"/memories/{random.choice(NOUNS)}_progress.md"

    def note(talk):
        text = f"{thought(random, 'the draft')}\n{what_it_says(random, ring)}\n"
        way = random.randrange(3)
        if way == 0:
            value = {"command": "create", "path": path, "file_text": text}
        elif way == 1:
            value = {"command": "insert", "path": path, "insert_line": random.randrange(60), "insert_text": text}
        else:
            value = {"command": "str_replace", "path": path, "old_str": thought(random, "it"), "new_str": text}
        talk.run(("memory", value), ["File created", "The file has been edited.", "The file has been edited."][way])

    circling(talk, same(ring), note=note)


# Eight sorts whose calls differ in form, while the very same text comes back.


def paths_written_otherwise(talk):
    random = talk.random
    talk.user(f"Why does the {random.choice(NOUNS)} parser lose lines?")
    paths = [place_of(random) for _ in range(random.randrange(1, 5))]
    texts = [numbered(source(random)) for _ in paths]
    first_reading(talk, [(read(f"/repo/{path}"), text) for path, text in zip(paths, texts, strict=True)])
    busy(talk, CLAUDE)

    def again(path, text):
        part, _, rest = path.partition("/")
        forms = [
            f"/repo/{path}",
            path,
            f"./{path}",
            f"/repo/./{path}",
            f"/repo/{part}/../{path}",
            f"/repo//{part}/{rest}",
        ]
        return lambda made: (read(made.choice(forms)), text)

    circling(talk, [again(*pair) for pair in zip(paths, texts, strict=True)], speech=quiet_or_not(random))


def overlapping_ranges(talk):
    random = talk.random
    talk.user(f"Explain how {random.choice(NOUNS)}s are {random.choice(VERBS)}ed here, then simplify it.")
    tool, key = random.choice([("Read", "file_path"), ("read", "filePath"), ("view", "path")])
    files = [
        (f"/repo/{place_of(random)}", code(random, random.randrange(120, 200))) for _ in range(random.randrange(1, 4))
    ]
    first_reading(talk, [((tool, {key: path}), numbered(text)) for path, text in files])
    busy(talk, CLAUDE)

    def again(path, text):
        lines = text.split("\n")

        def part(made):
            first = made.randrange(1, len(lines) - 60)
            size = made.randrange(45, 120)
            taken = joined(lines[first - 1 : first - 1 + size])
            return (tool, {key: path, "offset": first, "limit": size}), numbered(taken, first)

        return part

    circling(talk, [again(*pair) for pair in files], speech=quiet_or_not(random))


def printed_by_other_commands(talk):
    random = talk.random
    talk.user(f"Move the {random.choice(NOUNS)} checks out of the handler.")
    with_numbers = random.random() < 0.5
    files = [(place_of(random), source(random)) for _ in range(random.randrange(1, 5))]
    command = random.choice([bash, shell])
    first = []
    for path, text in files:
        first.append((read(f"/repo/{path}"), numbered(text)) if with_numbers else (("read", {"path": path}), text))
    first_reading(talk, first)
    busy(talk, CLAUDE if command is bash else CODEX)

    def again(path, text):
        size = text.count("\n") + 1
        plain = (
            f"cat {path}",
            f"sed -n '1,{size}p' {path}",
            f"head -n {size} {path}",
            f"sed -n '1,{size + 80}p' {path}",
        )
        plain += (f"cat {path} | head -{size + 20}", f"tail -n +1 {path}", f"awk 1 {path}")
        counted = (
            f"cat -n {path}",
            f"cat -n {path} | head -n {size}",
            f"nl -ba {path}",
            f"cat -n {path} | sed -n '1,400p'",
        )
        shown = numbered(text) if with_numbers else text
        return lambda made: (command(made.choice(counted if with_numbers else plain)), shown)

    circling(talk, [again(*pair) for pair in files], speech=quiet_or_not(random))


def harmless_flags(talk):
    random = talk.random
    talk.user(f"Is the {random.choice(NOUNS)} cluster set up the way the one in {random.choice(PLACES)} is?")
    makers = (
        (lambda made: f"kubectl get configmap {made.choice(NOUNS)}-{made.randrange(9_999)} -o yaml", manifest),
        (lambda made: f"aws iam get-policy --policy-name {made.choice(NOUNS)}{made.randrange(9_999)}", record),
        (lambda made: f"gcloud compute networks describe {made.choice(NOUNS)}{made.randrange(9_999)}", manifest),
        (lambda made: f"terraform state show module.{made.choice(NOUNS)}[{made.randrange(9_999)}]", listed),
    )
    flags = {"kubectl": ["--request-timeout=30s", "--v=0", "--warnings-as-errors=false", "--cache-dir=/tmp/k"]}
    flags["aws"] = ["--no-cli-pager", "--output json", "--no-paginate", "--color off"]
    flags["gcloud"] = ["--quiet", "--verbosity=warning", "--billing-project=main"]
    flags["terraform"] = ["-no-color", "2>&1", "2>/dev/null"]
    chosen = [random.choice(makers) for _ in range(random.randrange(1, 5))]
    things = [(name(random), text(random)) for name, text in chosen]
    first_reading(talk, [(("run_command", {"command": name}), text) for name, text in things])
    busy(talk, CLOUD)

    def again(name, text):
        known = ["", "2>&1", *flags[name.split(maxsplit=1)[0]]]
        return lambda made: (("run_command", {"command": f"{name} {made.choice(known)}".strip()}), text)

    circling(talk, [again(*pair) for pair in things], speech=quiet_or_not(random))


def keys_in_another_order(talk):
    random = talk.random
    talk.user(f"Which accounts in {random.choice(PLACES)} should get the {random.choice(NOUNS)} offer?")
    searches = []
    for _ in range(random.randrange(1, 5)):
        value = {"object": random.choice(NOUNS), "city": random.choice(PLACES), "limit": random.randrange(20, 60)}
        value |= {"sort": random.choice(NOUNS), "min_amount": random.randrange(9_999)}
        searches.append((value, record(random, query=value["object"])))
    first_reading(talk, [(("crm_search", value), text) for value, text in searches])
    busy(talk, [shop_user, shop_order, mail_read])

    def again(value, text):
        def make(made):
            keys = made.sample(list(value), len(value))
            extra = made.choice([{}, {"page": 1}, {"offset": 0}, {"archived": False}, {"format": "json"}])
            return ("crm_search", {**{key: value[key] for key in keys}, **extra}), text

        return make

    circling(talk, [again(*pair) for pair in searches], speech=quiet_or_not(random))


def descriptions_added(talk):
    random = talk.random
    talk.user(f"Prepare the release notes for the {random.choice(NOUNS)} library.")
    commands = (
        (lambda made: f"git log --oneline v{made.randrange(9)}.{made.randrange(9_999)}..HEAD", hits),
        (lambda made: f"git show {made.getrandbits(28):07x}:CHANGES.md", prose),
        (lambda made: f"ls -la src/{made.choice(NOUNS)}/{made.randrange(9_999)}", lambda made, _: listed(made)),
        (lambda made: f"cat docs/{made.choice(NOUNS)}_{made.randrange(9_999)}.md", prose),
    )
    chosen = [random.choice(commands) for _ in range(random.randrange(1, 6))]
    things = [(name(random), text(random, random.randrange(30, 64))) for name, text in chosen]
    first_reading(talk, [(bash(name), text) for name, text in things])
    busy(talk, CLAUDE)

    def again(name, text):
        return lambda made: (bash(name, description=thought(made, random.choice(NOUNS))[:70]), text)

    circling(talk, [again(*pair) for pair in things], speech=quiet_or_not(random))


def searched_in_another_case(talk):
    random = talk.random
    talk.user(f"Where do we {random.choice(VERBS)} a {random.choice(NOUNS)}? I need every place.")
    tool, key, more = random.choice(
        [
            ("Grep", "pattern", {"path": "/repo", "-i": True, "output_mode": "content"}),
            ("search_wiki", "query", {}),
            ("search_mail", "q", {"folder": "all"}),
            ("grep_search", "query", {"caseSensitive": False}),
        ]
    )
    searches = [
        (f"{random.choice(VERBS)} {' '.join(random.sample(NOUNS, 2))}", hits(random, random.randrange(28, 70)))
        for _ in range(random.randrange(1, 5))
    ]
    first_reading(talk, [((tool, {key: term, **more}), text) for term, text in searches])
    busy(talk, CLAUDE if tool in ("Grep", "grep_search") else [wiki_page, wiki_search, mail_read])
    shuffles = random.random() < 0.4

    def again(term, text):
        def make(made):
            written = made.choice([term, term.upper(), term.title(), term.capitalize(), f" {term}", term.swapcase()])
            lines = text.split("\n")
            return (tool, {key: written, **more}), joined(made.sample(lines, len(lines))) if shuffles else text

        return make

    circling(talk, [again(*pair) for pair in searches], speech=quiet_or_not(random))


def numbers_written_otherwise(talk):
    random = talk.random
    name = named(random)
    talk.user(f"Summarise what was done for {name} since the {random.choice(NOUNS)} in {random.choice(PLACES)}.")
    tools = random.sample(
        ["get_chart", "get_lab_results", "get_medications", "list_encounters"], random.randrange(1, 5)
    )
    key = random.randrange(10**5, 10**6)
    things = [(tool, chart(random)) for tool in tools]
    first_reading(talk, [((tool, {"mrn": f"{key:08}"}), text) for tool, text in things])
    busy(talk, [medical_chart, medical_labs, mail_read])

    def again(tool, text):
        def make(made):
            written = made.choice([f"{key:08}", str(key), f"MRN-{key:08}", f"mrn {key}", f" {key:08}"])
            extra = made.choice([{}, {"reason": thought(made, "the chart")}, {"purpose": "care"}])
            return (tool, {"mrn": written, **extra}), text

        return make

    circling(talk, [again(*pair) for pair in things], speech=quiet_or_not(random))


SAME_CALLS = (
    coding_rereads_files,
    codex_prints_the_same,
    retail_looks_up_again,
    research_opens_the_same_pages,
    analyst_runs_the_same_queries,
    operator_describes_again,
    browser_goes_back_and_forth,
    house_is_looked_at_again,
)
WITH_NOTES = (
    todos_between,
    memories_between,
    scratchpad_between,
    notes_between,
    progress_comments_between,
    thoughts_between,
    plans_between,
    memory_file_between,
)
OTHER_FORMS = (
    paths_written_otherwise,
    overlapping_ranges,
    printed_by_other_commands,
    harmless_flags,
    keys_in_another_order,
    descriptions_added,
    searched_in_another_case,
    numbers_written_otherwise,
)
FIFTH_CIRCLES = (*SAME_CALLS, *WITH_NOTES, *OTHER_FORMS)
