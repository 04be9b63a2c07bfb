"""Later circles that say the same again, or the same with other things between."""

from tests.support.later_talk import (
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

SMALL_TALK = (
    "I am still looking into this.",
    "One moment, I make sure of the details.",
    "I have nearly all that I need.",
    "This takes a little longer than I thought.",
    "I check one more thing for you.",
)
DOUBTS = (
    "I need to see how {} and {} belong together.",
    "Before I go on, let me check {} against {}.",
    "The {} may depend on the {}; I look once more.",
    "Let me verify what I assumed of {} and of {}.",
    "To be certain about the {}, I look at the {} again.",
    "Now to the {}. It should explain the {}.",
)


def go_round(talk, members, *, laps=6, between=None, narrates=False):
    """
    The circle: in each lap each member is asked for in another of its ways.

    Members are pairs of a text and the ways to it; a way is a tool, or a tool with what it shows of the text.
    """
    talk.begin()
    for lap in range(max(laps, -(-30 // len(members)))):
        for place, (text, ways) in enumerate(members):
            way = ways[lap % len(ways)]
            tool, output = way if isinstance(way[0], tuple) else (way, text)
            talk.run(tool, output, text=doubt(talk) if narrates else None)
            if between is not None:
                between(talk, lap, place)


def doubt(talk):
    return talk.random.choice(DOUBTS).format(*words(talk.random))


def files(talk, number, size, suffix="py"):
    """Names, and the texts of programs."""
    names = words(talk.random, number)
    return [(f"{name}.{suffix}", code(talk.random, size + talk.random.randrange(30))) for name in names]


def first_steps(talk, task):
    """A task, and what was done for it before the circle."""
    talk.user(task)
    talk.run(bash("git status --short"), " M src/app.py")
    talk.run(bash("ls -R src | head -60"), settings(talk.random, 40))


def same_files_by_turns(talk):
    first_steps(talk, "Why is the total of an order sometimes wrong?")
    found = files(talk, talk.random.randrange(4, 7), 190)
    go_round(talk, [(numbered(text), [read(f"/workspace/shop/{name}")]) for name, text in found])


def same_many_files_by_turns(talk):
    """A ring of eight, by the shell."""
    first_steps(talk, "Where is the retry policy decided?")
    found = files(talk, 8, 130)
    go_round(talk, [(text, [shell(f"cat src/{name}", workdir="/workspace")]) for name, text in found])


def same_files_by_a_slow_model(talk):
    """Half a minute for each reply."""
    talk.slow = 6.0
    first_steps(talk, "Describe how a ticket is priced.")
    found = files(talk, 5, 180, "ts")
    go_round(talk, [(text, [("read", {"filePath": f"/workspace/src/{name}"})]) for name, text in found])


def same_files_in_one_reply(talk):
    """Two are asked for together, then two others, and so on, again and again."""
    first_steps(talk, "Review the modules of the roster.")
    found = files(talk, 6, 170)
    talk.begin()
    for _ in range(6):
        for pair in found[:2], found[2:4], found[4:]:
            talk.together([(read(f"/workspace/roster/{name}"), numbered(text)) for name, text in pair])


def thinks_between(talk):
    """The tool for thinking is called after each reading, with other thoughts."""
    first_steps(talk, "Why does the export hang?")

    def think(talk, lap, place):
        number = lap * 4 + place + 1
        thought = {"thought": doubt(talk), "thoughtNumber": number, "totalThoughts": number + 3}
        talk.run(("sequentialthinking", {**thought, "nextThoughtNeeded": True}), f'{{"thoughtNumber": {number}}}')

    found = files(talk, 4, 200)
    members = [(text, [("read_file", {"path": f"src/{name}"})]) for name, text in found]
    go_round(talk, members, between=think, laps=8)


def plans_between(talk):
    """The list of what is to do is written again, and nothing on it is ever done."""
    first_steps(talk, "Add an option for the time zone.")
    items = [f"Understand the {one}" for one in words(talk.random, 5)]

    def plan(talk, lap, place):
        if place % 2 == 1:
            todos = [{"content": item, "status": "pending", "activeForm": item} for item in items]
            todos[(lap + place) % 5]["status"] = "in_progress"
            talk.run(("TodoWrite", {"todos": todos}), "Todos have been modified successfully.")

    found = files(talk, 5, 190)
    go_round(talk, [(numbered(text), [read(f"/workspace/app/{name}")]) for name, text in found], between=plan)


def fails_between(talk):
    """Calls that fail stand between: paths that do not exist, another each time."""
    first_steps(talk, "Where do we read the settings?")

    def fail(talk, lap, place):
        path = f"src/{'/'.join(words(talk.random))}_{lap}{place}.py"
        talk.run(shell(f"cat {path}"), f"cat: {path}: No such file or directory")

    members = [(text, [shell(f"cat src/{name}")]) for name, text in files(talk, 4, 200)]
    go_round(talk, members, between=fail, laps=8)


def tells_the_user_between(talk):
    """A tool by which the user is told that it goes on."""
    talk.user("My subscription was charged twice. What happened?")
    found = [prose(talk.random, 75), rows(talk.random, 140), prose(talk.random, 80), settings(talk.random, 200)]
    names = "search_knowledge_base", "list_charges", "get_policy", "get_customer"
    asked = {"query": "charged twice"}, {"customer": "c-1881"}, {"name": "refunds"}, {"customer": "c-1881"}

    def chat(talk, lap, place):
        text = SMALL_TALK[(lap * 4 + place) % len(SMALL_TALK)]
        talk.run(("message_notify_user", {"text": text}), "Message sent")

    members = [(text, [(name, arguments)]) for text, name, arguments in zip(found, names, asked, strict=True)]
    go_round(talk, members, between=chat, laps=8)


def says_something_between(talk):
    """Replies without a call, after which the host lets it go on."""
    first_steps(talk, "Explain the cache to me.")

    def say(talk, lap, place):
        if place == lap % 4:
            talk.tell(SMALL_TALK[(lap + place) % len(SMALL_TALK)])

    go_round(talk, [(text, [shell(f"cat lib/{name}")]) for name, text in files(talk, 4, 200, "rb")], between=say)


def narrates_each_step(talk):
    """Each call has a reason, which is worded anew."""
    first_steps(talk, "Find the leak.")
    found = files(talk, 5, 190, "go")
    members = [(numbered(text), [read(f"/workspace/internal/{name}")]) for name, text in found]
    go_round(talk, members, narrates=True)


def lists_between(talk):
    """A glob, a small file and large ones."""
    first_steps(talk, "How are the fixtures made?")
    small = settings(talk.random, 12)
    members = [
        (joined(f"/workspace/tests/{name}.py" for name in words(talk.random, 20)), [("Glob", {"pattern": "tests/*"})]),
        (small, [read("/workspace/tests/conftest.py")]),
    ]
    members += [(numbered(text), [read(f"/workspace/tests/{name}")]) for name, text in files(talk, 4, 190)]
    go_round(talk, members)


def drifts_in_its_order(talk):
    """Two neighbours change places in each lap."""
    first_steps(talk, "What writes to the audit table?")
    members = [(text, [shell(f"cat src/{name}")]) for name, text in files(talk, 7, 160)]
    talk.begin()
    for _ in range(7):
        place = talk.random.randrange(6)
        members[place], members[place + 1] = members[place + 1], members[place]
        for text, ways in members:
            talk.run(ways[0], text)


def looks_at_the_cluster_without_a_wait(talk):
    """DevOps: nothing changes in the events, the pods and the log, and it does not wait for them."""
    talk.user("Checkout answers with 502. Find the cause.")
    members = [
        (settings(talk.random, 230), [bash("kubectl -n prod describe pod checkout-7d9f")]),
        (log(talk.random, 90, "checkout"), [bash("kubectl -n prod logs checkout-7d9f --tail=90")]),
        (rows(talk.random, 150), [bash("kubectl -n prod get events --sort-by=.lastTimestamp")]),
        (settings(talk.random, 210), [bash("kubectl -n prod get deploy checkout -o yaml")]),
    ]
    go_round(talk, members, laps=8)


def browses_to_and_fro(talk):
    """A browser agent between the list, two products and the basket."""
    talk.user("Order the cheapest kettle with a warranty of three years.")
    pages = ("kettles", "kettles/a120", "kettles/b7", "basket")
    members = [
        (snapshot(talk.random, 130, page), [("browser_navigate", {"url": f"https://shop.example.com/{page}"})])
        for page in pages
    ]
    go_round(talk, members, laps=8, narrates=True)


def asks_the_house_by_turns(talk):
    """Home automation: histories of four sensors, of a day that is over."""
    talk.user("Why was it so cold yesterday morning?")
    sensors = [f"sensor.{name}" for name in words(talk.random, 4)]
    day = {"start_time": "2025-11-03T00:00:00", "end_time": "2025-11-03T12:00:00"}
    members = [(rows(talk.random, 150), [("get_history", {"entity_id": one, **day})]) for one in sensors]
    go_round(talk, members, laps=8)


def queries_the_same_tables(talk):
    """A data analyst: schema, sample and totals, and from the beginning."""
    talk.user("Why do the totals of the two systems differ?")
    names = words(talk.random, 4)
    members = [(rows(talk.random, 150), [sql(f"SELECT * FROM {name} LIMIT 150")]) for name in names]  # noqa: S608
    members.append((settings(talk.random, 200), [python("for t in tables: print(t, schema(t))")]))
    go_round(talk, members)


def searches_and_reads_by_turns(talk):
    """A search, two of its hits, another search, and the first again."""
    first_steps(talk, "Is the lock ever released?")
    one, two, three = words(talk.random, 3)
    found = files(talk, 3, 170)
    members = [
        (hits(talk.random, 85), [("Grep", {"pattern": f"{one}_lock", "output_mode": "content", "-n": True})]),
        *[(numbered(text), [read(f"/workspace/src/{name}")]) for name, text in found],
        (hits(talk.random, 85), [("Grep", {"pattern": f"release_{two}|{three}", "output_mode": "content"})]),
    ]
    go_round(talk, members)


LATER_RINGS = [
    same_files_by_turns,
    same_many_files_by_turns,
    same_files_by_a_slow_model,
    same_files_in_one_reply,
    thinks_between,
    plans_between,
    fails_between,
    tells_the_user_between,
    says_something_between,
    narrates_each_step,
    lists_between,
    drifts_in_its_order,
    looks_at_the_cluster_without_a_wait,
    browses_to_and_fro,
    asks_the_house_by_turns,
    queries_the_same_tables,
    searches_and_reads_by_turns,
]
