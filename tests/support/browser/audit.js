// Lists what is wrong with a page for keyboard, screen reader and low vision: names, headings, landmarks, contrast.
() => {
  const wrong = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (node) => node.getClientRects().length > 0 && getComputedStyle(node).visibility !== "hidden";
  const brief = (node) => node.outerHTML.slice(0, 90);
  const nameOf = (node) => {
    const ids = (node.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean);
    const byId = ids.map((id) => document.getElementById(id)?.textContent || "").join(" ");
    const labels = [...(node.labels || [])].map((label) => label.textContent).join(" ");
    const images = [...node.querySelectorAll("img[alt]")].map((image) => image.alt).join(" ");
    return (byId || node.getAttribute("aria-label") || labels || node.textContent || images).trim();
  };

  if (!document.documentElement.lang) wrong.push("html has no lang");
  if (!document.title.trim()) wrong.push("no title");
  for (const [selector, what] of [["main", "main"], ["body > header", "banner"], ["nav[aria-label]", "navigation"], ["body > footer", "content info"], ["h1", "h1"]])
    if (all(selector).length !== 1) wrong.push(`${all(selector).length} × ${what}`);

  let level = 0;
  for (const heading of all("h1,h2,h3,h4,h5,h6").filter(shown)) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) wrong.push(`heading skips from ${level} to ${next}: ${brief(heading)}`);
    level = next;
  }
  for (const node of all("a[href], button, input, select, textarea, summary, section, [role=region]"))
    if (!node.closest("[aria-hidden=true]") && !nameOf(node)) wrong.push(`no name: ${brief(node)}`);
  for (const node of all("img:not([alt])")) wrong.push(`no alt: ${brief(node)}`);
  for (const node of all("svg")) if (!node.closest("[aria-hidden=true]") && !node.getAttribute("aria-label")) wrong.push(`no label: ${brief(node)}`);
  for (const node of all("th:not([scope])")) wrong.push(`no scope: ${brief(node)}`);
  for (const node of all("table")) if (!node.tHead) wrong.push(`no head: ${brief(node)}`);
  for (const node of all("[tabindex]")) if (Number(node.getAttribute("tabindex")) > 0) wrong.push(`tab order: ${brief(node)}`);
  for (const node of all("[aria-hidden=true] a[href], [aria-hidden=true] button"))
    if (node.getAttribute("tabindex") !== "-1") wrong.push(`hidden, but in the tab order: ${brief(node)}`);
  for (const node of all("[style], [onclick], style, script:not([src])")) if (!node.matches("svg *")) wrong.push(`inline: ${brief(node)}`);
  const ids = all("[id]").map((node) => node.id);
  for (const id of ids.filter((each, at) => ids.indexOf(each) !== at)) wrong.push(`id twice: ${id}`);
  for (const node of all("[aria-labelledby]"))
    for (const id of node.getAttribute("aria-labelledby").split(/\s+/)) if (!document.getElementById(id)) wrong.push(`no such id: ${id}`);

  const channels = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((each) => { const part = each / 255; return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(node) || !shown(node) || node.closest(".unseen, .skip, script")) continue;
    seen.add(node);
    const style = getComputedStyle(node);
    const ink = channels(node.namespaceURI.includes("svg") ? style.fill : style.color).slice(0, 3);
    const [bright, dark] = [light(ink), light(ground(node))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const enough = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 600) ? 3 : 4.5;
    const contrast = (bright + 0.05) / (dark + 0.05);
    if (contrast < enough) wrong.push(`contrast ${contrast.toFixed(2)}: ${brief(node)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`wider than the screen: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  return [...new Set(wrong)];
}
