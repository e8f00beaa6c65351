"use strict";
// Filter and sort the table of targets. The state lives in the hash, so that a link shows what its sender saw.
(() => {
  const table = document.getElementById("targets");
  const controls = document.getElementById("controls");
  if (!table || !controls) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const nameOf = (row) => row.cells[1].firstChild.textContent.trim();
  const search = document.getElementById("search");
  const hide = document.getElementById("hide-equal");
  const live = document.getElementById("live");
  const chips = [...document.querySelectorAll(".counts a")];
  controls.hidden = false;

  const read = () => new URLSearchParams(location.hash.slice(1));
  const state = { only: "", text: "", equal: hide.checked };

  const apply = () => {
    let shown = 0;
    const text = state.text.toLowerCase();
    for (const row of rows) {
      const fits = nameOf(row).toLowerCase().includes(text)
        && (state.only ? row.dataset.state === state.only : !(state.equal && row.dataset.state === "equal"));
      row.toggleAttribute("data-hidden", !fits);
      shown += fits;
    }
    for (const chip of chips) {
      chip.toggleAttribute("aria-current", chip.dataset.state === state.only);
    }
    live.textContent = `${shown} of ${rows.length} targets shown`;
  };

  const remember = () => {
    const parts = new URLSearchParams();
    if (state.only) parts.set("state", state.only);
    if (state.text) parts.set("q", state.text);
    history.replaceState(null, "", `#${parts}`);
    apply();
  };

  const restore = () => {
    const parts = read();
    state.only = parts.get("state") ?? "";
    state.text = search.value = parts.get("q") ?? "";
    apply();
  };

  for (const chip of chips) {
    chip.addEventListener("click", (event) => {
      event.preventDefault();
      state.only = state.only === chip.dataset.state ? "" : chip.dataset.state;
      remember();
    });
  }
  search.addEventListener("input", () => { state.text = search.value; remember(); });
  hide.addEventListener("change", () => { state.equal = hide.checked; apply(); });
  addEventListener("hashchange", restore);
  addEventListener("keydown", (event) => {
    const typing = event.target.closest("input");
    if (event.key === "/" && !typing) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape" && typing === search) { search.value = state.text = ""; remember(); }
  });

  const copy = document.getElementById("copy");
  const markdown = document.getElementById("markdown");
  if (copy) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(markdown.textContent);
        live.textContent = "Copied";
      } catch { // refused: the text is selected, so that one key copies it
        getSelection().selectAllChildren(markdown);
        live.textContent = "The text is selected";
      }
    });
  }

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const numeric = head.classList.contains("number");
      const place = (row) => chips.findIndex((chip) => chip.dataset.state === row.dataset.state); // gravest first
      const number = (cell) => parseFloat((cell.title || cell.firstChild.textContent).replaceAll(",", "").replace("−", "-"));
      const key = numeric ? (row) => number(row.cells[column]) : column ? nameOf : place;
      rows.sort((one, other) => {
        const [a, b] = [key(one), key(other)];
        const unknown = Number.isNaN(a) - Number.isNaN(b);
        if (unknown || Number.isNaN(a)) return unknown; // what is not known stays last in both directions
        const order = column === 1 ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
        return falling ? -order : order;
      });
      body.append(...rows);
    });
  });
  restore();
})();
