"use strict";
/* The charts, drawn by Plotly. Every text that comes from a session is escaped: Plotly reads some tags in labels. */

const COLOURS = {
  system_text: "#3f6fb5", tool_schema: "#57a0c8", memory_block: "#2f9c95", enrichment: "#7cc4b8", user_text: "#4f9d4f",
  assistant_text: "#9c6bb3", thinking: "#c9a0d6", tool_call: "#e0b23c", tool_result: "#e58a3c", attachment: "#c9553d",
  opaque: "#8a6d5a", stub: "#a9b4c2", summary: "#5f7fd0", trace: "#7d8896", framing: "#cbd2dc",
  system: "#3f6fb5", plugin: "#57a0c8", conversation: "#e58a3c", task_state: "#2f9c95", facts: "#7cc4b8", user: "#4f9d4f",
  team: "#9c6bb3", org: "#c9a0d6",
  locked: "#c14f4f", preservable: "#e0a13c", partial: "#8f7fc4", ephemeral: "#6fb3d6",
  read: "#4f9d6f", written: "#e0a13c", fresh: "#c9553d",
};
const SPARE = ["#b5539c", "#7f9c2f", "#4fb0b0", "#a86b3c", "#6b6bd0"];
const ORDER = Object.keys(COLOURS);

const Charts = (() => {
  const escaped = (text) => String(text).replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
  const styles = getComputedStyle(document.documentElement);
  const css = (name) => styles.getPropertyValue(name).trim();
  const figures = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const count = (number) => figures.format(number);
  const words = (name) => name.replaceAll("_", " ");
  const config = { displaylogo: false, responsive: true, displayModeBar: false, doubleClick: "reset" };

  function layout(more) {
    const axis = { gridcolor: css("--line"), zerolinecolor: css("--line"), linecolor: css("--line"), fixedrange: false };
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: css("--ink"), size: 12 },
      margin: { l: 62, r: 14, t: 8, b: 40 }, hovermode: "x unified", dragmode: "zoom",
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--ink"), size: 12 }, align: "left" },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, traceorder: "normal", bgcolor: "rgba(0,0,0,0)" },
      ...more,
      xaxis: { ...axis, title: { text: "model call", standoff: 6 }, showgrid: false, hoverformat: ",d", unifiedhovertitle: { text: "call %{x:,d}" }, ...more.xaxis },
      yaxis: { ...axis, rangemode: "tozero", tickformat: "~s", ...more.yaxis },
    };
  }

  function area(name, x, y, colour, group) {
    return {
      type: "scatter", mode: "lines", name: words(name), x, y, stackgroup: group, line: { width: 0.6, color: colour },
      fillcolor: colour, hovertemplate: "%{y:,d}", meta: name,
    };
  }

  function parts(calls, division) {
    const names = new Set(calls.flatMap((call) => call[division].map((share) => share.name)));
    const place = (name) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
    const sorted = [...names].sort((a, b) => (a === "framing") - (b === "framing") || place(a) - place(b));
    let spare = 0;
    return sorted.map((name) => {
      const y = calls.map((call) => call[division].find((share) => share.name === name)?.tokens ?? 0);
      return area(name, calls.map((call) => call.number), y, COLOURS[name] ?? SPARE[spare++ % SPARE.length], "window");
    });
  }

  function told(change) {
    if (change.what !== "collected") return `${change.what}: ${escaped(change.reason)}`;
    const by = [...new Set(change.removals.map((each) => each.strategy).filter(Boolean))].join(", ");
    const items = change.removals.reduce((sum, each) => sum + each.items.length, 0);
    const reasons = new Map();
    for (const each of change.removals) {
      const key = `${each.action}, ${each.reason}`;
      reasons.set(key, (reasons.get(key) ?? 0) + each.freed);
    }
    const lines = [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([key, freed]) => `   −${count(freed)}  ${escaped(key)}`);
    const head = `collection ${change.number} (${escaped(change.reason)})${by ? ` by ${escaped(by)}` : ""}: `;
    return [`${head}−${count(change.tokens_before - change.tokens_after)} tokens, ${items} items`, ...lines].join("<br>");
  }

  function markers(changes) {
    const at = new Map();
    for (const change of changes) at.set(change.before, [...(at.get(change.before) ?? []), change]);
    const groups = [...at.values()];
    return {
      type: "scatter", mode: "markers", name: "collected", meta: "changes", x: groups.map((group) => group[0].before),
      y: groups.map((group) => Math.max(...group.map((each) => each.tokens_before))),
      marker: { symbol: "triangle-down", size: groups.length > 120 ? 7 : 9, color: css("--ink"), line: { width: 1, color: css("--card") } },
      customdata: groups.map((group) => group[0].number), text: groups.map((group) => group.slice(0, 3).map(told).join("<br>")),
      hovertemplate: "%{text}<extra></extra>",
    };
  }

  function windowChart(node, report, division, selected) {
    const calls = report.calls;
    const most = Math.max(0, ...calls.map((call) => call.tokens), ...report.changes.map((each) => each.tokens_before));
    const limit = Math.max(0, ...calls.map((call) => call.limit));
    const seen = limit <= 4 * most;
    const limits = {
      type: "scatter", mode: "lines", name: `limit ${count(limit)}${seen ? "" : " (above)"}`, meta: "limit", hoverinfo: "skip",
      x: calls.map((call) => call.number), y: calls.map((call) => (seen ? call.limit : null)),
      line: { color: css("--bad"), width: 1.5, dash: "dash" },
    };
    const top = 1.06 * (seen ? Math.max(limit, most) : most);
    const data = [...parts(calls, division), limits, ...(report.changes.length ? [markers(report.changes)] : [])];
    node.dataset.calls = calls.length;
    return Plotly.react(node, data, layout({ shapes: cursor(node, selected), xaxis: { range: [1, calls.length + 1] }, yaxis: { range: [0, top || 1], title: { text: "tokens" } } }), config);
  }

  /** A line at a call; the window at the end, behind the last one, has none. */
  function cursor(node, number) {
    const line = { color: css("--ink"), width: 1, dash: "dot" };
    return number > Number(node.dataset.calls) ? [] : [{ type: "line", x0: number, x1: number, y0: 0, y1: 1, yref: "paper", line }];
  }

  function running(values, all) {
    let sum = 0;
    return all ? values.map((value) => (sum += value)) : values;
  }

  function cacheChart(node, report, all) {
    const x = report.calls.map((call) => call.number);
    const data = ["read", "written", "fresh"].map((name) => {
      const values = report.calls.map((call) => call.cost[name]);
      return { ...area(name, x, running(values, all), COLOURS[name], "cache"), visible: values.some(Boolean) || "legendonly" };
    });
    return Plotly.react(node, data, layout({ yaxis: { title: { text: "input tokens" } } }), config);
  }

  function costChart(node, report, all) {
    const y = running(report.calls.map((call) => call.cost.price), all);
    const unit = report.priced ? "USD" : "input tokens’ worth";
    const line = {
      type: "scatter", mode: "lines", name: unit, showlegend: false, x: report.calls.map((call) => call.number), y, fill: "tozeroy",
      line: { color: COLOURS.summary, width: 1.6 }, fillcolor: COLOURS.summary + "40",
      hovertemplate: report.priced ? "$%{y:,.4f}<extra></extra>" : "%{y:,d}<extra></extra>",
    };
    const yaxis = { title: { text: unit }, ...(report.priced ? { tickprefix: "$", tickformat: "" } : {}) };
    return Plotly.react(node, [line], layout({ yaxis }), config);
  }

  const select = (node, number) => Plotly.relayout(node, { shapes: cursor(node, number) });

  return { windowChart, cacheChart, costChart, select, count, words };
})();
