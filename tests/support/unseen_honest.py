"""Sessions that repeat themselves and get on all the same: somebody waits, asks, edits or plays a next move."""

import json

QUIET = "Nothing new."


# Somebody or something asks each time.


def same_report_each_morning(script):
    """A scheduler says the same words each day, the report is the same, and so is the answer."""
    report = script.text("table", 900)
    for _ in range(script.times(12)):
        script.user("[scheduled] Make the stock report and tell me what is below its minimum.", after=86_400)
        script.call("run_report", {"name": "stock", "format": "csv"}, report, takes=2)
        script.say("No article is below its minimum.")


def nightly_disk_report(script):
    """A cron entry whose numbers hardly change."""
    listing = script.text("listing", 800)
    for night in range(script.times(12)):
        script.user("cron: run the nightly check of the disks", after=86_400)
        script.run("df -h && ls -l /var/backups", f"/dev/sda1 {60 + night // 3}%\n{listing}")
        script.say("All disks have room.")


def a_user_asks_the_price_again(script):
    """The same question in the same words, with other questions between."""
    prices, hours = script.text("table", 1_100), script.text("page", 700)
    for _ in range(script.times(5)):
        script.user("What does the express parcel cost?", after=200)
        script.call("get_price_list", {"currency": "EUR"}, prices)
        script.say("It costs 12.40.")
        script.user("And when are you open?", after=90)
        script.call("get_page", {"slug": "opening-hours"}, hours)
        script.say("From nine to six.")


def customers_ask_the_same_thing(script):
    """A desk: each customer's question finds the same article."""
    article = script.text("page", 900)
    for number in range(script.times(11)):
        script.user(f"[customer {script.chance.randrange(9_000)}] How do I return what I bought?", after=600)
        script.call("search_kb", {"query": "return goods", "top_k": 3}, article)
        script.say(f"With the slip in the box. This was question {number + 1} today.")


def tickets_under_one_policy(script):
    """The policy is looked up for each ticket, and each ticket gets its answer."""
    policy = script.text("contract", 900)
    script.user("Go through the open tickets and answer each by the refund policy.")
    for number in range(script.times(9)):
        script.call("open_ticket", {"ticket": 4_100 + number}, script.text("mail", 400))
        script.call("get_policy", {"name": "refunds"}, policy)
        script.call("reply_ticket", {"ticket": 4_100 + number, "text": f"Paragraph {number + 2} holds."}, "sent")


def a_review_by_two(script):
    """Author and reviewer talk by turns; the diff is looked at for each of their words."""
    diff = script.text("python", 1_000)
    for turn in range(script.times(5)):
        script.user("reviewer: I do not like the second hunk yet.", after=1_800)
        script.call("git_diff", {"base": "main", "head": "feature"}, f"{diff}\n+# turn {turn // 2}")
        script.say("I see what the reviewer means.")
        script.user("author: please look again", after=900)
        script.call("git_diff", {"base": "main", "head": "feature"}, f"{diff}\n+# turn {(turn + 1) // 2}")
        script.say("The author has a point, too.")


def a_tutor_with_one_exercise(script):
    """The pupil tries again and again; the exercise is shown each time."""
    exercise = script.text("contract", 900)
    for attempt in range(10):
        script.user(f"Is it {attempt * 3 + 1}?", after=45)
        script.call("show_exercise", {"chapter": 3, "number": 7}, exercise)
        script.say("Not yet." if attempt < 9 else "Yes.")


def lights_on_and_off(script):
    """A user toggles; the state of the house alternates between two texts."""
    states = [script.text("json", 800), script.text("json", 800)]
    for turn in range(script.times(12)):
        script.user("Lights on" if turn % 2 else "Lights off", after=script.chance.choice((5, 60, 900)))
        script.call("set_scene", {"on": bool(turn % 2)}, states[turn % 2])
        script.say("Done.")


# Something is waited for.


def a_build_is_polled(script):
    """After some reading, the state of a build until it is green."""
    read_some(script, "Start the build when you have seen what changed.", "python", 3, 800)
    wait = script.chance.choice((3, 5, 10, 30))
    log = script.text("log", 300)
    script.call("start_build", {"branch": "main"}, "build 811 queued")
    for turn in range(20):
        script.call("get_build_status", {"build": 811}, f"{log}\nstate: {state(turn, 19)}", takes=wait)
    script.say("The build is green.")


def pods_are_not_ready(script):
    """The same table of pods until all are ready; a sleep is in the command."""
    pods = script.text("listing", 600)
    script.user("Deploy version 12 and tell me when it runs.")
    script.run("kubectl apply -f deploy/", script.text("settings", 900))
    for turn in range(16):
        ready = "3/3" if turn == 15 else "0/3"
        script.run("sleep 20; kubectl get pods -n shop", f"{pods}\n{ready}", takes=20)
    script.say("It runs.")


def a_wait_of_its_own(script):
    """Two tools by turns: one that waits, one that looks."""
    queue = script.text("json", 700)
    script.user("Wait until the export is through, then tell me.")
    for turn in range(14):
        script.call("wait", {"seconds": 60}, "ok", takes=60)
        script.call("get_job", {"id": "export-7"}, f"{queue}\n{state(turn, 13)}")
    script.say("It is through.")


def an_empty_queue(script):
    """Messages are received with a long poll; there are none for hours."""
    nothing = script.text("json", 500)
    script.user("Handle whatever comes into the queue until tomorrow.")
    for turn in range(script.times(18)):
        script.call("receive_messages", {"queue": "orders", "wait": 1_200}, nothing, takes=1_200)
        if turn % 7 == 6:
            script.call("handle", {"message": turn}, script.text("mail", 300))
    script.say("That was the day.")


def a_mailbox_each_quarter_of_an_hour(script):
    """The host wakes the agent; the same list of mails, and now and then one more."""
    inbox = script.text("mail", 600)
    for turn in range(script.times(14)):
        script.user("(timer) Check the inbox.", after=900)
        inbox += f"\nA new one, number {turn}" if turn % 5 == 4 else ""
        script.call("list_inbox", {"folder": "INBOX", "unread": True}, inbox)
        script.say(QUIET)


def a_sensor(script):
    """A value each few seconds, which hardly moves, with much about the device around it."""
    device = script.text("json", 350)
    script.user("Keep an eye on the kiln for a while and warn me above 900 degrees.")
    wait = script.chance.choice((3, 6, 10))
    for _ in range(script.times(26)):
        value = script.chance.choice((871, 871, 872))
        script.call("read_sensor", {"device": "kiln", "samples": 1}, f"{device}\nvalue: {value}", takes=wait)
    script.say("It never came above 872.")


def two_nodes_behind_one_address(script):
    """Each look is answered by the other of two nodes, until they agree."""
    nodes = [script.text("settings", 600), script.text("settings", 600)]
    script.user("Wait until both nodes have the new settings.")
    for turn in range(script.times(16)):
        script.call("http_get", {"url": "http://shop.example/config"}, nodes[turn % 2], takes=20)
    script.say("They do not agree; I give up.")


def a_training_that_grows(script):
    """The log of a training has more epochs each time."""
    epochs = [f"epoch {number}: loss {5 / (number + 1):.3f}, accuracy 0.{50 + number}" for number in range(60)]
    script.user("Watch the training and stop it when it overfits.")
    for seen in range(12, 60, 4):
        script.call("tail_log", {"job": "train-3", "lines": 200}, "\n".join(epochs[:seen]), takes=240)
    script.say("It does not overfit.")


def rows_that_are_left(script):
    """The rows of a migration that are left are counted; sometimes none went."""
    plan, left = script.text("table", 450), 9_000
    script.user("Watch the migration.")
    for _ in range(script.times(18)):
        left -= script.chance.choice((0, 0, 500))
        shown = f"{plan}\nleft: {left}"
        script.call("query", {"sql": "SELECT count(*) FROM rows_to_move"}, shown, takes=script.chance.choice((15, 30)))
    script.say("It goes on.")


def a_price_each_hour(script):
    """A page of a shop that stays as it is until the price falls."""
    page = script.text("page", 900)
    script.user("Buy the tent once it costs less than 200.")
    for turn in range(12):
        price = 189 if turn == 11 else 249
        script.call("fetch", {"url": "https://shop.example/tent"}, f"{page}\nprice: {price}", takes=3_600)
    script.call("buy", {"article": "tent"}, "bought")
    script.say("Bought for 189.")


def an_installation_in_a_terminal(script):
    """The screen of a terminal is captured until the installation has ended."""
    screen = script.text("log", 700)
    script.user("Install the compiler in the terminal that is open.")
    script.call("send_keys", {"keys": "apt install gcc\n"}, "")
    for turn in range(14):
        shown = f"{screen}\n[{'#' * (turn // 3)}]"
        script.call("capture_pane", {"pane": 0}, shown, takes=script.chance.choice((4, 8)))
    script.say("It is installed.")


def an_incident(script):
    """Logs of the last minutes, each half minute; some lines are new."""
    lines = script.text("log", 2_600).split("\n")
    script.user("Tell me when the errors stop.")
    for start in range(0, 36, 3):
        shown = "\n".join(lines[start : start + 28])
        script.call("query_logs", {"service": "checkout", "last": "10m"}, shown, takes=30)
    script.say("They have stopped.")


def retries_with_backoff(script):
    """A server answers with one and the same page of an error; the waits double."""
    error, wait = f"503 Service Unavailable\n{script.text('page', 450)}", 2
    script.user("Fetch the figures of the three branches.")
    for branch in ("north", "south", "west"):
        for _ in range(5):
            wait = wait * 2 if wait < 60 else 4
            script.call("http_get", {"url": f"https://api.example/{branch}"}, error, takes=wait)
        script.call("http_get", {"url": f"https://api.example/{branch}"}, script.text("json", 500))
    script.say("I have the three.")


# Something is changed between.


def tests_after_each_edit(script):
    """The same command after each edit; its long output changes only in the end."""
    failing = script.text("tests", 900)
    script.user("Make the suite pass.")
    for turn in range(10):
        edit(script, turn)
        passed = "all passed" if turn == 9 else "1 failed"
        script.run("pytest -q", f"{failing}\n{passed}", takes=script.chance.choice((2, 15, 90)))
    script.say("It passes.")


def a_file_after_each_edit(script):
    """The file that is worked on is read again after each edit, with its new line."""
    body = script.text("python", 1_200)
    script.user("Rename the functions one by one.")
    for turn in range(script.times(10)):
        script.read("src/shelf.py", body)
        body = f"{body}\n# renamed {turn}"
        edit(script, turn)
    script.say("Renamed.")


def a_style_guide_before_each_file(script):
    """A guide is read before each of many files is converted."""
    guide = script.text("contract", 700)
    script.user("Bring all modules into the form that the guide wants.")
    for name in script.nouns(8):
        script.read("docs/style.md", guide)
        script.read(f"lib/{name}.rb", script.text("python", 500))
        script.call("write", {"file": f"lib/{name}.rb", "content": f"# {name}"}, "written")
    script.say("All are in form.")


def edit_and_undo(script):
    """A change is made, tried and taken back; the results of the trial alternate."""
    outputs = [script.text("tests", 800), script.text("tests", 800)]
    script.user("Find out which of the changes breaks the suite.")
    for turn in range(script.times(5)):
        edit(script, turn)
        script.call("run_tests", {"suite": "all"}, outputs[0], takes=6)
        script.run("git checkout src/", "Updated 1 path")
        script.call("run_tests", {"suite": "all"}, outputs[1], takes=6)
    script.say("The third.")


def a_commit_each_time(script):
    """Status and difference before each commit; the status of a clean tree is always the same."""
    clean = script.text("listing", 500)
    script.user("Split the change into small commits.")
    for turn in range(script.times(9)):
        script.call("git_status", {}, clean)
        script.call("git_diff", {}, script.text("python", 500))
        script.call("git_commit", {"message": f"Part {turn + 1}"}, f"[main {turn:07}] Part {turn + 1}")
    script.say("In nine commits.")


def translations_with_a_glossary(script):
    """One text after the other, and a small glossary that is looked up for each."""
    glossary = script.text("table", 130)
    script.user("Translate the chapters.")
    for chapter in range(script.times(8)):
        script.call("read_chapter", {"number": chapter}, script.text("page", 900))
        script.call("glossary", {"language": "fi"}, glossary)
        script.call("write_chapter", {"number": chapter, "text": f"Luku {chapter}"}, "saved")
    script.say("Translated.")


def papers_by_one_rubric(script):
    """Each pupil's paper, the rubric, a grade."""
    rubric = script.text("table", 350)
    script.user("Grade the papers.")
    for pupil in script.nouns(9):
        script.together(
            ("read_paper", {"pupil": pupil}, script.text("contract", 600)),
            ("read_rubric", {}, rubric),
        )
        script.call("set_grade", {"pupil": pupil, "grade": script.chance.randrange(1, 6)}, "ok")
    script.say("Graded.")


def a_form_in_a_browser(script):
    """A picture of the page in words after each click; little of it changes."""
    page = script.text("page", 700)
    script.user("Fill in the tax form.")
    for field in range(script.times(11)):
        script.call("browser_type", {"ref": f"e{field}", "text": str(field * 17)}, "ok")
        script.call("browser_snapshot", {}, f"{page}\nfilled: {list(range(field + 1))}")
    script.say("Filled in.")


def a_session_in_an_interpreter(script):
    """The same look at a frame of data after each step of cleaning."""
    rows = script.text("table", 800)
    script.user("Clean the data.")
    for turn in range(script.times(10)):
        script.call("python", {"code": f"df = df.drop(columns=['c{turn}'])"}, "")
        script.call("python", {"code": "df.describe()"}, f"{rows}\n[{40 - turn} columns]")
    script.say("Cleaned.")


def a_debugger_steps(script):
    """Calls without arguments: a step, the variables."""
    frame = script.text("settings", 450)
    script.user("Where does the total go wrong?")
    for turn in range(script.times(14)):
        script.call("step_over", {}, f"line {80 + turn}")
        script.call("locals", {}, f"{frame}\ntotal: {turn // 4}")
    script.say("In line 91.")


def a_game_with_turns(script):
    """The board is looked at before each move; some positions come back."""
    boards = [script.text("table", 700) for _ in range(script.times(5))]
    script.user("Play a game of draughts against the engine.")
    for turn in range(12):
        script.call("get_board", {"game": 5}, boards[turn % 5])
        script.call("move", {"game": 5, "from": turn, "to": turn + 4}, f"engine answers {turn + 9}", takes=3)
    script.say("A draw.")


def batches_of_a_migration(script):
    """The same call without a difference; each moves other rows."""
    plan = script.text("table", 500)
    script.user("Move the archive in batches.")
    for turn in range(16):
        script.call("run_batch", {"size": 1_000}, f"{plan}\nmoved 1000, left {15_000 - 1_000 * turn}", takes=4)
    script.say("Moved.")


# The world is large, and gone through once or twice.


def pages_with_a_cursor(script):
    """A list, page by page."""
    script.user("Which orders were paid twice?")
    cursor = None
    for turn in range(script.times(13)):
        shown = script.text("json", 700)
        script.call("list_orders", {"limit": 50, "cursor": cursor}, shown)
        cursor = f"c{turn * 50 + 50}"
    script.say("None was.")


def one_file_in_pieces(script):
    """A long file by ranges of lines that do not overlap."""
    script.user("Read the whole log and count the errors.")
    for turn in range(script.times(12)):
        arguments = {"path": "var/shop.log", "offset": turn * 100, "limit": 100}
        script.call("read", arguments, script.text("log", 800))
    script.say("There are 214.")


def three_contracts_by_turns(script):
    """Compared clause by clause: the three by turns a few times, and a note after each clause."""
    texts = {name: script.text("contract", 1_300) for name in ("lease", "supply", "insurance")}
    script.user("Compare the three contracts: term, liability, notice.")
    for clause in ("term", "liability", "notice"):
        for name, words in texts.items():
            script.call("read_document", {"name": name}, words)
        script.call("append_note", {"file": "comparison.md", "text": f"{clause}: the lease is strictest"}, "noted")
    script.say("The comparison is in comparison.md.")


def all_read_twice(script):
    """Three files are read, then once more because the first reading had left, and the answer is given."""
    files = [(f"src/{name}.go", script.text("python", 2_000)) for name in script.nouns(3)]
    script.user("Do these three modules agree about rounding?")
    for _ in range(2):
        for path, words in files:
            script.read(path, words)
    script.say("Two of them do.")


def settings_are_merged(script):
    """Two files by turns, range after range, and the merged part is written."""
    script.user("Merge the two settings.")
    for part in range(7):
        for name in ("base", "site"):
            arguments = {"path": f"{name}.yaml", "start": part * 40 + 1, "end": part * 40 + 40}
            script.call("read_lines", arguments, script.text("settings", 450))
        script.call("write_lines", {"path": "merged.yaml", "start": part * 40 + 1}, "ok")
    script.say("Merged.")


def the_same_command_everywhere(script):
    """One command in many places; each says the same at length."""
    clean = script.text("tests", 650)
    script.user("Lint every service.")
    for name in script.nouns(12):
        script.call(
            "bash", {"command": "make lint", "cwd": f"services/{name}"}, f"{clean}\nAll checks passed!", takes=3
        )
    script.say("All are clean.")


def pages_of_one_site(script):
    """Different pages which share most of their text."""
    menu = script.text("page", 600)
    script.user("Find the address of each branch.")
    for name in script.nouns(11):
        script.call("fetch", {"url": f"https://chain.example/{name}"}, f"{menu}\n{name}: {script.noun()} street")
    script.say("I have them all.")


def one_subagent_for_each(script):
    """The same order to a subagent, about another folder each time."""
    script.user("Have each folder summed up.")
    for name in script.nouns(9):
        prompt = f"Read the folder {name} and sum up in 30 lines what it does."
        script.call("task", {"description": "Sum up", "prompt": prompt}, script.text("page", 900), takes=25)
    script.say("Summed up.")


def a_flaky_test(script):
    """A user wants a test to be run until it is known how often it fails."""
    outputs = [script.text("tests", 600), script.text("log", 600)]
    script.user("Run the checkout test fifteen times and tell me how often it fails.")
    for _ in range(15):
        takes = script.chance.uniform(3, 20)
        script.call("run_test", {"name": "checkout"}, script.chance.choice(outputs), takes=takes)
    script.say("Often.")


def a_benchmark_ten_times(script):
    """The same measurement; only the figures differ."""
    machine = script.text("settings", 650)
    script.user("Measure the parser ten times, I want to see the spread.")
    for _ in range(script.times(12)):
        shown = f"{machine}\nmean {script.chance.uniform(80, 90):.2f} ms"
        script.run("hyperfine ./parse big.xml", shown, takes=script.chance.choice((5, 40)))
    script.say("Between 80 and 90 ms.")


def letters_of_a_patient(script):
    """A record is opened for each letter that a doctor asks for, each time in the same words."""
    record = script.text("record", 1_000)
    for letter in range(script.times(9)):
        script.user("Next letter, please.", after=120)
        script.call("open_record", {"patient": 77, "part": "course"}, record)
        script.call("save_letter", {"to": script.noun(), "number": letter}, "saved")
        script.say("Written.")


def read_some(script, order, kind, number, tokens):
    """An order of a user's, and some reading for it."""
    script.user(order)
    for name in script.nouns(number):
        script.read(f"src/{name}", script.text(kind, tokens))


def edit(script, turn):
    """An edit of a file."""
    arguments = {"path": "src/shelf.py", "old": f"line {turn}", "new": f"row {turn}"}
    script.call("edit_file", arguments, json.dumps({"changed": 1}))


def state(turn, last):
    """What a job says of itself."""
    return "succeeded" if turn == last else "running"


HONEST = (
    same_report_each_morning, nightly_disk_report, a_user_asks_the_price_again, customers_ask_the_same_thing,
    tickets_under_one_policy, a_review_by_two, a_tutor_with_one_exercise, lights_on_and_off, a_build_is_polled,
    pods_are_not_ready, a_wait_of_its_own, an_empty_queue, a_mailbox_each_quarter_of_an_hour, a_sensor,
    two_nodes_behind_one_address, a_training_that_grows, rows_that_are_left, a_price_each_hour,
    an_installation_in_a_terminal, an_incident, retries_with_backoff, tests_after_each_edit, a_file_after_each_edit,
    a_style_guide_before_each_file, edit_and_undo, a_commit_each_time, translations_with_a_glossary,
    papers_by_one_rubric, a_form_in_a_browser, a_session_in_an_interpreter, a_debugger_steps, a_game_with_turns,
    batches_of_a_migration, pages_with_a_cursor, one_file_in_pieces, three_contracts_by_turns, all_read_twice,
    settings_are_merged, the_same_command_everywhere, pages_of_one_site, one_subagent_for_each, a_flaky_test,
    a_benchmark_ten_times, letters_of_a_patient,
)  # fmt: skip
