"""
Sessions that go round: what is read left the window because the rest was read, and is read again; nothing changes.

Each sort writes its session and returns the place of the first call that asks again for what was already read.
"""

import itertools
import json

import attrs

CALLS = 24  # behind the first lap, or somewhat more: laps are whole

WISHES = (
    "where {0} is handled", "{0} handling", "how does {0} work", "code that handles {0}", "find {0} implementation",
    "{0} usage", "places which use {0}", "{0} logic", "definition of {0}", "what is {0}",
)  # fmt: skip
TALK = (
    "Let me look at that again.", "I need the details once more.", "Hm, I should check this before I go on.",
    "To be sure, I open it again.", "I do not have this in front of me any more.", "Now, what did it say?", None,
)  # fmt: skip


@attrs.frozen
class Member:
    """Something in the ring: its name and its text."""

    name: str
    text: str


def members(script, number, kind, pattern="{}", *, tokens=None):
    """So many, which do not fit into the window together."""
    tokens = tokens or {2: 3_400, 3: 2_400, 4: 2_000, 5: 1_800, 6: 1_600, 7: 1_450}[number]
    return [Member(pattern.format(name), script.text(kind, tokens)) for name in script.nouns(number)]


def around(script, ring, ask, *, after=lambda *_: None, order=lambda ring, _: ring, takes=0.2):
    """Lap after lap; ``ask`` says a call's name, arguments and result, ``after`` adds what comes between."""
    begins, laps = None, 1 + -(-CALLS // len(ring))
    for lap in range(laps):
        if lap == 1:
            begins = len(script.rounds)
        for member in order(ring, lap):
            name, arguments, shown = ask(member, lap)
            script.call(name, arguments, shown, takes=takes)
            after(member, lap)
    return begins


def reading(script):
    """Asks the session's tool for files for a member."""
    name, key = script.reader
    return lambda member, _: (name, {key: member.name}, member.text)


def running(script, *commands):
    """Asks the session's shell, each lap with the next of the commands, which are patterns."""
    name, key = script.shell
    return lambda member, lap: (name, {key: commands[lap % len(commands)].format(member.name)}, member.text)


# The same calls, over and over.


def three_files(script):
    script.user("Why do these three modules disagree?")
    return around(script, members(script, 3, "python", "src/{}.py"), reading(script))


def two_large_files_by_turns(script):
    script.user("Port the client to the new server.")
    return around(script, members(script, 2, "python", "net/{}.rs"), reading(script))


def seven_contracts(script):
    script.user("Which of the contracts end this year?")
    ring = members(script, 7, "contract", "contracts/{}.txt")
    return around(script, ring, lambda member, _: ("read_document", {"document": member.name}, member.text))


def six_letters(script):
    script.user("Who promised what to whom?")
    ring = members(script, 6, "mail")
    return around(script, ring, lambda member, _: ("get_thread", {"id": member.name, "full": True}, member.text))


def five_tables_described(script):
    script.user("Draw me the model of this database.")
    ring = members(script, 5, "table")
    return around(script, ring, lambda member, _: ("describe_table", {"table": member.name}, member.text), takes=0.8)


def four_folders_listed(script):
    script.user("Where do we keep the scans?")
    return around(script, members(script, 4, "listing"), running(script, "ls -l archive/{}"))


def four_pages_fetched(script):
    script.user("Which of these tools can do both?")
    ring = members(script, 4, "page", "https://tools.example/{}")
    return around(script, ring, lambda member, _: ("web_fetch", {"url": member.name, "prompt": "all"}, member.text))


def parts_of_a_record(script):
    script.user("Summarise the patient's stay.")
    ring = members(script, 4, "record")
    return around(script, ring, lambda member, _: ("get_record", {"patient": 31, "part": member.name}, member.text))


def ranges_of_a_sheet(script):
    script.user("Where does the sum come from?")
    ring = members(script, 3, "table", "{}!A1:F90")
    ask = lambda member, _: ("read_range", {"book": "budget.xlsx", "range": member.name}, member.text)  # noqa: E731 - short
    return around(script, ring, ask)


def long_names_of_tools(script):
    script.user("What did we decide about the harbour?")
    ring = members(script, 5, "page")
    return around(
        script, ring, lambda member, _: ("mcp__wiki_v2__get_page_by_title", {"title": member.name}, member.text)
    )


def one_index_between(script):
    """A small circle in a large one: the index, one file, the index, the other."""
    script.user("Bring the index up to date.")
    index, *files = members(script, 3, "json", "data/{}.json", tokens=3_200)
    ring = [index, files[0], index, files[1]]
    return around(script, ring, reading(script))


def a_tool_for_each(script):
    """Each member of the ring has a tool of its own."""
    script.user("Is the shop healthy?")
    names = ("get_metrics", "list_alerts", "describe_cluster", "recent_deploys")
    ring = [Member(name, each.text) for name, each in zip(names, members(script, 4, "json"), strict=True)]
    return around(script, ring, lambda member, _: (member.name, {}, member.text))


def commits_shown(script):
    script.user("Which commit broke the export?")
    return around(script, members(script, 4, "python", "HEAD~{}"), running(script, "git show {}"))


# The same, and it takes longer, or is talked about.


def slow_queries(script):
    """Each takes seconds."""
    script.user("Why do the two reports differ?")
    ring = members(script, 3, "table", "SELECT * FROM {} ORDER BY id")
    ask = lambda member, _: ("sql", {"query": member.name}, member.text)  # noqa: E731 - short
    return around(script, ring, ask, takes=script.chance.uniform(4, 9))


def a_subagent_is_asked(script):
    """The same orders to a subagent, which takes its time and answers the same."""
    script.user("Plan the move to the new warehouse.")
    ring = members(script, 3, "page", "Read everything about the {} and report in full.")
    ask = lambda member, _: ("task", {"prompt": member.name, "agent": "explorer"}, member.text)  # noqa: E731 - short
    return around(script, ring, ask, takes=script.chance.uniform(8, 30))


def with_small_talk(script):
    """Each call has a sentence with it."""
    script.user("Where is the rounding error?")
    ring, (name, key), begins = members(script, 3, "python", "lib/{}.js"), script.reader, None
    for number, member in enumerate(itertools.islice(itertools.cycle(ring), 3 + CALLS)):
        begins = len(script.rounds) if number == 3 else begins
        script.call(name, {key: member.name}, member.text, note=script.chance.choice(TALK))
    return begins


def with_thoughts_between(script):
    """A tool that only takes a thought comes between."""
    script.user("Find out why the night job stops.")

    def think(member, lap):
        script.call("think", {"thought": f"I have seen {member.name}, reading {lap + 1}."}, "ok")

    return around(script, members(script, 3, "log", "log/{}.log"), reading(script), after=think)


def with_a_look_at_the_plan(script):
    """After each lap, the plan is read, which is small and stays as it is."""
    script.user("Go on with the plan.")
    ring = members(script, 3, "settings", "deploy/{}.yaml")

    def plan(member, _):
        if member is ring[-1]:
            script.call("todo_read", {}, "1. [ ] read the three files\n2. [ ] write the summary")

    return around(script, ring, reading(script), after=plan)


def with_a_slip_between(script):
    """Now and then a path is wrong, and an error comes."""
    script.user("Document the three adapters.")
    name, key = script.reader

    def slip(member, lap):
        if script.chance.random() < 0.3:
            script.call(name, {key: f"{member.name}{lap}"}, f"Error: no such file: {member.name}{lap}")

    return around(script, members(script, 3, "python", "adapters/{}.py"), reading(script), after=slip)


def after_a_long_work(script):
    """Much was read and edited before."""
    script.user("Rename the ledger everywhere.")
    for name in script.nouns(8):
        script.read(f"app/{name}.py", script.text("python", 700))
        script.call("edit_file", {"path": f"app/{name}.py", "old": "ledger", "new": "book"}, "changed 1")
    return around(script, members(script, 3, "python", "tests/{}.py"), reading(script))


def in_the_second_task(script):
    """A first task came to its end; the circle begins in the next."""
    script.user("What is in the inbox?")
    script.call("list_inbox", {}, script.text("mail", 900))
    script.say("Eleven mails about the move.")
    script.user("Then write to those who must know.")
    ring = members(script, 4, "mail", "contact:{}")
    return around(script, ring, lambda member, _: ("open_contact", {"id": member.name}, member.text))


# Calls of one reply.


def pairs_at_once(script):
    """Two are read in one reply, then the other two."""
    script.user("Do client and server agree?")
    ring, (name, key) = members(script, 4, "python", "api/{}.ts"), script.reader
    pairs, begins = [ring[:2], ring[2:]], None
    for number in range(2 + CALLS // 2):
        begins = len(script.rounds) if number == 2 else begins
        script.together(*((name, {key: member.name}, member.text) for member in pairs[number % 2]))
    return begins


def in_another_order(script):
    """Each lap has an order of its own."""
    script.user("Which log shows the cause?")
    order = lambda ring, lap: [ring, ring[1:] + ring[:1], ring[::-1]][lap % 3]  # noqa: E731 - short
    return around(script, members(script, 4, "log", "var/{}.log"), reading(script), order=order)


# The same things, asked for in other words.


def one_search_reworded(script):
    """Three subjects by turns, each time in other words; the hits are the same."""
    script.user("How are these three connected?")
    wishes = itertools.cycle(WISHES)
    ask = lambda member, _: ("code_search", {"query": next(wishes).format(member.name)}, member.text)  # noqa: E731 - short
    return around(script, members(script, 3, "hits"), ask)


def a_search_and_a_file(script):
    """A search in new words each time, and a file by turns."""
    script.user("Where is it called?")
    hits, file = members(script, 2, "hits")
    name, key = script.reader

    def ask(member, lap):
        if member is file:
            return name, {key: f"src/{file.name}.ts"}, file.text
        return "semantic_search", {"q": WISHES[lap % len(WISHES)].format(hits.name), "limit": 40}, hits.text

    return around(script, [hits, file], ask)


def results_counted_otherwise(script):
    """Searches of the web whose number of wanted results changes and is not heeded."""
    script.user("What do people say about these boats?")
    ring = members(script, 3, "page", "{} boat review")

    def ask(member, lap):
        return "web_search", {"query": member.name, "max_results": 10 + lap}, member.text

    return around(script, ring, ask)


def other_spacing(script):
    """A command with more or fewer spaces and other quotes."""
    script.user("Who uses these?")
    commands = ('grep -rn "{}" src/', "grep  -rn '{}'  src/", "grep -rn {} src/ ", "  grep -rn '{}' src")
    return around(script, members(script, 3, "hits"), running(script, *commands))


def other_order_of_flags(script):
    script.user("Who uses these?")
    commands = ("rg -n -i {} lib", "rg -i -n {} lib", "rg -in {} lib", "rg -ni {} lib", "rg -n --ignore-case {} lib")
    return around(script, members(script, 3, "hits"), running(script, *commands))


def other_flags_of_a_listing(script):
    script.user("Which files are too old?")
    commands = ("ls -la {}", "ls -al {}", "ls -l -a {}", "ls -la ./{}", "ls -la {}/")
    return around(script, members(script, 4, "listing", "store/{}"), running(script, *commands))


def ends_of_logs(script):
    script.user("What happened last night?")
    commands = ("tail -n 120 {}", "tail -120 {}", "tail --lines=120 {}", "cat {} | tail -n 120")
    return around(script, members(script, 3, "log", "/var/log/{}.log"), running(script, *commands))


def other_tools_for_a_file(script):
    """By ``cat``, by ``sed``, by a tool for reading, which numbers the lines."""
    script.user("Review the three modules.")
    (reader, path_key), (shell, key) = script.reader, script.shell

    def ask(member, lap):
        numbered = "\n".join(f"{place:>5}\t{line}" for place, line in enumerate(member.text.split("\n"), 1))
        return (
            (shell, {key: f"cat {member.name}"}, member.text),
            (reader, {path_key: member.name}, numbered),
            (shell, {key: f"sed -n '1,400p' {member.name}"}, member.text),
        )[lap % 3]

    return around(script, members(script, 3, "contract", "notes/{}.md"), ask)


def other_spellings_of_a_path(script):
    script.user("Which module opens the socket?")
    name, key = script.reader
    spelled = ("src/{}.c", "./src/{}.c", "/repo/src/{}.c", "src//{}.c", "src/../src/{}.c")
    ring = members(script, 3, "python")
    return around(script, ring, lambda member, lap: (name, {key: spelled[lap % 5].format(member.name)}, member.text))


def other_spellings_of_an_address(script):
    script.user("Compare the offers.")
    spelled = ("https://{}.example/offer", "https://{}.example/offer/", "http://{}.example/offer#top")
    ring = members(script, 3, "page")
    return around(
        script, ring, lambda member, lap: ("fetch", {"url": spelled[lap % 3].format(member.name)}, member.text)
    )


def other_spellings_of_a_query(script):
    script.user("Why is the total wrong?")
    spelled = (
        "SELECT * FROM {} WHERE year = 2031",
        "select * from {} where year=2031;",
        "SELECT *\nFROM {}\nWHERE year = 2031",
    )
    ring = members(script, 3, "table")
    return around(
        script, ring, lambda member, lap: ("run_sql", {"sql": spelled[lap % 3].format(member.name)}, member.text)
    )


def other_order_of_arguments(script):
    """The arguments are a text of JSON whose keys and spaces are in another order."""
    script.user("Why do parcels get lost?")

    def ask(member, lap):
        arguments = [("index", "logs"), ("service", member.name), ("level", "all"), ("size", 100)]
        turned = dict(arguments[lap % 4 :] + arguments[: lap % 4])
        return "query_logs", json.dumps(turned, indent=lap % 2 * 2 or None), member.text

    return around(script, members(script, 3, "log"), ask)


def other_forms_of_a_time(script):
    """One and the same hour, written differently."""
    script.user("What happened between eight and nine?")
    hours = (
        ("2031-04-02T08:00:00Z", "2031-04-02T09:00:00Z"), ("2031-04-02 08:00", "2031-04-02 09:00"),
        ("1932883200", "1932886800"),
    )  # fmt: skip

    def ask(member, lap):
        start, end = hours[lap % 3]
        return "get_logs", {"stream": member.name, "from": start, "to": end}, member.text

    return around(script, members(script, 3, "log"), ask)


def a_foot_with_the_time_taken(script):
    """The calls are the same; below each result stands how long it took, which is all that differs."""
    script.user("Explain the two layouts.")
    name, key = script.shell

    def ask(member, _):
        return name, {key: f"cat {member.name}"}, f"{member.text}\n(took {script.chance.uniform(0.01, 0.2):.3f} s)"

    return around(script, members(script, 2, "settings", "etc/{}.conf"), ask)


# The same things, cut at other places.


def ranges_that_shift(script):
    """A few lines further each time; nearly all of them were read before."""
    script.user("What does the parser do with comments?")
    name, key = script.reader
    ring = members(script, 3, "contract", "src/{}.txt")

    def ask(member, lap):
        lines = member.text.split("\n")
        start = lap * 3 % 12
        shown = "\n".join(lines[start : len(lines) - 12 + start])
        return name, {key: member.name, "offset": start, "limit": len(lines) - 12}, shown

    return around(script, ring, ask)


def ranges_of_sed(script):
    """The same with a command, and other ranges."""
    script.user("What does the protocol say?")
    name, key = script.shell
    ring = members(script, 2, "page", "rfc/{}.txt", tokens=3_900)

    def ask(member, lap):
        lines = member.text.split("\n")
        start = 1 + lap * 5 % 20
        shown = "\n".join(lines[start - 1 : len(lines) - 20 + start])
        return name, {key: f"sed -n '{start},{len(lines) - 21 + start}p' {member.name}"}, shown

    return around(script, ring, ask)


def pages_of_a_document(script):
    """Pages of one PDF, which come round."""
    script.user("Which figures belong to 2030?")
    ring = members(script, 5, "record")
    numbered = {member.name: place for place, member in enumerate(ring)}

    def ask(member, _):
        first = numbered[member.name] * 4 + 1
        return "read_pdf", {"path": "report.pdf", "pages": f"{first}-{first + 3}"}, member.text

    return around(script, ring, ask)


CIRCLES = (
    three_files, two_large_files_by_turns, seven_contracts, six_letters, five_tables_described, four_folders_listed,
    four_pages_fetched, parts_of_a_record, ranges_of_a_sheet, long_names_of_tools, one_index_between, a_tool_for_each,
    commits_shown, slow_queries, a_subagent_is_asked, with_small_talk, with_thoughts_between, with_a_look_at_the_plan,
    with_a_slip_between, after_a_long_work, in_the_second_task, pairs_at_once, in_another_order, one_search_reworded,
    a_search_and_a_file, results_counted_otherwise, other_spacing, other_order_of_flags, other_flags_of_a_listing,
    ends_of_logs, other_tools_for_a_file, other_spellings_of_a_path, other_spellings_of_an_address,
    other_spellings_of_a_query, other_order_of_arguments, other_forms_of_a_time, a_foot_with_the_time_taken,
    ranges_that_shift, ranges_of_sed, pages_of_a_document,
)  # fmt: skip
