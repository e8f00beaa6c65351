"use strict";
(() => {
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, text = "", attributes = {}) => {
  const node = document.createElement(tag);
  node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};
document.documentElement.classList.add("js");
const say = text => { $("#live").textContent = text; };

/* Copying: a text area stands in where the clipboard is refused. */
const copy = async (text, button) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", "", {"aria-label": "Text to copy", rows: 6});
    area.value = text;
    button.after(area);
    area.select();
    return;
  }
  say("Copied");
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1200);
};
const cellText = cell => cell.textContent.replace(/\s+/g, " ").trim().replace(/\|/g, "\\|");
const asMarkdown = table => {
  const rows = $$("tr", table).map(row => [...row.cells].map(cellText));
  const rule = [...table.rows[0].cells].map((cell, at) => {
    const body = table.tBodies[0].rows[0];
    return body && body.cells[at].classList.contains("num") ? "--:" : "---";
  });
  return [rows[0], rule, ...rows.slice(1)].map(row => `| ${row.join(" | ")} |`).join("\n") + "\n";
};
for (const table of $$("main > section table, main > section details > .scroll > table")) {
  if (table.closest(".tree")) continue;
  const button = make("button", "Copy as Markdown", {type: "button", class: "copy"});
  button.addEventListener("click", () => copy(asMarkdown(table), button));
  (table.closest(".scroll") || table).after(button);
}

/* State in the address: #m=path@call&metric=macs&q=text */
const readHash = () => {
  const state = {};
  for (const part of location.hash.slice(1).split("&")) {
    const at = part.indexOf("=");
    if (at > 0) {
      try { state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); } catch { /* a broken link is no state */ }
    }
  }
  return state;
};
const writeHash = (changes, push = false) => {
  const state = {...readHash(), ...changes};
  const parts = Object.entries(state).filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const url = parts.length ? `#${parts.join("&")}` : location.pathname + location.search;
  try { history[push ? "pushState" : "replaceState"](null, "", url); } catch { /* some viewers refuse */ }
};

const tree = $(".tree");
if (!tree) return;
const head = $(".head", tree);
const rows = $$(".r:not(.head)", tree);
const boxOf = row => row.tagName === "SUMMARY" ? row.parentElement : row;
const parentRow = row => {
  const above = boxOf(row).parentElement;
  return above === tree ? null : above.firstElementChild;
};
const nameOf = row => row.firstElementChild.firstChild.textContent.trim();
const paths = new Map();
const pathOf = row => {
  if (!paths.has(row)) {
    const names = [];
    for (let at = row; parentRow(at); at = parentRow(at)) names.unshift(nameOf(at));
    paths.set(row, names.join("."));
  }
  return paths.get(row);
};
const rowOf = id => {
  const box = document.getElementById(id);
  return box && (box.matches(".r") ? box : $("summary.r", box));
};
const reveal = row => {
  for (let box = boxOf(row).parentElement.closest("details"); box && tree.contains(box); box = box.parentElement.closest("details")) box.open = true;
};
const childRows = row => [...boxOf(row).children].filter(box => box.id).map(box => box.matches(".r") ? box : $("summary.r", box));
/* A path may name a member of a folded run: {0…31} holds 7. */
const holds = (name, part) => {
  if (name === part) return "";
  const run = name.match(/^(.*)\{(\d+)…(\d+)\}$/s);
  if (!run || !part.startsWith(run[1])) return null;
  const index = part.slice(run[1].length);
  return /^\d+$/.test(index) && +index >= +run[2] && +index <= +run[3] ? part : null;
};
const find = path => {
  let row = rows[0], member = "";
  for (const part of path ? path.split(".") : []) {
    let hit = null, next = null;
    for (const child of childRows(row)) {
      hit = holds(nameOf(child), part);
      if (hit !== null) { next = child; break; }
    }
    if (!next) return null;
    member = hit || member;
    row = next;
  }
  return {row, member};
};

/* Evidence: static in small reports, built on demand from the island in large ones. */
const island = $("#evidence");
let store = null;
const evidenceOf = row => {
  const box = boxOf(row);
  const fixed = $(":scope > .ev", box);
  if (fixed) {
    const copyOfIt = fixed.cloneNode(true);
    if (copyOfIt.tagName === "DETAILS") $("summary", copyOfIt).remove();
    return [...copyOfIt.childNodes];
  }
  if (!island) return [];
  store = store || JSON.parse(island.textContent);
  const [columns, calls, notes] = store.rows[+box.id.slice(1)];
  const text = at => typeof at === "number" ? store.strings[at] : at;
  const digits = cost => typeof cost === "number" ? cost.toLocaleString("en-US") : cost;
  const parts = [];
  if (calls.length) {
    const table = make("table", "", {class: "calls"});
    const top = table.createTHead().insertRow();
    for (const name of store.columns[columns]) top.append(make("th", name, {scope: "col"}));
    const body = table.createTBody();
    for (const call of calls) {
      const line = body.insertRow();
      call.forEach((at, column) => { line.insertCell().textContent = column < 3 ? text(at) : digits(at); });
    }
    parts.push(table);
  }
  if (notes.length) parts.push(make("p", notes.map(text).join(" "), {class: "note"}));
  return parts;
};
const inspector = $("#inspector");
let chosen = null;
const choose = (row, {push = true, member = "", scroll = false} = {}) => {
  if (chosen) chosen.classList.remove("chosen");
  chosen = row;
  row.classList.add("chosen");
  reveal(row);
  const path = pathOf(row);
  const shown = member ? path.split(".").map(part => holds(part, member) !== null ? member : part).join(".") : path;
  inspector.replaceChildren(make("h3", shown || nameOf(row)));
  const bar = make("p", row.children[1].textContent);
  const button = make("button", "Copy path", {type: "button"});
  button.addEventListener("click", () => copy(shown, button));
  const close = make("button", "Close", {type: "button"});
  close.addEventListener("click", () => { inspector.hidden = true; });
  bar.append(" ", button, " ", close);
  inspector.append(bar, ...evidenceOf(row));
  inspector.hidden = false;
  for (const tile of $$(".t[aria-current]")) tile.removeAttribute("aria-current");
  for (const tile of $$(`.t[href="#${boxOf(row).id}"]`)) tile.setAttribute("aria-current", "true");
  if (push) writeHash({m: shown || "/"}, true);
  if (scroll) row.scrollIntoView({block: "center"});
};
tree.addEventListener("click", event => {
  const row = event.target.closest(".r:not(.head)");
  if (row && !event.target.closest("button,a")) choose(row);
});

/* Filter, chips, counts. */
const search = $("#filter");
let only = "";
const matches = (row, terms) => terms.every(term => {
  if (term.startsWith("type:")) return row.children[1].textContent.toLowerCase().includes(term.slice(5));
  const notes = row.lastElementChild.textContent;
  if (term.startsWith("status:")) return notes.includes(term.slice(7).replace("partial", "lower bound"));
  if (term === "changed" && notes.includes("changed")) return true;
  return pathOf(row).toLowerCase().includes(term);
});
const filter = () => {
  const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const active = terms.length > 0 || only !== "";
  const kept = new Set();
  let count = 0;
  if (active) {
    for (const row of rows) {
      if (!matches(row, terms) || (only && !row.lastElementChild.textContent.split(", ").includes(only))) continue;
      count += 1;
      row.classList.remove("miss");
      for (let at = row; at && !kept.has(at); at = parentRow(at)) kept.add(at);
      kept.add(row);
      if (count <= 200) reveal(row);
    }
  }
  for (const row of rows) {
    boxOf(row).hidden = active && !kept.has(row);
    row.classList.toggle("miss", active && kept.has(row) && !matches(row, terms));
  }
  say(active ? `${count} of ${rows.length} modules match` : "");
  writeHash({q: search.value});
};
let waiting = 0;
search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, rows.length > 2000 ? 150 : 0); });
for (const chip of $$("[data-only]")) {
  chip.addEventListener("click", () => {
    only = chip.dataset.only;
    for (const each of $$("[data-only]")) each.setAttribute("aria-pressed", each === chip);
    filter();
  });
}
$("#expand").addEventListener("click", () => { for (const row of rows) if (!boxOf(row).matches(".leaf,.r")) boxOf(row).open = true; });
$("#collapse").addEventListener("click", () => { for (const row of rows) if (boxOf(row) !== row) boxOf(row).open = boxOf(row) === boxOf(rows[0]); });

/* Sorting: among siblings, stable, unknown always last. */
const scale = {k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, Z: 1e21, Y: 1e24};
const valueOf = (row, column) => {
  const found = row.children[column].firstChild;
  const number = found && found.textContent.match(/([\d.,]+)\s*([kMGTPEZY]?)$/);
  return number ? parseFloat(number[1].replace(/,/g, "")) * (scale[number[2]] || 1) : null;
};
const original = new Map(rows.map((row, at) => [row, at]));
const sortBy = (column, direction) => {
  for (const row of rows) {
    const children = childRows(row);
    if (children.length < 2) continue;
    const keyed = children.map(child => [direction ? valueOf(child, column) : original.get(child), child]);
    keyed.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : direction === "descending" ? b - a : a - b);
    boxOf(row).append(...keyed.map(([, child]) => boxOf(child)));
  }
};
for (const cell of $$("[data-sort]", head)) {
  const button = make("button", cell.textContent, {type: "button", title: "Sort siblings"});
  cell.replaceChildren(button);
  button.addEventListener("click", () => {
    const now = cell.dataset.order;
    const next = now === "descending" ? "ascending" : now === "ascending" ? "" : "descending";
    for (const each of $$("[data-sort]", head)) { delete each.dataset.order; $("button", each).textContent = $("button", each).textContent.replace(/ [▲▼]$/, ""); }
    if (next) { cell.dataset.order = next; button.textContent += next === "descending" ? " ▼" : " ▲"; }
    sortBy(+cell.dataset.sort, next);
    say(next ? `Sorted by ${button.textContent.slice(0, -2)}, ${next}` : "Model order");
  });
}

/* Maps: labels follow the width, a double click or Enter on a chosen block zooms. */
const crumbs = $(".crumbs");
const maps = new Map();
for (const svg of $$(".map svg")) {
  const full = svg.viewBox.baseVal.width;
  maps.set(svg, {full, tiles: $$(".t", svg).map(link => {
    const box = $("rect", link);
    const row = rowOf(link.getAttribute("href").slice(1));
    const times = row.firstElementChild.querySelector("em");
    return {link, box, x: +box.getAttribute("x"), width: +box.getAttribute("width"), y: +box.getAttribute("y"),
      name: nameOf(row) + (times ? ` ${times.textContent}` : ""), value: link.dataset.v,
      sign: /worse/.test(link.getAttribute("class")) ? "▲ " : /better/.test(link.getAttribute("class")) ? "▼ " : ""};
  })});
}
const draw = (svg, from = 0, span = 0) => {
  const {full, tiles} = maps.get(svg);
  const width = svg.parentElement.clientWidth || full;
  const factor = width / (span || full);
  svg.setAttribute("viewBox", `0 0 ${width} ${svg.viewBox.baseVal.height}`);
  svg.setAttribute("width", width);
  for (const tile of tiles) {
    const left = Math.max(0, (tile.x - from) * factor);
    const right = Math.min(width, (tile.x + tile.width + 1 - from) * factor) - 1;
    tile.link.style.display = right - left < 0.5 ? "none" : "";
    if (right - left < 0.5) continue;
    tile.box.setAttribute("x", left);
    tile.box.setAttribute("width", right - left);
    const room = Math.floor((right - left - 12) / 7.2);
    let text = $("text", tile.link);
    const name = tile.sign + tile.name;
    const label = room >= Math.min(name.length, 3) ? name : right - left >= 22 ? tile.sign.trim() : "";
    if (!label) { if (text) text.remove(); continue; }
    if (!text) {
      text = document.createElementNS(svg.namespaceURI, "text");
      text.setAttribute("y", tile.y + 16);
      tile.link.append(text);
    }
    text.setAttribute("x", left + 6);
    text.textContent = label.length <= Math.max(room, 1) ? label : `${label.slice(0, room - 1)}…`;
    if (tile.value && label === name && name.length + tile.value.length + 2 <= room) {
      const number = document.createElementNS(svg.namespaceURI, "tspan");
      number.setAttribute("dx", 8);
      number.textContent = tile.value;
      text.append(number);
    }
  }
};
const zoom = (svg, link) => {
  const state = maps.get(svg);
  const tile = state.tiles.find(each => each.link === link) || state.tiles[0];
  draw(svg, tile.x, tile.width + 1);
  const steps = [];
  for (let row = rowOf(tile.link.getAttribute("href").slice(1)); row; row = parentRow(row)) steps.unshift(row);
  crumbs.hidden = steps.length < 2;
  crumbs.replaceChildren(...steps.map(row => {
    const button = make("button", nameOf(row), {type: "button"});
    button.addEventListener("click", () => zoom(svg, $(`.t[href="#${boxOf(row).id}"]`, svg)));
    return button;
  }));
};
const shownMap = () => $$(".map svg").find(svg => svg.getClientRects().length);
for (const svg of maps.keys()) {
  svg.addEventListener("pointerover", event => {
    const link = event.target.closest(".t:not([data-named])");
    if (!link) return;
    const row = rowOf(link.getAttribute("href").slice(1));
    const path = pathOf(row);
    if (path) $("title", link).textContent = `${path}: ${$("title", link).textContent}`;
    link.dataset.named = "";
  });
  svg.addEventListener("click", event => {
    const link = event.target.closest(".t");
    if (!link) return;
    event.preventDefault();
    const row = rowOf(link.getAttribute("href").slice(1));
    if (row === chosen) zoom(svg, link); else choose(row);
    for (const each of maps.get(svg).tiles) each.link.tabIndex = each.link === link ? 0 : -1;
  });
  svg.addEventListener("keydown", event => {
    const visible = maps.get(svg).tiles.filter(tile => tile.link.style.display !== "none").map(tile => tile.link);
    const at = visible.indexOf(document.activeElement);
    const row = at >= 0 ? rowOf(visible[at].getAttribute("href").slice(1)) : null;
    const linkOf = other => other && visible.find(link => link.getAttribute("href") === `#${boxOf(other).id}`);
    const next = {ArrowDown: () => visible[at + 1], ArrowUp: () => visible[at - 1], Home: () => visible[0],
      End: () => visible.at(-1), ArrowLeft: () => row && linkOf(parentRow(row)),
      ArrowRight: () => row && childRows(row).map(linkOf).find(Boolean)}[event.key];
    if (next) {
      event.preventDefault();
      const link = next();
      if (link) { visible.forEach(each => { each.tabIndex = each === link ? 0 : -1; }); link.focus(); }
    } else if ((event.key === "Enter" || event.key === " ") && row) {
      event.preventDefault();
      if (row === chosen) zoom(svg, visible[at]); else choose(row);
    }
  });
}
const redraw = () => { const svg = shownMap(); if (svg) { draw(svg); crumbs.hidden = true; } };
for (const radio of $$("[name=metric]")) radio.addEventListener("change", () => { redraw(); writeHash({metric: radio.value}); });
let resizing = 0;
addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(redraw, 100); });

/* Keys. Single keys rest while something is typed. */
const step = by => {
  const changed = rows.filter(row => /changed|new|removed/.test(row.lastElementChild.textContent) && !childRows(row).length);
  if (changed.length) choose(changed[(changed.indexOf(chosen) + by + changed.length) % changed.length], {scroll: true});
};
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (document.activeElement === search && search.value) { search.value = ""; filter(); } else { inspector.hidden = true; redraw(); }
    return;
  }
  if (event.target.closest("input,textarea,select")) return;
  const action = {"/": () => search.focus(), "[": () => step(-1), "]": () => step(1), "?": () => { const help = $(".help"); help.open = true; help.scrollIntoView(); }}[event.key];
  if (action) { event.preventDefault(); action(); }
});

/* The address decides what is shown first. */
const follow = () => {
  const fragment = location.hash.slice(1);
  if (/^m\d+$/.test(fragment)) {
    const row = rowOf(fragment);
    if (row) choose(row, {push: false, scroll: true});
    return;
  }
  const state = readHash();
  const radio = state.metric && $$("[name=metric]").find(each => each.value === state.metric);
  if (radio) { radio.checked = true; redraw(); }
  if (state.q !== undefined && state.q !== search.value) { search.value = state.q; filter(); }
  if (state.m) {
    const found = find(state.m === "/" ? "" : state.m.replace(/@\d+$/, ""));
    if (found) choose(found.row, {push: false, member: found.member, scroll: true});
    else say("The linked module is not in this report");
  }
  document.documentElement.classList.toggle("all", state.print === "all");
  if (state.print === "all") for (const box of $$("details")) box.open = true;
};
addEventListener("hashchange", follow);
addEventListener("popstate", follow);
for (const tools of $$(".tools")) tools.hidden = false;
redraw();
follow();
})();
