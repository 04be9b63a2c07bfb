"use strict";
/* What the page does. Texts of the session go into the document as text, never as markup. */

const $ = (id) => document.getElementById(id);
const { count, words } = Charts;

async function unpacked(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place); // from() takes ten times as long
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** An element with properties and children; a string is a text. */
function make(tag, properties = {}, ...children) {
  const { dataset, ...own } = properties;
  const node = Object.assign(document.createElement(tag), own);
  Object.assign(node.dataset, dataset);
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}

async function start() {
  const { report, indicators } = await unpacked($("data").textContent);
  const calls = report.calls;
  const last = calls.length + 1;
  const items = new Map(report.items.map((item) => [item.id, item]));
  const state = { selected: last, division: "kinds", all: false };

  // -- words --------------------------------------------------------------------------------------------------------

  const title = (item) => [item.turn >= 0 && item.id, words(item.kind), item.name].filter(Boolean).join(" · ");
  const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
  const callNamed = (moment) => (moment >= last ? "at the end" : `as sent with call ${moment}`);
  const money = (price) => `$${price.toFixed(price < 0.1 ? 4 : 2)}`;

  // -- one item -----------------------------------------------------------------------------------------------------

  function versions(item) {
    const found = new Map([[item.original, item.synthetic ? "As it was written" : "The original"]]);
    for (const stay of item.stays) {
      if (found.has(stay.text)) continue;
      const until = stay.last >= last ? "the end" : `call ${stay.last}`;
      const what = stay.form === "stub" ? "In its place, a stub" : "Another version";
      found.set(stay.text, `${what}: call ${stay.first} to ${until}`);
    }
    return found;
  }

  function open(id, text) {
    const item = items.get(id);
    if (!item) return;
    $("item-title").textContent = title(item);
    const stay = item.stays.at(-1);
    const stands = !stay ? "in no request" : stay.last >= last ? "in the window" : `left the window before call ${stay.last + 1}`;
    const turn = item.turn >= 0 ? `turn ${item.turn}` : "before the conversation";
    $("item-facts").replaceChildren(
      ...[`${count(item.tokens)} tokens`, item.source, turn, stands].map((fact) => make("span", { textContent: fact })),
    );
    const parts = [...versions(item)].flatMap(([place, label]) => [
      make("h3", { textContent: label }),
      make("pre", { textContent: report.texts[place], tabIndex: 0, className: place === text ? "wanted" : "", dataset: { text: place } }),
    ]);
    $("item-texts").replaceChildren(...parts);
    if (!$("item").open) $("item").showModal();
    const wanted = text === item.original ? null : $("item").querySelector(".wanted");
    if (wanted) wanted.scrollIntoView({ block: "center" });
    else $("item").scrollTop = 0;
    $("close").focus();
  }

  function itemButton(id) {
    const item = items.get(id);
    if (!item) return make("button", { type: "button", disabled: true, textContent: words(id) });
    const label = `${title(item)} · ${count(item.tokens)}`;
    return make("button", { type: "button", textContent: label, title: "Show the original", dataset: { item: id } });
  }

  // -- what was collected -------------------------------------------------------------------------------------------

  function changeNode(change) {
    const taken = change.removals.reduce((sum, removal) => sum + removal.items.length, 0);
    const by = [...new Set(change.removals.map((removal) => removal.strategy).filter(Boolean))].join(", ");
    const collected = change.what === "collected";
    const head = [collected ? words(change.reason) : `${change.what}: ${change.reason}`, by, taken ? plural(taken, "item") : ""];
    const where = change.before >= last ? "after the last call" : `before call ${change.before}`;
    const difference = change.tokens_after - change.tokens_before;
    const sum = difference ? `${difference > 0 ? "+" : "−"}${count(Math.abs(difference))}` : "";
    const line = make("span", { className: "line" },
      make("span", {}, make("b", { textContent: `${change.number}. ` }), `${where} · ${head.filter(Boolean).join(" · ")}${change.in_force ? "" : " (undone)"}`),
      make("span", { textContent: sum }));
    const node = make("details", { id: `change-${change.number}`, className: change.in_force ? "" : "undone" }, make("summary", {}, line));
    node.addEventListener("toggle", () => node.open && node.children.length === 1 && node.append(changeBody(change)));
    return node;
  }

  function changeBody(change) {
    const facts = [`${count(change.tokens_before)} to ${count(change.tokens_after)} tokens`];
    if (change.target) facts.push(`target ${count(change.target)}`);
    if (change.rewritten) {
      const price = change.rewriting_price === null ? "" : ` (${money(change.rewriting_price)} more than reading them)`;
      facts.push(`${count(change.rewritten)} tokens to write anew behind the break${price}`);
    }
    if (change.schemas.length) facts.push(`schemas left: ${change.schemas.join(", ")}`);
    const miss = calls[change.before - 1]?.cost.miss;
    return make("div", { className: "body" },
      make("p", { className: "facts" }, ...facts.map((fact) => make("span", { textContent: fact }))),
      miss ? make("p", { className: "notes", textContent: `The next call, as its provider reported it: ${miss}` }) : null,
      ...change.removals.map(removalNode));
  }

  function removalNode(removal) {
    const phase = removal.phase ? ` · phase ${removal.phase}` : "";
    const replacements = removal.replacements.map((each) => {
      const label = each.kind === "stub" ? `in the place of ${each.item}: a stub` : `in their place: ${each.kind} ${each.item}`;
      return make("button", { type: "button", className: "stands", textContent: label, dataset: { item: each.item, text: each.text } });
    });
    return make("div", { className: "removal" },
      make("p", {}, make("span", { className: "badge", textContent: removal.action }), `${removal.reason}${phase} · −${count(removal.freed)} tokens`),
      make("div", { className: "items" }, ...removal.items.map(itemButton), ...replacements));
  }

  function openChange(number) {
    const node = $(`change-${number}`);
    if (!node) return;
    node.open = true;
    node.firstChild.focus({ preventScroll: true });
    $("changes").scrollTop = node.offsetTop - $("changes").offsetTop;
  }

  // -- the budget ---------------------------------------------------------------------------------------------------

  function resident(moment) {
    const found = [];
    for (const item of report.items) {
      const stay = item.stays.find((each) => each.first <= moment && moment <= each.last);
      if (stay) found.push({ item, stay });
    }
    return found;
  }

  function grouped(rows, key) {
    const groups = new Map();
    for (const row of rows) {
      if (!groups.has(key(row))) groups.set(key(row), []);
      groups.get(key(row)).push(row);
    }
    return groups;
  }

  const tokensOf = (rows) => rows.reduce((sum, row) => sum + row.stay.tokens, 0);

  function policyOf(rows) {
    const held = new Set(rows.map((row) => row.stay.policy));
    return held.size === 1 ? [...held][0] : "partial";
  }

  function rowNode(tag, policy, label, tokens, whole, more = {}) {
    const share = whole ? (100 * tokens) / whole : 0;
    const fill = make("i");
    fill.style.width = `${share}%`;
    return make(tag, { className: "row", ...more },
      make("span", { textContent: indicators[policy] ?? "", title: policy }),
      make("span", { textContent: label }),
      make("span", { textContent: count(tokens) }),
      make("span", { className: "bar", title: `${share.toFixed(1)} % of the request` }, fill));
  }

  function branch(rows, label, whole, fill, opened) {
    const node = make("details", { open: opened }, make("summary", {}, rowNode("span", policyOf(rows), label, tokensOf(rows), whole)));
    const grow = () => node.open && node.children.length === 1 && node.append(make("div", {}, ...fill()));
    node.addEventListener("toggle", grow);
    grow();
    return node;
  }

  function leaf({ item, stay }, whole) {
    const marks = `${stay.pinned ? " (pinned)" : ""}${stay.form === "stub" ? " (stub)" : ""}`;
    return rowNode("button", stay.policy, `${title(item)}${marks}`, stay.tokens, whole, { type: "button", dataset: { item: item.id } });
  }

  function showTree(moment) {
    const rows = resident(moment);
    const framing = report.framing[moment - 1] ?? 0;
    const whole = tokensOf(rows) + framing;
    const limit = calls[moment - 1]?.limit ?? report.limit;
    $("moment").textContent = `${callNamed(moment)}: ${count(whole)} of ${count(limit)} tokens`;
    const first = ([, inside]) => Math.min(...inside.map((row) => row.item.turn));
    const sources = [...grouped(rows, (row) => row.item.source)].sort((a, b) => first(a) - first(b)).map(([source, inside]) => {
      const turns = grouped(inside, (row) => row.item.turn);
      const fill = () => [...turns].sort((a, b) => a[0] - b[0]).flatMap(([turn, held]) => {
        const leaves = () => held.map((row) => leaf(row, whole));
        return turn < 0 ? leaves() : [branch(held, `turn ${turn} · ${plural(held.length, "item")}`, whole, leaves, turns.size === 1)];
      });
      return branch(inside, words(source), whole, fill, true);
    });
    $("tree").replaceChildren(...sources, rowNode("div", "", "framing of messages and request", framing, whole));
    $("tree").dataset.tokens = whole;
  }

  let waiting = 0;
  function select(moment, say = true) {
    state.selected = Math.min(last, Math.max(1, moment));
    $("slider").value = state.selected;
    $("slider").setAttribute("aria-valuetext", callNamed(state.selected));
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      showTree(state.selected);
      Charts.select($("window"), state.selected);
      const call = calls[state.selected - 1];
      if (say && call) {
        const changes = report.changes.filter((change) => change.before === call.number).length;
        $("said").textContent = `Call ${call.number}: ${count(call.tokens)} of ${count(call.limit)} tokens, ${count(call.cost.read)} of them read from the cache${changes ? `, ${plural(changes, "change")} before it` : ""}.`;
      } else $("said").textContent = "";
    });
  }

  // -- search -------------------------------------------------------------------------------------------------------

  const MOST = 100;

  function snippet(text, found) {
    const from = Math.max(0, found.index - 60);
    const end = found.index + found[0].length;
    return make("span", { className: "snippet" }, from ? "…" : "", text.slice(from, found.index), make("mark", { textContent: found[0] }),
      text.slice(end, end + 120), end + 120 < text.length ? "…" : "");
  }

  function find(query) {
    const asked = query.trim();
    $("found").hidden = !asked;
    if (!asked) return;
    const phrases = asked.match(/^"(.+)"$/) ? [asked.slice(1, -1)] : asked.split(/\s+/);
    const patterns = phrases.map((phrase) => new RegExp(phrase.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"));
    const hits = report.texts.map((text) => {
      const found = patterns.map((pattern) => pattern.exec(text));
      return found.every(Boolean) ? found[0] : null;
    });
    const rows = [];
    let all = 0;
    for (const item of report.items) {
      const place = [item.original, ...item.stays.map((stay) => stay.text)].find((each) => hits[each]);
      if (place === undefined) continue;
      all += 1;
      if (rows.length < MOST) {
        const button = make("button", { type: "button", dataset: { item: item.id, text: place } }, title(item), snippet(report.texts[place], hits[place]));
        rows.push(make("li", {}, button));
      }
    }
    $("results").replaceChildren(...rows);
    $("count").textContent = all > MOST ? `${plural(all, "item")}, the first ${MOST} are shown` : plural(all, "item");
  }

  // -- drawing ------------------------------------------------------------------------------------------------------

  function drawWindow() {
    return Charts.windowChart($("window"), report, state.division, state.selected);
  }

  /** They stand below what a screen shows at first, and are drawn when they come into sight. */
  let sighted = false;
  function drawCosts() {
    if (!sighted) return;
    Charts.cacheChart($("cache"), report, state.all);
    Charts.costChart($("cost"), report, state.all);
  }

  function dress(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    $("theme").setAttribute("aria-pressed", String(dark));
    $("theme").textContent = dark ? "Light" : "Dark";
  }

  // -- keys and clicks ----------------------------------------------------------------------------------------------

  const focusables = "summary, button, .row[tabindex]";

  function walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const from = event.target.closest(focusables);
    if (!step || !from) return;
    const all = [...event.currentTarget.querySelectorAll(focusables)].filter((node) => node.checkVisibility());
    all[all.indexOf(from) + step]?.focus();
    event.preventDefault();
  }

  function changeNear(step) {
    const places = report.changes.map((change) => change.before);
    const beyond = places.filter((place) => (step > 0 ? place > state.selected : place < state.selected));
    return beyond.length ? (step > 0 ? Math.min(...beyond) : Math.max(...beyond)) : state.selected;
  }

  function steer(event) {
    const moves = {
      ArrowLeft: () => state.selected - 1, ArrowRight: () => state.selected + 1, Home: () => 1, End: () => last,
      PageUp: () => changeNear(-1), PageDown: () => changeNear(1),
    };
    if (event.key in moves) select(moves[event.key]());
    else if (event.key === "Enter") openChange(report.changes.find((change) => change.before >= state.selected)?.number);
    else return;
    event.preventDefault();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-item]");
    if (button) open(button.dataset.item, Number(button.dataset.text));
    else if (event.target === $("item")) $("item").close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, dialog")) {
      $("query").focus();
      event.preventDefault();
    }
  });
  for (const id of ["changes", "tree", "results"]) $(id).addEventListener("keydown", walk);
  $("close").addEventListener("click", () => $("item").close());
  $("window").addEventListener("keydown", steer);
  $("slider").addEventListener("input", (event) => select(Number(event.target.value)));
  $("query").addEventListener("input", (event) => find(event.target.value));
  $("query").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "Enter") $("results").querySelector("button")?.focus();
    else if (event.key === "Escape") find((event.target.value = ""));
    else return;
    event.preventDefault();
  });
  for (const input of document.querySelectorAll("[name=division]")) {
    input.addEventListener("change", () => drawWindow((state.division = input.value)));
  }
  for (const input of document.querySelectorAll("[name=sums]")) {
    input.addEventListener("change", () => drawCosts((state.all = input.value === "all")));
  }
  $("theme").addEventListener("click", () => {
    dress(document.documentElement.dataset.theme !== "dark");
    drawWindow();
    drawCosts();
  });

  const preferred = matchMedia("(prefers-color-scheme: dark)");
  dress(preferred.matches);
  preferred.addEventListener("change", () => {
    dress(preferred.matches);
    drawWindow();
    drawCosts();
  });
  $("changes").replaceChildren(...report.changes.map(changeNode));
  if (!report.changes.length) $("changes").append(make("p", { className: "hint", textContent: "Nothing was collected." }));
  showTree(last);
  await drawWindow();
  $("window").on("plotly_click", (event) => {
    const change = event.points.find((point) => point.data.meta === "changes");
    if (change) openChange(change.customdata);
    select(event.points[0].x);
  });
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((each) => each.isIntersecting)) return;
    observer.disconnect();
    sighted = true;
    drawCosts();
  }, { rootMargin: "100px" }).observe($("cache"));
  document.documentElement.dataset.ready = "yes";
}

start();
