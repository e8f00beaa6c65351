"use strict";
// Filter and sort the table of targets. The state lives in the hash, so that a link shows what its sender saw.
(() => {
  const table = document.getElementById("targets");
  const controls = document.getElementById("controls");
  if (!table || !controls) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
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
      const fits = row.dataset.name.toLowerCase().includes(text)
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

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.sort ?? "";
      const numeric = head.classList.contains("number");
      rows.sort((one, other) => {
        const [a, b] = [key(one), key(other)];
        if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1); // what is not known stays last in both directions
        const order = numeric ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
        return falling ? -order : order;
      });
      body.append(...rows);
    });
  });
  restore();
})();
