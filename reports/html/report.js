"use strict";
(() => {
  const queries = [...document.querySelectorAll(".query")];
  const buttons = [...document.querySelectorAll("[data-verdict]")];
  const search = document.querySelector("input[type=search]");
  const shown = document.querySelector("#shown");
  const empty = document.querySelector(".empty");
  const rows = new Map([...document.querySelectorAll("#states [data-query]")].map((row) => [row.dataset.query, row]));
  const texts = queries.map((query) => query.textContent.toLowerCase());

  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  const draw = (query) => {
    for (const template of query.querySelectorAll("template[data-drawing]")) {
      const holder = document.createElement("div");
      holder.className = "drawing";
      holder.attachShadow({ mode: "open" }).append(template.content.cloneNode(true));
      template.replaceWith(holder);
    }
  };
  const update = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set(buttons.filter(pressed).map((b) => b.dataset.verdict));
    let count = 0;
    queries.forEach((query, index) => {
      const wanted = verdicts.size === 0 || verdicts.has(query.dataset.is);
      const fits = wanted && words.every((word) => texts[index].includes(word));
      query.hidden = !fits;
      if (rows.has(query.id)) rows.get(query.id).hidden = !fits;
      count += fits;
    });
    shown.textContent = count === queries.length ? `${count} queries` : `${count} of ${queries.length} queries`;
    empty.hidden = count > 0 || queries.length === 0;
  };
  const follow = () => {
    const query = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (query && query.matches(".query")) {
      query.open = true;
      query.scrollIntoView();
    }
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!pressed(button)));
      update();
    });
  }
  for (const query of queries) {
    query.addEventListener("toggle", () => query.open && draw(query));
  }
  const heads = [...document.querySelectorAll("#states th")];
  const valueIn = (cell) => (cell.dataset.value ? Number(cell.dataset.value) : cell.textContent.toLowerCase());
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const falls = head.getAttribute("aria-sort") !== "descending";
      const order = (one, other) => {
        const [a, b] = [valueIn(one.cells[column]), valueIn(other.cells[column])];
        return (a === b ? 0 : a < b === falls ? 1 : -1);
      };
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      document.querySelector("#states tbody").append(...[...rows.values()].sort(order));
    });
  });
  search.addEventListener("input", update);
  addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      update();
    }
  });
  addEventListener("hashchange", follow);
  update();
  follow();
})();
