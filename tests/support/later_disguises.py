"""Later circles in disguise: the same text is asked for in other words, with other flags, or by other tools."""

from tests.support.later_rings import files, first_steps, go_round
from tests.support.later_talk import (
    PLACES,
    bash,
    code,
    hits,
    joined,
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


def searches_in_other_words(talk):
    """A research agent: the words change, what is found does not."""
    town = talk.random.choice(PLACES)
    talk.user(f"When was the tram of {town} closed, and why?")
    wordings = [
        ["{} tram closure year", "when did trams end in {}", "{} tramway abandoned date", "last tram {} history"],
        [
            "reasons {} tram closed",
            "why did {} abandon its trams",
            "{} trams replaced by buses cause",
            "{} tram end why",
        ],
        [
            "{} tram network map lines",
            "list of tram lines {}",
            "tram routes formerly in {}",
            "{} old tram line numbers",
        ],
        ["{} tram company ownership", "who ran the trams of {}", "operator of {} tramway", "{} tram operating company"],
    ]
    members = [
        (prose(talk.random, 75), [("web_search", {"query": one.format(town), "max_results": 10}) for one in four])
        for four in wordings
    ]
    go_round(talk, members, laps=8)


def puts_flags_in_another_order(talk):
    first_steps(talk, "Find all uses of the old client.")
    members = [
        (
            hits(talk.random, 105),
            [
                bash(f"rg -n -i --hidden {name} src"),
                bash(f"rg --hidden -i -n {name} src"),
                bash(f"rg -i --hidden -n '{name}' src/"),
                bash(f"rg -ni --hidden -e {name} ./src"),
            ],
        )
        for name in words(talk.random, 4)
    ]
    go_round(talk, members, laps=8)


def writes_paths_in_other_ways(talk):
    first_steps(talk, "Why is the build of the front end so large?")
    members = [
        (
            numbered(text),
            [
                read(f"/workspace/web/src/{name}"),
                read(f"src/{name}"),
                read(f"./src/{name}"),
                read(f"../web/src/{name}"),
            ],
        )
        for name, text in files(talk, 5, 190, "tsx")
    ]
    go_round(talk, members)


def takes_cat_or_sed_or_the_tool(talk):
    first_steps(talk, "What does the scheduler do at midnight?")
    members = [
        (
            text,
            [
                (read(f"/workspace/jobs/{name}"), numbered(text)),
                bash(f"cat jobs/{name}"),
                bash(f"sed -n '1,400p' jobs/{name}"),
                (bash(f"cat -n /workspace/jobs/{name}"), numbered(text)),
            ],
        )
        for name, text in files(talk, 4, 200)
    ]
    go_round(talk, members, laps=8)


def pipes_in_other_ways(talk):
    """Codex: ``head``, ``cat`` with a pipe, ``nl``, ``awk``; all show the whole file."""
    first_steps(talk, "Explain the parser.")
    members = [
        (
            text,
            [
                shell(f"head -n 500 src/{name}"),
                (shell(f"nl -ba src/{name} | sed -n '1,300p'"), numbered(text)),
                shell(f"cat src/{name} | head -400", workdir="/workspace"),
                shell(f"cd /workspace && awk 'NR<=600' src/{name}"),
            ],
        )
        for name, text in files(talk, 4, 200)
    ]
    go_round(talk, members, laps=8)


def sets_another_limit(talk):
    """Each limit is beyond the end of the file."""
    first_steps(talk, "Is the tariff table complete?")
    members = [
        (numbered(text), [read(f"/workspace/tariffs/{name}", limit=limit) for limit in (2000, 1000, 1500, 800, 3000)])
        for name, text in files(talk, 4, 200)
    ]
    go_round(talk, members, laps=8)


def reads_overlapping_ranges(talk):
    """In each lap the file is cut elsewhere; the pieces together are always the file."""
    first_steps(talk, "Look for the off-by-one error in engine.py.")
    lines = code(talk.random, 900).split("\n")
    talk.begin()
    for step in (180, 150, 200, 165, 190, 140):
        for first in range(0, len(lines), step):
            text = numbered(joined(lines[first : first + step]), first + 1)
            talk.run(read("/workspace/src/engine.py", offset=first + 1, limit=step), text)


def widens_and_narrows_a_range(talk):
    """``sed -n`` of four files, some lines more or less each time, never beyond the first lap."""
    first_steps(talk, "Check the rounding in all currencies.")
    found = files(talk, 4, 210, "java")
    talk.begin()
    for lap in range(8):
        first, last = 1 + (lap * 7) % 20, 215 - (lap * 11) % 30
        first, last = (1, 240) if lap == 0 else (first, last)
        for name, text in found:
            shown = joined(text.split("\n")[first - 1 : last])
            talk.run(shell(f"sed -n '{first},{last}p' src/main/java/{name}"), shown)


def sends_subagents_with_the_same_question(talk):
    """Each returns the report that the one before it returned."""
    first_steps(talk, "How does authentication work here?")
    wordings = (
        "Explore how {} is handled and report",
        "Find everything about {} in the code",
        "Investigate the {} flow thoroughly",
        "Locate and explain the implementation of {}",
        "Summarise where {} is done",
    )
    subjects = "login", "token refresh", "session storage", "logout"
    members = [
        (
            prose(talk.random, 75),
            [
                (
                    "Task",
                    {"description": one.format(subject)[:40], "prompt": one.format(subject), "subagent_type": kind},
                )
                for one, kind in zip(wordings, ["Explore", "general-purpose"] * 3, strict=False)
            ],
        )
        for subject in subjects
    ]
    go_round(talk, members, laps=8, narrates=True)


def writes_a_query_in_other_ways(talk):
    """Another case, an alias, other blanks: the same rows."""
    talk.user("Which customers were lost this year?")
    members = [
        (
            rows(talk.random, 150),
            [
                sql(f"SELECT id, place, kind, amount FROM {one} WHERE {two} > 0 ORDER BY id"),  # noqa: S608
                sql(f"select id, place, kind, amount\nfrom {one}\nwhere {two} > 0\norder by id;"),
                sql(f"SELECT t.id, t.place, t.kind, t.amount FROM {one} AS t WHERE t.{two} > 0 ORDER BY 1"),  # noqa: S608
                sql(f"SELECT id, place, kind, amount FROM public.{one} WHERE NOT {two} <= 0 ORDER BY id ASC"),  # noqa: S608
            ],
        )
        for one, two in [words(talk.random) for _ in range(4)]
    ]
    go_round(talk, members, laps=8)


def opens_files_in_python_in_other_ways(talk):
    """A REPL: ``open``, ``pathlib``, ``subprocess``."""
    talk.user("Summarise the four exports.")
    members = [
        (
            rows(talk.random, 150),
            [
                python(f"print(open('data/{name}.csv').read())"),
                python(f"from pathlib import Path\nprint(Path('data/{name}.csv').read_text())"),
                python(f"import subprocess; print(subprocess.getoutput('cat data/{name}.csv'))"),
                python(f"with open('data/{name}.csv') as file:\n    print(file.read(), end='')"),
            ],
        )
        for name in words(talk.random, 4)
    ]
    go_round(talk, members, laps=8)


def asks_git_in_other_ways(talk):
    """One commit by ``show``, ``diff`` and ``log -p``."""
    first_steps(talk, "Which of these commits broke the import?")
    members = [
        (
            text,
            [
                bash(f"git show {name}"),
                bash(f"git diff {name}~1 {name}"),
                bash(f"git log -p -1 {name}"),
                bash(f"git --no-pager show --no-color {name}"),
            ],
        )
        for name, text in [(f"{talk.random.getrandbits(28):07x}", code(talk.random, 200)) for _ in range(4)]
    ]
    go_round(talk, members, laps=8)


def writes_addresses_in_other_ways(talk):
    """A trailing slash, an anchor, a parameter that means nothing."""
    talk.user("Which of the libraries supports streaming uploads?")
    members = [
        (
            prose(talk.random, 75),
            [
                ("WebFetch", {"url": f"https://docs.example.org/{name}", "prompt": "Does it stream uploads?"}),
                ("WebFetch", {"url": f"https://docs.example.org/{name}/", "prompt": "Are uploads streamed?"}),
                ("WebFetch", {"url": f"https://docs.example.org/{name}#uploads", "prompt": "Streaming uploads"}),
                ("WebFetch", {"url": f"http://docs.example.org/{name}?ref=nav", "prompt": "Find streaming uploads"}),
            ],
        )
        for name in words(talk.random, 4)
    ]
    go_round(talk, members, laps=8)


def takes_another_tool_of_a_server(talk):
    """The file system's server has three tools that read."""
    first_steps(talk, "Write down what the settings mean.")
    members = [
        (
            settings(talk.random, 220),
            [
                ("read_text_file", {"path": f"/workspace/etc/{name}.yaml"}),
                ("read_file", {"path": f"/workspace/etc/{name}.yaml"}),
                ("read_multiple_files", {"paths": [f"/workspace/etc/{name}.yaml"]}),
                ("read_text_file", {"path": f"/workspace/etc/{name}.yaml", "head": 1000}),
            ],
        )
        for name in words(talk.random, 4)
    ]
    go_round(talk, members, laps=8)


def asks_the_cluster_in_other_ways(talk):
    """The namespace before or behind, the kind short or long."""
    talk.user("Why are the jobs not started?")
    members = [
        (
            settings(talk.random, 230),
            [
                bash(f"kubectl -n prod describe {kind} {name}"),
                bash(f"kubectl describe {kind}/{name} -n prod"),
                bash(f"kubectl describe {kind} {name} --namespace=prod"),
                bash(f"kubectl --namespace prod describe {kind}/{name}"),
            ],
        )
        for kind, name in zip(["pod", "job", "cronjob", "node"], words(talk.random, 4), strict=True)
    ]
    go_round(talk, members, laps=8)


def gives_reasons_as_arguments(talk):
    """A browser agent: each call takes a sentence that says why, and the page is as it was."""
    talk.user("Find the form for a new meter.")
    members = []
    for name in words(talk.random, 4):
        reasons = [f"{verb} the page about the {name}" for verb in ("Open", "Check", "Return to", "Inspect", "Try")]
        where = {"url": f"https://grid.example.com/{name}"}
        ways = [("browser_navigate", {**where, "intent": reason}) for reason in reasons]
        members.append((snapshot(talk.random, 135, name), ways))
    go_round(talk, members, laps=8)


def searches_the_code_in_other_words(talk):
    """An index that finds by meaning: the same places for each wording."""
    first_steps(talk, "Where do we send mail?")
    members = [
        (
            hits(talk.random, 105),
            [
                ("codebase_search", {"query": f"where is the {one} of a {two} sent"}),
                ("codebase_search", {"query": f"code that sends {one} for {two}", "target_directories": []}),
                ("codebase_search", {"query": f"{two} {one} sending implementation"}),
                ("codebase_search", {"query": f"How does a {two} get its {one}?", "target_directories": ["src"]}),
            ],
        )
        for one, two in [words(talk.random) for _ in range(4)]
    ]
    go_round(talk, members, laps=8, narrates=True)


def prints_json_in_other_ways(talk):
    """``jq`` with a dot, without one, behind a pipe."""
    first_steps(talk, "Which packages are there twice?")
    members = [
        (
            settings(talk.random, 230),
            [
                shell(f"jq . {name}.json"),
                shell(f"cat {name}.json | jq"),
                shell(f"jq '.' < {name}.json"),
                shell(f"jq -M . ./{name}.json", workdir="/workspace"),
            ],
        )
        for name in words(talk.random, 4)
    ]
    go_round(talk, members, laps=8)


LATER_DISGUISES = [
    searches_in_other_words,
    puts_flags_in_another_order,
    writes_paths_in_other_ways,
    takes_cat_or_sed_or_the_tool,
    pipes_in_other_ways,
    sets_another_limit,
    reads_overlapping_ranges,
    widens_and_narrows_a_range,
    sends_subagents_with_the_same_question,
    writes_a_query_in_other_ways,
    opens_files_in_python_in_other_ways,
    asks_git_in_other_ways,
    writes_addresses_in_other_ways,
    takes_another_tool_of_a_server,
    asks_the_cluster_in_other_ways,
    gives_reasons_as_arguments,
    searches_the_code_in_other_words,
    prints_json_in_other_ways,
]
