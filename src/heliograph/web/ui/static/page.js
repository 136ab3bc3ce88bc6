// Shows whether the page is live, keeps what the reader has opened, and lets "/" jump to the filter.
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
