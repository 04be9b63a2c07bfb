"""Texts and deeds of the fifth set of sessions: what agents of many kinds ask their tools for, and what comes back."""

import json

from tests.support.later_talk import (
    NOUNS,
    PLACES,
    VERBS,
    bash,
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

FIRST_TEXT = "Ada Bo Carla Dario Edit Femke Goran Hanna Ilse Jonas Kaja Luis Mira Nils Olga Pavel Rosa Sven Tove Uwe"
LAST_TEXT = "Abel Brandt Castro Dekker Eriksen Fabre Greco Horvat Ivers Jansen Kowal Lund Moreau Novak Okafor Peters"
DRUGS_TEXT = "metformin lisinopril apixaban sertraline amoxicillin omeprazole bisoprolol furosemide insulin warfarin"
LAWS_TEXT = "Tenant Lessor Supplier Licensee Guarantor Assignee Customer Processor Agent Purchaser"
ROOMS_TEXT = "kitchen hall bedroom attic garage cellar study nursery porch bathroom"
THINGS_TEXT = "light climate sensor cover switch media_player lock fan"
FIRST, LAST, DRUGS = FIRST_TEXT.split(), LAST_TEXT.split(), DRUGS_TEXT.split()
LAWS, ROOMS, THINGS = LAWS_TEXT.split(), ROOMS_TEXT.split(), THINGS_TEXT.split()
SENTENCES = (
    "The {a} of each {b} is kept for {n} days, and a {c} older than that is {v}ed at night.",
    "Whoever wants to {v} a {a} asks the {b} desk in {p} first; form {n} is enough.",
    "In {y} the {a} was moved from {p} to the {b}, which is why {n} of them have no {c}.",
    "If the {a} and the {b} differ by more than {n}, the {c} counts.",
    "See also chapter {n} on how a {a} can {v} its {b} without a {c}.",
    "{f} {l} ({p}) found {n} cases in which the {a} did not {v} before the {b}.",
    "A {a} has at most {n} {b}s. Each {b} names one {c}, and may {v} it once a year since {y}.",
)
THOUGHTS = (
    "Before I go on I need to see {w} again, to be sure about the {a}.",
    "I should double-check {w}: the {b} may matter for the {a}, I noted {n} earlier.",
    "Let me re-establish where I am. First {w}, then the {a}, then I can {v} the {b}.",
    "Now I want to look at {w} once more, as the {c} was not clear to me.",
    "I have to understand how {w} relates to the {a} in {p} before I {v} anything.",
    "Good. The {a} looks right; to be safe I go back to {w} and its {b}.",
    "So the plan stays: understand {w}, settle the {a} ({n}), and {v} the {c} at the end.",
    "{w} should tell me which {b} the {a} belongs to. Checking.",
)


def filled(random, template, **more):
    one, two, three = random.sample(NOUNS, 3)
    return template.format(
        a=one,
        b=two,
        c=three,
        n=random.randrange(2, 9_000),
        v=random.choice(VERBS),
        p=random.choice(PLACES),
        y=random.randrange(1980, 2026),
        f=random.choice(FIRST),
        l=random.choice(LAST),
        **more,
    )


def sentence(random):
    return filled(random, random.choice(SENTENCES))


def thought(random, where):
    return filled(random, random.choice(THOUGHTS), w=where)


def named(random):
    return f"{random.choice(FIRST)} {random.choice(LAST)}"


def day(random):
    return f"2025-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}"


def sized(random, line, least=1_500, most=6_000):
    """Lines up to a size by chance."""
    size, made, length = random.randrange(least, most), [], 0
    while length < size:
        made.append(line(random))
        length += len(made[-1]) + 1
    return joined(made)


def place_of(random, *ends):
    end = random.choice(ends or ("py", "py", "ts", "go"))
    return f"src/{random.choice(NOUNS)}/{random.choice(VERBS)}_{random.choice(NOUNS)}_{random.randrange(99)}.{end}"


def source(random):
    return code(random, random.randrange(36, 130))


def record(random, **more):
    """A record as an API gives it: JSON with nested lists."""
    made = {**more, "created_at": f"{day(random)}T{random.randrange(24):02}:14:00Z", "owner": named(random)}
    made["items"] = [
        {
            "item_id": str(random.randrange(10**9, 10**10)),
            "name": f"{random.choice(NOUNS)} {random.choice(NOUNS)}",
            "price": round(random.uniform(2, 900), 2),
            "options": {random.choice(NOUNS): random.choice(PLACES), "size": random.randrange(60)},
        }
        for _ in range(random.randrange(10, 40))
    ]
    made["history"] = [{"at": day(random), "by": named(random), "what": sentence(random)} for _ in range(5)]
    return json.dumps(made, indent=random.choice([None, 1, 2]))


def page(random):
    """A page of the web as Markdown."""
    head = f"# {random.choice(NOUNS).title()} and {random.choice(NOUNS)} in {random.choice(PLACES)}"
    parts = [head, f"Last updated {day(random)} by {named(random)}"]
    for _ in range(random.randrange(3, 9)):
        parts += ["", f"## How to {random.choice(VERBS)} a {random.choice(NOUNS)}", ""]
        parts += [
            f"{sentence(random)} [{random.choice(NOUNS)}](https://www.{random.choice(NOUNS)}.example/{random.randrange(9_999)})"
            for _ in range(random.randrange(3, 8))
        ]
    return joined(parts)


def found(random):
    """What a search in the web or a wiki gives."""
    return joined(
        f"{place}. {sentence(random)}\n   https://{random.choice(NOUNS)}.example/{random.randrange(99_999)}"
        f"\n   {sentence(random)}"
        for place in range(1, random.randrange(9, 16))
    )


def mail(random):
    head = [
        f"From: {named(random)}",
        f"To: {named(random)}",
        f"Date: {day(random)}",
        f"Subject: {sentence(random)}",
        "",
    ]
    return joined([*head, sized(random, sentence, 1_500, 4_500), "", "Kind regards", named(random)])


def manifest(random):
    """An object of a cluster."""
    return joined(
        [
            "apiVersion: apps/v1",
            "kind: Deployment",
            "metadata:",
            f"  name: {random.choice(NOUNS)}-{random.getrandbits(20):05x}",
            f"  uid: {random.getrandbits(64):016x}",
            "spec:",
            settings(random, random.randrange(60, 180)),
        ]
    )


def chart(random):
    """A patient's chart."""
    return sized(
        random,
        lambda made: (
            f"{day(made)}  {made.choice(DRUGS)} {made.randrange(5, 900)} mg, pulse {made.randrange(48, 130)}, "
            f"BP {made.randrange(90, 180)}/{made.randrange(50, 110)}, seen by {named(made)}: {sentence(made)}"
        ),
    )


def contract(random):
    number = iter(range(1, 999))
    return sized(
        random,
        lambda made: (
            f"{made.randrange(1, 30)}.{next(number)} The {made.choice(LAWS)} shall {made.choice(VERBS)} the "
            f"{made.choice(NOUNS)} within {made.randrange(2, 90)} days of notice by the {made.choice(LAWS)}, failing "
            f"which EUR {made.randrange(100, 90_000)} falls due under the laws of {made.choice(PLACES)}."
        ),
        2_000,
        8_000,
    )


def paper(random):
    abstract = joined(sentence(random) for _ in range(6))
    head = f"Title: {sentence(random)}\nAuthors: {named(random)} and {named(random)}\nAbstract: {abstract}"
    return joined([head, "", rows(random, random.randrange(20, 70), ("n", "site", "cohort", "mean", "sd", "p"))])


def sheet(random):
    return joined(
        f"{row},{named(random)},{random.choice(PLACES)},{random.choice(NOUNS)},{random.uniform(1, 9_000):.2f}"
        for row in range(1, random.randrange(40, 130))
    )


def ticket(random):
    head = f"{random.choice(VERBS).title()} fails\nReporter: {named(random)}  Opened: {day(random)}"
    return joined(
        [head, sized(random, sentence, 700, 2_000), log(random, random.randrange(15, 60), random.choice(NOUNS))]
    )


def entities(random):
    """What a hub knows about the things in a house."""
    return json.dumps(
        [
            {
                "entity_id": f"{random.choice(THINGS)}.{random.choice(ROOMS)}_{random.randrange(99)}",
                "state": random.choice(["on", "off", "idle", str(random.randrange(40))]),
                "last_changed": f"{day(random)}T0{random.randrange(10)}:00:00",
                "attributes": {"friendly_name": sentence(random)[:30], "battery": random.randrange(101)},
            }
            for _ in range(random.randrange(12, 40))
        ]
    )


def frame(random):
    """A table as pandas prints it."""
    names = random.sample(NOUNS, 5)
    made = ["      " + "  ".join(f"{name:>12}" for name in names)]
    made += [
        f"{place:<6}" + "  ".join(f"{random.uniform(-900, 9_000):12.4f}" for _ in names)
        for place in range(random.randrange(25, 80))
    ]
    return joined([*made, "", f"[{random.randrange(100, 90_000)} rows x 5 columns]"])


def query(random):
    one, two, three = random.sample(NOUNS, 3)
    some = random.randrange(9_999)
    return " ".join([f"SELECT {one}, sum({two})", f"FROM {three}s WHERE {two} > {some} GROUP BY {one} ORDER BY 2"])


def listed(random):
    return sized(
        random,
        lambda made: f"-rw-r--r-- 1 app app {made.randrange(100, 900_000):>8} {day(made)} {made.choice(NOUNS)}",
        1_500,
        3_500,
    )


# What the agents do. Each maker gives a call and its result.


def claude_reads(random):
    return read(f"/repo/{place_of(random)}"), numbered(source(random))


def claude_greps(random):
    pattern = f"{random.choice(VERBS)}_{random.choice(NOUNS)}"
    return ("Grep", {"pattern": pattern, "path": "/repo/src", "output_mode": "content"}), hits(random, 30)


def claude_edits(random):
    path = f"/repo/{place_of(random)}"
    return edit(path, *swapped(random)), edited(path)


def claude_tests(random):
    part = f"tests/test_{random.choice(NOUNS)}_{random.randrange(999)}.py"
    return bash(f"pytest -q {part}"), log(random, random.randrange(20, 60), "pytest")


CLAUDE = (claude_reads, claude_reads, claude_greps, claude_edits, claude_tests)


def codex_prints(random):
    return shell(f"sed -n '1,{random.randrange(150, 260)}p' {place_of(random)}", workdir="/repo"), source(random)


def codex_searches(random):
    return shell(f'rg -n "{random.choice(NOUNS)}.{random.choice(VERBS)}" src', workdir="/repo"), hits(random, 28)


def codex_shows(random):
    return shell(f"git show {random.getrandbits(28):07x} --stat -p", workdir="/repo"), source(random).replace(
        "\n", "\n+"
    )


def codex_patches(random):
    path = place_of(random)
    return patch(path, *swapped(random)), f"Success. Updated the following files:\nM {path}"


CODEX = (codex_prints, codex_searches, codex_shows, codex_patches)


def shop_order(random):
    key = f"#W{random.randrange(10**6, 10**7)}"
    return ("get_order_details", {"order_id": key}), record(random, order_id=key, status="delivered")


def shop_user(random):
    key = f"{named(random).lower().replace(' ', '_')}_{random.randrange(9_999)}"
    return ("get_user_details", {"user_id": key}), record(random, user_id=key)


def shop_product(random):
    key = str(random.randrange(10**9, 10**10))
    return ("get_product_details", {"product_id": key}), record(random, product_id=key)


SHOP = (shop_order, shop_user, shop_product)


def web_fetch(random):
    address = f"https://www.{random.choice(NOUNS)}-{random.choice(NOUNS)}.example/{random.randrange(99_999)}"
    return ("fetch", {"url": address}), page(random)


def web_search(random):
    return ("web_search", {"query": sentence(random)[:60]}), found(random)


WEB = (web_fetch, web_fetch, web_search)


def data_query(random):
    return sql(query(random)), rows(random, random.randrange(40, 120))


def data_frame(random):
    text = f"df = load('{random.choice(NOUNS)}_{random.randrange(999)}.parquet')\nprint(df.{random.choice(NOUNS)})"
    return python(text), frame(random)


DATA = (data_query, data_frame)


def cloud_object(random):
    name = f"{random.choice(NOUNS)}-{random.randrange(999)}"
    return ("run_command", {"command": f"kubectl get deployment {name} -o yaml"}), manifest(random)


def cloud_log(random):
    name = f"{random.choice(NOUNS)}-{random.getrandbits(32):08x}"
    return ("run_command", {"command": f"kubectl logs {name} --tail=60"}), log(random, random.randrange(30, 60), name)


def cloud_policy(random):
    name = f"{random.choice(NOUNS)}-{random.randrange(9_999)}"
    return ("run_command", {"command": f"aws iam get-role --role-name {name}"}), record(random, role=name)


CLOUD = (cloud_object, cloud_log, cloud_policy)


def browser_page(random):
    name = f"{random.choice(NOUNS)}/{random.randrange(9_999)}"
    return ("browser_navigate", {"url": f"https://shop.example/{name}"}), snapshot(
        random, random.randrange(40, 90), name
    )


BROWSER = (browser_page, browser_page, web_search)


def home_states(random):
    name = f"{random.choice(ROOMS)}_{random.randrange(999)}"
    return ("get_area_entities", {"area_id": name}), entities(random)


def home_history(random):
    name = f"{random.choice(THINGS)}.{random.choice(ROOMS)}_{random.randrange(999)}"
    return ("get_history", {"entity_id": name, "date": day(random)}), entities(random)


def home_manual(random):
    return ("get_automation", {"id": f"auto_{random.randrange(9_999)}"}), settings(random, random.randrange(60, 120))


HOME = (home_states, home_history, home_manual)


def open_code_reads(random):
    return ("read", {"filePath": f"/srv/dev/app/{place_of(random)}"}), numbered(source(random))


def open_code_greps(random):
    return ("grep", {"pattern": f"{random.choice(VERBS)}.{random.choice(NOUNS)}", "include": "*.ts"}), hits(random, 30)


def gemini_reads(random):
    return ("read_file", {"absolute_path": f"/srv/{place_of(random)}"}), source(random)


def gemini_searches(random):
    return ("search_file_content", {"pattern": f"{random.choice(VERBS)}_{random.choice(NOUNS)}"}), hits(random, 34)


def gemini_runs(random):
    return ("run_shell_command", {"command": f"npm test -- {random.choice(NOUNS)}{random.randrange(99)}"}), log(
        random, 40
    )


def mail_read(random):
    return ("read_email", {"message_id": f"{random.getrandbits(48):012x}"}), mail(random)


def mail_week(random):
    start = f"{day(random)}T{random.randrange(7, 12):02}:00"
    return ("list_events", {"calendar": f"{random.choice(FIRST).lower()}@work.example", "from": start}), sheet(random)


def wiki_page(random):
    return ("get_page", {"page_id": random.randrange(10**6, 10**7)}), page(random)


def wiki_search(random):
    return ("search_wiki", {"cql": f'text ~ "{random.choice(NOUNS)} {random.randrange(999)}"'}), found(random)


def ticket_read(random):
    return ("get_issue", {"key": f"OPS-{random.randrange(99_999)}"}), ticket(random)


def ticket_search(random):
    return ("search_issues", {"jql": f'project = OPS AND text ~ "{sentence(random)[:30]}"'}), rows(random, 60)


def paper_read(random):
    return ("get_paper", {"arxiv_id": f"25{random.randrange(10, 13)}.{random.randrange(99_999):05}"}), paper(random)


def paper_search(random):
    return ("search_papers", {"query": sentence(random)[:50], "limit": 12}), found(random)


def sheet_range(random):
    span = f"{random.choice(NOUNS)}{random.randrange(99)}!A1:F{random.randrange(50, 200)}"
    return ("sheets_get_values", {"spreadsheet_id": f"{random.getrandbits(64):016x}", "range": span}), sheet(random)


def legal_document(random):
    return ("open_document", {"doc": f"{random.choice(LAWS).lower()}_{random.randrange(9_999)}.docx"}), contract(random)


def legal_case(random):
    return ("search_case_law", {"query": sentence(random)[:55]}), prose(random, random.randrange(20, 50))


def medical_chart(random):
    return ("get_chart", {"mrn": f"{random.randrange(10**6, 10**7)}", "section": random.choice(NOUNS)}), chart(random)


def medical_labs(random):
    key = f"{random.randrange(10**6, 10**7)}"
    return ("get_lab_results", {"mrn": key}), rows(random, 50, ("n", "site", "kind", "low", "value", "high"))


OTHER_NAMES = {
    "get_order_details": ("lookup_order", "orders_get", "mcp__shop__get_order"),
    "get_user_details": ("lookup_customer", "mcp__shop__get_customer"),
    "get_product_details": ("product_info", "mcp__shop__get_product"),
    "fetch": ("web_fetch", "open_url", "visit_page", "mcp__fetch__fetch"),
    "web_search": ("search", "google_search", "mcp__brave__web_search"),
    "execute_sql": ("run_query", "bigquery_query", "mcp__postgres__query"),
    "python": ("execute_python", "run_cell", "code_interpreter"),
    "run_command": ("execute_command", "terminal", "run_in_terminal"),
    "browser_navigate": ("goto", "mcp__playwright__browser_navigate"),
    "browser_click": ("click", "mcp__playwright__browser_click"),
    "get_area_entities": ("list_states", "mcp__home__get_area"),
    "get_history": ("history_period", "mcp__home__get_history"),
    "read_email": ("get_message", "gmail_read", "mcp__mail__read_message"),
    "list_events": ("calendar_list_events", "mcp__calendar__list_events"),
    "get_page": ("read_page", "confluence_get_page", "mcp__wiki__get_page"),
    "search_wiki": ("confluence_search", "mcp__wiki__search"),
    "get_issue": ("jira_get_issue", "read_ticket", "mcp__tracker__get_issue"),
    "search_issues": ("jira_search", "mcp__tracker__search"),
    "get_paper": ("read_paper", "arxiv_get", "mcp__papers__read"),
    "search_papers": ("arxiv_search", "mcp__papers__search"),
    "sheets_get_values": ("read_range", "get_cells", "mcp__sheets__get_values"),
    "sheets_update_values": ("write_range", "set_cells", "mcp__sheets__update_values"),
    "open_document": ("read_document", "docs_get", "mcp__drive__open_document"),
    "get_chart": ("read_chart", "ehr_get_chart", "mcp__ehr__get_chart"),
    "get_lab_results": ("labs", "ehr_get_labs", "mcp__ehr__get_labs"),
    "add_note": ("note_add", "write_note", "mcp__notes__add"),
    "think": ("sequential_thinking", "reflect"),
    "crm_search": ("search_accounts", "mcp__crm__search"),
}


def with_other_names(talk):
    """Tools that every maker of agents names as he likes get other names, the same in the whole session."""
    names = {name: talk.random.choice([name, *others]) for name, others in OTHER_NAMES.items()}
    for message, _ in talk.rounds:
        for made in message.get("tool_calls", ()):
            made["function"]["name"] = names.get(made["function"]["name"], made["function"]["name"])
