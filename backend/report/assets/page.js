"use strict";
// Draws the graphs of a page when somebody opens them. Text from the compile reaches the document
// as text nodes only, never as HTML.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const graphs = read("graphs");
  const CONTEXT = 3;     // lines shown around what changed
  const CHUNK = 400;     // rows that are drawn at once
  const hints = new WeakMap();

  const make = (name, kind, text) => {
    const element = document.createElement(name);
    if (kind) element.className = kind;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // As `short_type` in page.py.
  const shortType = (text) =>
    text.startsWith("!fx.tensor<")
      ? text.slice(11, -1).replace(", cpu", "").replace(", requires_grad", " grad")
      : text;

  const lineText = ([results, op, args, facts]) =>
    `${results ? results + " = " : ""}${op}${args ? " " : ""}${args}${facts}`;

  // What hovering over a line shows: types in full, the user's line, metadata.
  const lineHint = (line) => {
    const [, , , , types, , tags, place] = line;
    const parts = types.map((type) => graphs.types[type]);
    if (place >= 0) {
      const [file, number, source] = graphs.places[place];
      parts.push(`${file}:${number}${source ? "\n  " + source.trim() : ""}`);
    }
    if (tags) parts.push(tags);
    return parts.join("\n");
  };

  const named = (line) => {
    const types = new Map(line[5].map(([name, type]) => [name, graphs.types[type]]));
    line[0].split(", ").forEach((name, at) => {
      if (line[4][at] !== undefined) types.set(name, graphs.types[line[4][at]]);
    });
    return types;
  };

  // Splits a line into values, which have types to show, its op, and the rest.
  const VALUE = /%(?:"(?:[^"\\]|\\.)*"|[\w$.-]+)(?:#\d+)?/g;
  const pieces = (line) => {
    const text = lineText(line), found = [], types = named(line);
    const start = line[0] ? line[0].length + 3 : 0, end = start + line[1].length;
    let at = 0;
    const add = (from, to, kind, type) => {
      if (at < from) found.push([at, from, "", ""]);
      if (from < to) found.push([from, to, kind, type]);
      at = to;
    };
    const values = (from, to) => {
      for (const match of text.slice(from, to).matchAll(VALUE))
        if (types.has(match[0]))
          add(from + match.index, from + match.index + match[0].length, "v", types.get(match[0]));
    };
    values(0, start);
    add(start, end, "op", "");
    values(end, text.length);
    add(text.length, text.length, "", "");
    return [text, found];
  };

  const code = (line, marks) => {
    const holder = make("span", "t");
    const [text, found] = pieces(line);
    const inside = (at) => {
      for (let i = 0; i < marks.length; i += 2) if (at >= marks[i] && at < marks[i + 1]) return true;
      return false;
    };
    for (const [from, to, kind, type] of found) {
      const span = kind ? make("span", kind) : holder;
      for (let a = from; a < to; ) {
        const marked = inside(a);
        let b = a + 1;
        while (b < to && inside(b) === marked) b++;
        const part = document.createTextNode(text.slice(a, b));
        if (marked) {
          const mark = make("mark");
          mark.append(part);
          span.append(mark);
        } else span.append(part);
        a = b;
      }
      if (type) hints.set(span, type);
      if (span !== holder) holder.append(span);
    }
    if (line[4].length)
      holder.append(make("span", "type", " : " + line[4].map((type) => shortType(graphs.types[type])).join(", ")));
    return holder;
  };

  const cell = (side, place, id, marks) => {
    if (place === null) return make("div", `cell ${side} empty`);
    const holder = make("div", `cell ${side}`), line = graphs.lines[id];
    const number = make("span", "n", String(place + 1));
    const hint = lineHint(line);
    if (hint) hints.set(number, hint);
    holder.append(number, code(line, marks || []));
    return holder;
  };

  const drawn = (kind, left, right) => {
    const row = make("div", `row ${kind}`);
    row.append(left, right);
    return row;
  };

  // The ids of a run of equal lines, from its ranges.
  const ids = (row) => {
    const found = [];
    for (let i = 3; i < row.length; i += 2)
      for (let k = 0; k < row[i + 1]; k++) found.push(row[i] + k);
    return found;
  };

  const sameRows = (row, all, from, to) => {
    const holder = document.createDocumentFragment();
    for (let k = from; k < to; k++)
      holder.append(drawn("same", cell("old", row[1] + k, all[k]), cell("new", row[2] + k, all[k])));
    return holder;
  };

  const more = (count, show) => {
    const button = make("button", "more", `⋯ ${count.toLocaleString("en")} unchanged line${count === 1 ? "" : "s"}`);
    button.type = "button";
    button.addEventListener("click", () => show(button));
    return button;
  };

  const drawSame = (holder, row, first, last) => {
    const all = ids(row), count = row[0];
    const head = first ? 0 : Math.min(CONTEXT, count), tail = last ? 0 : Math.min(CONTEXT, count - head);
    if (count - head - tail <= 1) return holder.append(sameRows(row, all, 0, count));
    holder.append(sameRows(row, all, 0, head));
    let from = head;
    const to = count - tail;
    const show = (button) => {
      const next = Math.min(from + CHUNK, to);
      button.before(sameRows(row, all, from, next));
      from = next;
      if (from < to) button.replaceWith(more(to - from, show));
      else button.remove();
    };
    holder.append(more(to - from, show), sameRows(row, all, to, count));
  };

  const draw = (place) => {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "yes";
    const diff = graphs.diffs[place.dataset.diff];
    if (!diff) return;
    if (diff.problem) place.append(make("p", "", diff.problem));
    const rows = diff.rows || [];
    if (rows.length && rows.every((row) => row[0])) place.append(make("p", "", "The graph did not change."));
    const from = (begin) => {
      const holder = document.createDocumentFragment();
      const end = Math.min(begin + CHUNK, rows.length);
      for (let i = begin; i < end; i++) {
        const row = rows[i];
        if (row[0]) drawSame(holder, row, i === 0, i === rows.length - 1);
        else holder.append(drawn("differs", cell("old", row[1], row[3], row[5]), cell("new", row[2], row[4], row[6])));
      }
      if (end < rows.length) {
        const button = make("button", "more", `⋯ ${(rows.length - end).toLocaleString("en")} more changes`);
        button.type = "button";
        button.addEventListener("click", () => { button.remove(); from(end); });
        holder.append(button);
      }
      place.append(holder);
    };
    from(0);
  };

  const drawInside = (details) => {
    if (details.open) details.querySelectorAll("[data-diff]").forEach(draw);
  };
  document.addEventListener("toggle", (event) => drawInside(event.target), true);
  document.querySelectorAll("details[open]").forEach(drawInside);

  // A link to a step opens it.
  const follow = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") {
      target.open = true;
      drawInside(target);
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);
  follow();

  const tip = document.getElementById("tip");
  document.addEventListener("mouseover", (event) => {
    const text = hints.get(event.target) || hints.get(event.target.parentElement);
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const box = event.target.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const below = box.bottom + 6 + size.height < innerHeight;
    tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - size.width - 12))}px`;
    tip.style.top = `${below ? box.bottom + 6 : Math.max(4, box.top - size.height - 6)}px`;
  });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  const bars = read("times-data"), canvas = document.getElementById("chart");
  const chart = () => {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    const kinds = { typed: "typed", bridged: "bridged", lowering: "between", raising: "between" };
    const narrow = innerWidth < 600;
    const label = (text) => (narrow && text.length > 24 ? text.slice(0, 23) + "…" : text);
    canvas.parentElement.style.height = `${bars.length * 24 + 40}px`;
    return new Chart(canvas, {
      type: "bar",
      data: {
        labels: bars.map((bar) => label(bar.label)),
        datasets: [{
          data: bars.map((bar) => bar.ms),
          backgroundColor: bars.map((bar) => color(kinds[bar.kind])),
          barThickness: 13, borderRadius: 2,
        }],
      },
      options: {
        indexAxis: "y", animation: false, maintainAspectRatio: false,
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: {
            title: (items) => bars[items[0].dataIndex].label,
            label: (item) => `${item.parsed.x} ms${bars[item.dataIndex].hit ? ", changed the graph" : ""}`,
          } },
        },
        scales: {
          x: { ticks: { color: color("quiet"), maxRotation: 0, maxTicksLimit: narrow ? 4 : 11, callback: (value) => `${value} ms` }, grid: { color: color("line") }, border: { display: false } },
          y: { ticks: { color: color("text"), autoSkip: false, font: { size: narrow ? 11 : 12 } }, grid: { display: false }, border: { display: false } },
        },
      },
    });
  };
  if (bars.length) {
    let shown = chart();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { shown.destroy(); shown = chart(); });
  } else document.getElementById("times").remove();
})();
