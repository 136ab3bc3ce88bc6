// Shows whether the page is live, keeps what the reader has opened, replaces the rows of a table that have changed,
// and lets "/" jump to the filter.
"use strict";
(() => {
  const connection = document.getElementById("connection");
  const say = (state, words) => {
    if (connection.dataset.state !== state) {
      connection.dataset.state = state;
      connection.lastElementChild.textContent = words;
    }
  };
  document.body.addEventListener("htmx:sseOpen", () => say("live", "Live"));
  document.body.addEventListener("htmx:sseError", () => say("lost", "Connection lost, retrying"));

  // The server does not know which details the reader has opened, nor what is in a filter before it is sent.
  const ours = (name, node) =>
    (name === "open" && node.tagName === "DETAILS") || (name === "value" && node.tagName === "INPUT");
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !ours(name, node);
  Idiomorph.defaults.ignoreActiveValue = true;

  // Rows come by themselves: those that have changed, and the names of all in their order if that has changed.
  const rowsOfBody = 50;
  const nameOf = (row) => row.cells[0].firstChild.data;
  Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) => node.id !== "rows";

  const replaceRows = (known, html) => {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    for (const row of [...holder.content.children]) {
      const before = known.get(nameOf(row));
      if (before?.isEqualNode(row)) continue;
      before?.replaceWith(row);
      known.set(nameOf(row), row);
    }
  };
  const order = (table, known, names) => {
    const wanted = new Set(names);
    for (const [name, row] of known) if (!wanted.has(name)) row.remove();
    for (let first = 0; first < names.length; first += rowsOfBody) {
      const body = table.tBodies[first / rowsOfBody] ?? table.createTBody();
      let next = body.firstElementChild;
      for (const name of names.slice(first, first + rowsOfBody)) {
        const row = known.get(name);
        if (row === next) next = next.nextElementSibling;
        else body.insertBefore(row, next);
      }
    }
  };
  document.body.addEventListener("htmx:sseBeforeMessage", (event) => {
    if (event.detail.type !== "rows") return;
    event.preventDefault();
    const table = document.getElementById("rows");
    const known = new Map([...table.querySelectorAll("tbody tr")].map((row) => [nameOf(row), row]));
    const { html, names } = JSON.parse(event.detail.data);
    replaceRows(known, html);
    if (names) order(table, known, names);
  });

  document.addEventListener("keydown", (event) => {
    const filter = document.querySelector("input[type=search]");
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === "/" && filter && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      filter.focus();
      filter.select();
    }
  });
})();
