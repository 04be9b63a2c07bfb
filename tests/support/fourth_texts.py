"""Texts as tools give them, and the tools of several agents, for the fourth sessions."""

import itertools
import json

PARTS_OF_PROGRAMS = (
    "cache scheduler importer exporter mailer webhook gateway resolver router parser tokenizer renderer indexer "
    "planner tracker limiter balancer uploader thumbnail digest heartbeat snapshot journal archive catalog "
    "pricing discount checkout shipment inventory supplier forecast budget invoice ledger payroll booking "
    "calendar reminder profile session avatar consent audit policy feature banner survey answer comment thread "
    "mention channel backup replica"
)
PARTS = PARTS_OF_PROGRAMS.split()
DEEDS = (
    "apply attach build clear close collect compare compute convert create decode deliver drain emit encode "
    "expire extract fetch find flush forward handle import list load match notify open parse prune publish read "
    "rebuild record refresh reject render replay reset resolve restore schedule send serialize sign sync track "
    "trim update validate"
)
ACTIONS = DEEDS.split()
TOWNS = (
    "Antwerp Bologna Bremen Cardiff Dresden Eindhoven Freiburg Galway Hamburg Innsbruck Krakow Lille Maribor "
    "Nantes Odense Pilsen Rouen Seville Tampere Uppsala Valencia Wroclaw York Zagreb"
)
CITIES = TOWNS.split()
GIVEN_NAMES = (
    "Alice Bruno Carla Dmitri Elena Farid Greta Hugo Ingrid Jonas Katya Luis Marta Nils Olga Pavel Quentin Rosa "
    "Stefan Tamara Umberto Vera Willem Xenia Yusuf Zoe"
)
FIRST_NAMES = GIVEN_NAMES.split()
FAMILY_NAMES = (
    "Aalto Berger Castell Dahl Eriksen Fontana Gruber Hoekstra Ivanov Jansen Kovac Lindqvist Moretti Novak "
    "Okafor Peeters Quist Rossi Schmid Tanaka Ueda Vogel Weiss Young Zimmer"
)
LAST_NAMES = FAMILY_NAMES.split()
STATES_OF_ORDERS = "open pending shipped returned cancelled delivered paused failed queued active"
STATES = STATES_OF_ORDERS.split()
TOPICS = (
    "heat pumps;battery storage;tidal power;urban trees;night trains;bike lanes;peat bogs;rain gardens;"
    "soil carbon;district heating;wind farms;green roofs;river dams;school meals;noise barriers;car sharing"
)
SUBJECTS = TOPICS.split(";")
TEMPLATES = (
    "The {part} has to {action} every {other} before {city} closes at {hour}:{minute:02}.",
    "In {year}, {name} of {city} measured {number} units of {subject}, {percent}% more than the year before.",
    "A {part} that fails {small} times is moved to the {other} of {city}, where {name} will {action} it.",
    "{name} asked whether the {part} may {action} a {other} without the consent of {city}.",
    "For {subject} the cost fell from {number} to {less} euros per unit between {early} and {year}.",
    "Customers in {city} can {action} a {part} within {small} days, and a {other} within {number} hours.",
    "No {part} is allowed to {action} more than {number} items in one {other} (rule {small}.{minute}).",
    "{city} and {town} share one {part}; since {year} each of them can {action} its own {other}.",
    "According to {name}, {percent}% of all projects on {subject} in {city} were late by {small} months.",
    "When the {other} is full, {action} the {part} first and call {name} (extension {number}).",
)


def sentence(random):
    number = random.randrange(40, 9_900)
    part, other = random.sample(PARTS, 2)
    city, town = random.sample(CITIES, 2)
    year = random.randrange(2004, 2026)
    return random.choice(TEMPLATES).format(
        part=part,
        other=other,
        action=random.choice(ACTIONS),
        city=city,
        town=town,
        name=person(random),
        subject=random.choice(SUBJECTS),
        number=number,
        less=number * random.randrange(30, 95) // 100,
        small=random.randrange(2, 31),
        percent=random.randrange(2, 96),
        hour=random.randrange(6, 23),
        minute=random.randrange(60),
        year=year,
        early=year - random.randrange(2, 12),
    )


def sentences(random, number):
    return " ".join(sentence(random) for _ in range(number))


def person(random):
    return f"{random.choice(FIRST_NAMES)} {random.choice(LAST_NAMES)}"


def mail_address(name):
    return f"{name.lower().replace(' ', '.')}@example.com"


def ask(talk, wish):
    """The user says what they want, each in their way."""
    before = talk.random.choice(["", "", "", "Hi. ", "Good morning. ", "Next task: ", "One thing. "])
    after = talk.random.choice(["", "", "", " Thanks.", " Take your time.", " Be thorough, please.", " Be brief."])
    talk.user(f"{before}{wish}{after}")


def day(random):
    return f"{random.randrange(2021, 2026)}-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}"


def clock(random):
    return f"{random.randrange(24):02}:{random.randrange(60):02}:{random.randrange(60):02}"


def key(random, length=8):
    return f"{random.getrandbits(4 * length):0{length}x}"


def lines_of(made):
    return "\n".join(made)


def dumped(value):
    return json.dumps(value, indent=2)


# Programs


def python_source(random, size):
    one, two = random.sample(PARTS, 2)
    made = [f'"""{sentence(random)}"""', "", "import logging", f"from app.{one} import {two.title()}", ""]
    made += ["log = logging.getLogger(__name__)", ""]
    while len(made) < size:
        made += ["", *_python_function(random)]
    return lines_of(made)


def _python_function(random):
    one, two, three = random.sample(PARTS, 3)
    verb, other = random.sample(ACTIONS, 2)
    bodies = [
        [f"    {two}s = {three}.{other}(limit={random.randrange(2, 900)})", f"    return [{one} for {one} in {two}s]"],
        [f"    if {one}.{two}_count > {random.randrange(3, 500)}:", f'        raise ValueError("{sentence(random)}")'],
        [f"    for {two} in {one}.{two}s:", f"        {two}.{other}({three}, retries={random.randrange(1, 9)})"],
        [f'    log.info("{verb} %s for %s", {one}, {three}.{two}_id)'],
        [f"    with {three}.{other}({one}) as {two}:", f"        {two}.total += {random.randrange(1, 99)}"],
        [f"    {one}.{two} = {other}_{two}({one}, rate={random.random():.3f})"],
    ]
    body = [line for part in random.sample(bodies, random.randint(2, 4)) for line in part]
    return [f"def {verb}_{one}({one}, {three}):", f'    """{verb.title()} the {one} of a {three}."""', *body, ""]


def typescript_source(random, size):
    one, two = random.sample(PARTS, 2)
    made = [f'import {{ {one.title()}, {two.title()} }} from "../{two}/{one}";', f"// {sentence(random)}", ""]
    while len(made) < size:
        one, two, three = random.sample(PARTS, 3)
        verb, other = random.sample(ACTIONS, 2)
        made += [
            f"export async function {verb}{one.title()}({two}: {two.title()}, limit = {random.randrange(900)}) {{",
            f"  const {three} = await {two}.{other}({{ retries: {random.randrange(9)}, key: '{key(random, 6)}' }});",
            f"  if (!{three} || {three}.{one}Count > {random.randrange(500)}) {{",
            f"    throw new Error('{sentence(random)}');",
            "  }",
            f"  return {three}.{one}s.map(({one}) => {other}{two.title()}({one}));",
            "}",
            "",
        ]
    return lines_of(made)


def go_source(random, size):
    made = [f"package {random.choice(PARTS)}", "", f"// {sentence(random)}", ""]
    while len(made) < size:
        one, two = random.sample(PARTS, 2)
        verb, other = random.sample(ACTIONS, 2)
        made += [
            f"// {verb.title()}{one.title()} will {other} the {two}.",
            f"func (s *Store) {verb.title()}{one.title()}(ctx context.Context, id int64) (*{two.title()}, error) {{",
            f"\trow, err := s.db.{other.title()}(ctx, {random.randrange(9_000)}, id)",
            "\tif err != nil {",
            f'\t\treturn nil, fmt.Errorf("{verb} {one} {random.randrange(900)}: %w", err)',
            "\t}",
            f"\treturn row.{two.title()}(), nil",
            "}",
            "",
        ]
    return lines_of(made)


SOURCES = {"py": python_source, "ts": typescript_source, "go": go_source}


class Project:
    """Files of a program, none of them given out twice."""

    def __init__(self, random, language=None):
        self.random = random
        self.ending = language or random.choice(list(SOURCES))
        self.root = random.choice(["/srv/", "/app/", "/repo/", "/opt/src/"]) + random.choice(PARTS)
        pairs = list(itertools.permutations(PARTS, 2))
        random.shuffle(pairs)
        self._paths = iter(pairs)

    def path(self, ending=None):
        folder, name = next(self._paths)
        return f"{self.root}/src/{folder}/{name}.{ending or self.ending}"

    def file(self, low=60, high=150):
        return self.path(), self.source(self.random.randint(low, high))

    def source(self, size):
        return SOURCES[self.ending](self.random, size)


def numbered_lines(text, first=1, mark="\t"):
    return lines_of(f"{place:6}{mark}{line}" for place, line in enumerate(text.split("\n"), first))


def found_lines(random, size):
    """What grep finds."""
    made = []
    for _ in range(size):
        one, two = random.sample(PARTS, 2)
        verb = random.choice(ACTIONS)
        made.append(f"src/{one}/{two}.py:{random.randrange(1, 700)}:    {two}.{verb}({one}_id, {random.randrange(99)})")
    return lines_of(made)


def diff_text(random, path, size):
    made = [f"diff --git a/{path} b/{path}", f"index {key(random, 7)}..{key(random, 7)} 100644", f"--- a/{path}"]
    made.append(f"+++ b/{path}")
    while len(made) < size:
        old, new = _python_function(random), _python_function(random)
        first = random.randrange(1, 600)
        made.append(f"@@ -{first},{len(old)} +{first},{len(new)} @@ {old[0]}")
        made += [f"-{line}" for line in old[1:4]] + [f"+{line}" for line in new[1:5]] + [f" {old[-2]}"]
    return lines_of(made)


def commit_list(random, size):
    return lines_of(f"{key(random, 7)} {day(random)} {person(random)}: {sentence(random)}" for _ in range(size))


def report_of_tests(random, size, failed=1):
    """What pytest prints, without its last line."""
    one, two = random.sample(PARTS, 2)
    made = ["============================= test session starts ============================="]
    made.append(f"platform linux -- Python 3.12.4, pytest-8.3.{random.randrange(5)}, pluggy-1.5.0")
    made.append(f"collected {size} items")
    for place in range(size - failed):
        verb, other = random.sample(ACTIONS, 2)
        share = (place + 1) * 100 // size
        made.append(
            f"tests/{one}/test_{two}.py::test_{verb}_{random.choice(PARTS)}_{other}_{place} PASSED [{share:3}%]"
        )
    for _ in range(failed):
        three = random.choice(PARTS)
        wrong, right = random.sample(range(900), 2)
        made += [
            f"tests/{one}/test_{two}.py::test_{random.choice(ACTIONS)}_{three} FAILED",
            f">       assert {three}.{random.choice(ACTIONS)}() == {right}",
            f"E       assert {wrong} == {right}",
            f"tests/{one}/test_{two}.py:{random.randrange(10, 300)}: AssertionError",
        ]
    return lines_of(made)


def ended(random, report, failed, passed):
    """The report with a last line, whose duration is another each time."""
    seconds = f"{random.uniform(0.2, 1.4):.2f}s"
    counts = f"{failed} failed, {passed} passed" if failed else f"{passed} passed"
    return f"{report}\n========================= {counts} in {seconds} ========================="


# Machines


def service_log(random, size, service, date=None):
    date = date or day(random)
    hour = random.randrange(20)
    made = []
    for place in range(size):
        at = f"{date}T{hour + place // 60:02}:{place % 60:02}:{random.randrange(60):02}Z"
        level = random.choice(["INFO", "INFO", "INFO", "WARN", "ERROR"])
        what = f"{random.choice(ACTIONS)} {random.choice(PARTS)}={random.randrange(99_999)}"
        made.append(f"{at} {level} [{service}] {what} trace={key(random)} host={random.choice(CITIES).lower()}")
    return lines_of(made)


def manifest(random, name, size):
    """A resource of Kubernetes, as YAML."""
    made = ["apiVersion: apps/v1", "kind: Deployment", "metadata:", f"  name: {name}", "spec:", "  template:"]
    made += [f"      image: registry.example.com/{name}:{random.randrange(9)}.{random.randrange(40)}", "      env:"]
    while len(made) < size:
        made.append(f"      - name: {random.choice(ACTIONS).upper()}_{random.choice(PARTS).upper()}_{len(made)}")
        made.append(f'        value: "{random.choice([*CITIES, *STATES]).lower()}-{random.randrange(9_999)}"')
    return lines_of(made)


def pod_names(random, size):
    return [f"{random.choice(PARTS)}-{key(random, 9)}-{key(random, 5)}" for _ in range(size)]


def pod_table(random, names):
    """Pods with their states; the ages are filled in by ``aged``."""
    made = []
    for name in names:
        state = random.choice(["Running", "Running", "Running", "CrashLoopBackOff", "Pending"])
        node = f"node-{random.choice(CITIES).lower()}-{random.randrange(9)}"
        made.append(f"{name:<40} {random.randrange(2)}/1   {state:<18} {random.randrange(40):<4} AGE   {node}")
    return lines_of([f"{'NAME':<40} READY STATUS             RESTARTS AGE   NODE", *made])


def aged(table, minutes):
    """The table of pods with the ages of a moment."""
    first, *others = table.split("\n")
    return lines_of([first, *(line.replace(" AGE ", f" {minutes + place}m ") for place, line in enumerate(others))])


def settings_file(random, size):
    made = []
    while len(made) < size:
        if len(made) % 9 == 0:
            made.append(f"[{random.choice(PARTS)}-{len(made)}]")
        value = random.choice([random.randrange(9_000), random.choice(CITIES).lower(), "true", "off"])
        made.append(f"{random.choice(ACTIONS)}_{random.choice(PARTS)} = {value}")
    return lines_of(made)


def instances(random, size):
    """Machines of a cloud."""
    return [
        {
            "InstanceId": f"i-{key(random, 17)}",
            "InstanceType": random.choice(["t3.large", "m6i.xlarge", "c7g.2xlarge", "r5.large"]),
            "PrivateIpAddress": f"10.{random.randrange(9)}.{random.randrange(250)}.{random.randrange(250)}",
            "State": random.choice(["running", "running", "stopped"]),
            "Name": f"{random.choice(PARTS)}-{random.choice(CITIES).lower()}-{place}",
        }
        for place in range(size)
    ]


# Records


def people_records(random, size):
    """Rows of a table of accounts."""
    made = []
    for place in range(size):
        name = person(random)
        made.append(
            {
                "id": 1000 + place * 7 + random.randrange(7),
                "name": name,
                "email": mail_address(name),
                "city": random.choice(CITIES),
                "status": random.choice(STATES),
                "balance": f"{random.uniform(-300, 9_000):.2f}",
                "created": day(random),
            }
        )
    return made


def psql_table(records, columns=None):
    columns = list(columns or records[0])
    widths = [max(len(column), *(len(str(record[column])) for record in records)) for column in columns]
    head = " | ".join(column.ljust(width) for column, width in zip(columns, widths, strict=True))
    made = [f" {head}", "-+-".join("-" * width for width in widths)]
    for record in records:
        cells = (str(record[column]).ljust(width) for column, width in zip(columns, widths, strict=True))
        made.append(f" {' | '.join(cells)}")
    return lines_of([*made, f"({len(records)} rows)"])


def select(columns, table, rest=""):
    """A query."""
    return " ".join(filter(None, ["SELECT", columns, "FROM", table, rest]))


def comma_separated(records, columns=None):
    columns = list(columns or records[0])
    return lines_of([",".join(columns), *(",".join(str(record[column]) for column in columns) for record in records)])


def bare_table(records, columns=None):
    """As mysql in batch mode or a frame prints it: cells and blanks."""
    columns = list(columns or records[0])
    return lines_of(["\t".join(columns), *("\t".join(str(record[name]) for name in columns) for record in records)])


def order_record(random, number, size):
    """An order with ``size`` articles."""
    return {
        "order_id": number,
        "status": random.choice(STATES),
        "ordered": day(random),
        "ship_to": {
            "name": person(random),
            "city": random.choice(CITIES),
            "zip": str(random.randrange(10_000, 99_999)),
        },
        "items": [
            {
                "sku": key(random, 6).upper(),
                "title": f"{random.choice(CITIES)} {random.choice(PARTS)} {random.randrange(10, 99)}",
                "quantity": random.randrange(1, 9),
                "price": round(random.uniform(2, 400), 2),
                "warehouse": random.choice(CITIES),
            }
            for _ in range(size)
        ],
    }


def customer_record(random, number, size):
    name = person(random)
    return {
        "customer_id": number,
        "name": name,
        "email": mail_address(name),
        "phone": f"+49 {random.randrange(100, 999)} {random.randrange(100_000, 999_999)}",
        "tier": random.choice(["basic", "silver", "gold"]),
        "history": [
            {"date": day(random), "channel": random.choice(["mail", "chat", "phone"]), "summary": sentence(random)}
            for _ in range(size)
        ],
    }


def issue_record(random, number, size):
    """A ticket of a tracker, with comments."""
    return {
        "key": number,
        "title": sentence(random),
        "state": random.choice(["Open", "In Progress", "In Review"]),
        "assignee": person(random),
        "labels": random.sample(PARTS, 3),
        "comments": [
            {"author": person(random), "created": f"{day(random)}T{clock(random)}Z", "body": sentences(random, 2)}
            for _ in range(size)
        ],
    }


def mail_record(random):
    return {
        "id": f"m-{key(random, 10)}",
        "from": mail_address(person(random)),
        "date": f"{day(random)} {clock(random)}",
        "subject": f"{random.choice(ACTIONS).title()} the {random.choice(PARTS)} in {random.choice(CITIES)}",
        "preview": sentence(random),
    }


def mail_text(random, size):
    head = [f"From: {person(random)}", f"Date: {day(random)}", f"Subject: {sentence(random)}", ""]
    return lines_of([*head, *(sentence(random) for _ in range(size))])


def event_record(random):
    hour = random.randrange(8, 17)
    return {
        "id": f"ev_{key(random, 10)}",
        "title": f"{random.choice(PARTS).title()} {random.choice(['review', 'sync', 'planning', 'call'])}",
        "start": f"{day(random)}T{hour:02}:{random.choice(['00', '15', '30'])}",
        "end": f"{hour + 1:02}:{random.choice(['00', '15', '30'])}",
        "organizer": mail_address(person(random)),
        "room": f"{random.choice(CITIES)} {random.randrange(1, 40)}",
    }


def memory_records(random, size):
    return [
        {"id": f"mem_{key(random)}", "saved": day(random), "score": f"0.{random.randrange(50, 99)}", "text": made}
        for made in (sentence(random) for _ in range(size))
    ]


# Pages and documents


def web_page(random, size, subject):
    made = [f"# {subject.title()}: {random.choice(ACTIONS)} and {random.choice(ACTIONS)}", ""]
    while len(made) < size:
        if len(made) % 11 == 0:
            made.append(f"## {random.choice(CITIES)} and {random.choice(PARTS)} {random.randrange(99)}")
        made.append(sentence(random))
    return lines_of(made)


def html_page(random, size, subject):
    made = ["<html>", f"<head><title>{subject.title()} in {random.choice(CITIES)}</title></head>", "<body>", "<ul>"]
    made += [f'<li><a href="/{random.choice(PARTS)}/{place}">{sentence(random)}</a></li>' for place in range(size - 7)]
    return lines_of([*made, "</ul>", "</body>", "</html>"])


def result_page(random, size, query):
    made = [f"Results for: {query}", ""]
    for place in range(1, size // 3 + 1):
        made.append(f"{place}. {random.choice(SUBJECTS).title()} in {random.choice(CITIES)}: {random.choice(PARTS)}")
        made.append(f"   https://{random.choice(PARTS)}.example.org/{random.choice(ACTIONS)}/{random.randrange(9_999)}")
        made.append(f"   {sentence(random)}")
    return lines_of(made)


def rule_book(random, size, title):
    made = [title]
    made += [f"{1 + place // 8}.{1 + place % 8} {sentence(random)}" for place in range(size - 1)]
    return lines_of(made)


def page_tree(random, size, title):
    """A page as a browser's tool describes it."""
    made = [f"- document: {title}"]
    for place in range(size):
        kind = random.choice(["link", "button", "textbox", "cell", "heading", "option"])
        words = f"{random.choice(ACTIONS)} {random.choice(PARTS)} {random.choice(CITIES)}"
        made.append(f"  - {kind} '{words}' [ref=s{random.randrange(1, 4)}e{place + 3}]")
    return lines_of(made)


# The tools of several agents


class Kit:
    """What the tools of an agent have in common: how they show a file, and say that there is none."""

    mark, opening, absent = None, "", ""

    def shown(self, path, text):
        return self.opening.format(path=path) + (numbered_lines(text, mark=self.mark) if self.mark else text)

    def missing(self, path):
        return self.absent.format(path=path)


class ClaudeCode(Kit):
    """The tools of Claude Code."""

    mark = "→"
    absent = "<tool_use_error>File does not exist.</tool_use_error>"

    def look(self, path):
        return "Read", {"file_path": path}

    def run(self, command):
        return "Bash", {"command": command, "description": f"Run {command.split()[0]}"}

    def change(self, path, old, new):
        return "Edit", {"file_path": path, "old_string": old, "new_string": new}

    def plan(self, steps):
        todos = [{"content": step, "status": "pending", "activeForm": step} for step in steps]
        return ("TodoWrite", {"todos": todos}), "Todos have been modified successfully."


class Codex(Kit):
    """The tools of Codex: a shell, a patch, a plan."""

    absent = "sed: can't read {path}: No such file or directory"

    def look(self, path):
        return self.run(f"sed -n '1,220p' {path}")

    def run(self, command):
        return "shell", {"command": ["bash", "-lc", command]}

    def change(self, path, old, new):
        old, new = (text.replace("\n", f"\n{mark}") for text, mark in ((old, "-"), (new, "+")))
        text = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
        return "apply_patch", {"input": text}

    def plan(self, steps):
        return ("update_plan", {"plan": [{"step": step, "status": "pending"} for step in steps]}), "Plan updated"


class Cline(Kit):
    """The tools of Cline."""

    absent = "Error reading file: File not found: {path}"

    def look(self, path):
        return "read_file", {"path": path}

    def run(self, command):
        return "execute_command", {"command": command, "requires_approval": False}

    def change(self, path, old, new):
        diff = f"------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE"
        return "replace_in_file", {"path": path, "diff": diff}

    def plan(self, steps):
        progress = lines_of(f"- [ ] {step}" for step in steps)
        return ("update_todo_list", {"todos": progress}), "Todo list updated successfully."


class OpenHands(Kit):
    """The tools of OpenHands."""

    mark = "\t"
    opening = "Here's the result of running `cat -n` on {path}:\n"
    absent = "ERROR:\nInvalid `path` parameter: {path}. The path {path} does not exist."

    def look(self, path):
        return "str_replace_editor", {"command": "view", "path": path}

    def run(self, command):
        return "execute_bash", {"command": command}

    def change(self, path, old, new):
        return "str_replace_editor", {"command": "str_replace", "path": path, "old_str": old, "new_str": new}

    def plan(self, steps):
        return ("think", {"thought": " Then ".join(steps)}), "Your thought has been logged."


class GeminiClient(Kit):
    """The tools of Gemini's command line."""

    absent = "File not found: {path}"

    def look(self, path):
        return "read_file", {"absolute_path": path}

    def run(self, command):
        return "run_shell_command", {"command": command, "description": f"Runs {command.split()[0]}."}

    def change(self, path, old, new):
        return "replace", {"file_path": path, "old_string": old, "new_string": new, "expected_replacements": 1}

    def plan(self, steps):
        return ("write_todos", {"todos": [{"description": step} for step in steps]}), "Successfully updated the todos."


KITS = ClaudeCode, Codex, Cline, OpenHands, GeminiClient


def kit_of(random):
    return random.choice(KITS)()


def line_changed(random, text):
    """A line of the text and another in its place, and the text with it."""
    made = text.split("\n")
    places = [place for place, line in enumerate(made) if len(line) > 24]
    place = random.choice(places)
    old = made[place]
    made[place] = f"{old[:20]}{random.choice(ACTIONS)}_{random.choice(PARTS)}({random.randrange(9_999)})"
    return old, made[place], lines_of(made)


def setting_changed(random, text):
    """The same with a file of settings."""
    made = text.split("\n")
    place = random.choice([place for place, line in enumerate(made) if " = " in line])
    old = made[place]
    made[place] = f"{old.split(' = ')[0]} = {random.randrange(9_000)}"
    return old, made[place], lines_of(made)
