"use strict";
// Draws the page from the run's data. The chart library draws all but the timeline, which it has no
// kind of chart for.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const NAME = 0, ZONE = 1, COMPUTE = 2, TRANSFER = 3, WAIT = 4, BARS = 5;
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const valueOf = Object.fromEntries([...digits].map((c, i) => [c, i]));

  const count = (n) => n.toLocaleString("en-US");
  const scaled = (x, units) => {
    let i = 0;
    while (Math.abs(x) >= 1000 && i + 1 < units.length) { x /= 1000; ++i; }
    return (x >= 100 || Number.isInteger(x) ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2)) + " " + units[i];
  };
  const bytes = (n) => scaled(n, ["B", "kB", "MB", "GB", "TB", "PB"]);
  const seconds = (s) => s >= 60 ? (s / 60).toFixed(s >= 600 ? 0 : 1) + " min"
    : s >= 1 || s === 0 ? +s.toPrecision(4) + " s"
    : s >= 1e-3 ? +(s * 1e3).toPrecision(4) + " ms" : +(s * 1e6).toPrecision(4) + " µs";
  const wholePercent = (x) => Math.round(100 * x) + "%";
  const percent = (x) => (100 * x).toFixed(x > 0 && x < 0.1 ? 1 : 0) + "%";

  const element = (tag, text, className) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  };
  const instead = (id, sentence) => {
    const node = byId(id);
    (node.closest(".chart, .scroll, #timeline-box") || node).replaceWith(element("p", sentence, "empty"));
  };

  byId("title").textContent = data.title;
  if (data.facts.length === 0) byId("facts").parentElement.remove();
  for (const [name, value] of data.facts) {
    const box = element("div");
    box.append(element("dt", name), element("dd", value));
    byId("facts").append(box);
  }

  const nodes = data.nodes;
  const columns = data.column > 0 ? Math.max(1, Math.ceil(data.seconds / data.column - 1e-9)) : 0;
  const hasTimeline = columns > 0 && nodes.length > 0;
  const rowHeight = nodes.length <= 24 ? 18 : nodes.length <= 80 ? 12 : nodes.length <= 260 ? 4 : 2;
  const thin = rowHeight < 10, left = 92;
  const roleOf = (node) => node[NAME].split(" ")[0], numberOf = (node) => +node[NAME].split(" ")[1];

  const rgb = (name) => [1, 3, 5].map((i) => parseInt(css(name).slice(i, i + 2), 16));
  const sharesAt = (node, column) => {
    const bars = node[BARS];
    if (2 * column + 1 >= bars.length) return [0, 0];
    return [valueOf[bars[2 * column]] / 63, valueOf[bars[2 * column + 1]] / 63];
  };
  const waiting = (compute, transfer) => Math.max(0, 1 - compute - transfer);

  function sized(canvas, height) {
    const width = canvas.clientWidth || canvas.parentElement.clientWidth;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    canvas.style.height = height + "px";
    const ctx = canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    ctx.clearRect(0, 0, width, height);
    return [ctx, width];
  }

  // A picture of one pixel a cell, stretched: half a million cells take no time to draw. Rows too
  // thin to stack colours in show them mixed.
  function drawThin(ctx, width) {
    const picture = Object.assign(element("canvas"), { width: columns, height: nodes.length });
    const to = picture.getContext("2d");
    const image = to.createImageData(columns, nodes.length);
    const colours = [rgb("compute"), rgb("transfer"), rgb("wait")];
    let at = 0;
    for (const node of nodes)
      for (let c = 0; c < columns; ++c) {
        const [compute, transfer] = sharesAt(node, c);
        const wait = waiting(compute, transfer), sum = compute + transfer + wait;
        for (let i = 0; i < 3; ++i)
          image.data[at++] = (compute * colours[0][i] + transfer * colours[1][i] + wait * colours[2][i]) / sum;
        image.data[at++] = 255;
      }
    to.putImageData(image, 0, 0);
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(picture, left, 0, width - left, nodes.length * rowHeight);
  }

  function drawStacked(ctx, width) {
    const colours = { compute: css("compute"), transfer: css("transfer"), wait: css("wait") };
    const perColumn = (width - left) / columns, height = rowHeight - 2;
    nodes.forEach((node, row) => {
      const top = row * rowHeight;
      ctx.fillStyle = colours.wait;
      ctx.fillRect(left, top, width - left, height);
      for (let c = 0; c < columns; ++c) {
        const [compute, transfer] = sharesAt(node, c);
        const x = left + c * perColumn, a = height * compute, b = Math.min(height - a, height * transfer);
        ctx.fillStyle = colours.transfer;
        ctx.fillRect(x, top + height - a - b, perColumn + 0.5, b);
        ctx.fillStyle = colours.compute;
        ctx.fillRect(x, top + height - a, perColumn + 0.5, a);
      }
    });
  }

  // Names beside the rows that have room for one: the first of each role, and then round numbers.
  function drawNames(ctx, width) {
    const apart = 12, every = thin ? 40 / rowHeight : 1, taken = [];
    const starts = (row) => row === 0 || roleOf(nodes[row]) !== roleOf(nodes[row - 1]);
    const draw = (row) => {
      const y = Math.max(6, (row + 0.5) * rowHeight - (thin ? 0 : 1));
      if (taken.some((other) => Math.abs(other - y) < apart)) return;
      taken.push(y);
      ctx.fillText(nodes[row][NAME], 0, y, left - 8);
    };
    ctx.fillStyle = css("ink");
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    const rows = nodes.map((_, row) => row);
    rows.filter(starts).reverse().forEach(draw);
    ctx.fillStyle = css(thin ? "dim" : "ink");
    rows.filter((row) => !(numberOf(nodes[row]) % every)).forEach(draw);
    if (!thin) return;
    ctx.fillStyle = css("card");
    rows.filter(starts).forEach((row) => { if (row > 0) ctx.fillRect(left, row * rowHeight, width - left, 1); });
  }

  function drawTimeline() {
    const [ctx, width] = sized(byId("timeline"), nodes.length * rowHeight);
    (thin ? drawThin : drawStacked)(ctx, width);
    drawNames(ctx, width);
    drawAxis(width);
  }

  // At round numbers of one unit.
  function drawAxis(barsWidth) {
    const [ctx, width] = sized(byId("axis"), 22);
    ctx.fillStyle = ctx.strokeStyle = css("dim");
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "center";
    const end = columns * data.column, room = (barsWidth - left) / 90;
    const units = [[3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
    const [unit, name] = units.find((u) => end >= 2 * u[0]) || units[5];
    const power = 10 ** Math.floor(Math.log10(end / unit / room));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => end / unit / s <= room) || 10 * power;
    for (let i = 0; i * step * unit <= end * (1 + 1e-9); ++i) {
      const x = left + (barsWidth - left) * i * step * unit / end;
      const text = +(i * step).toPrecision(6) + " " + name;
      ctx.beginPath(); ctx.moveTo(x, 0); ctx.lineTo(x, 5); ctx.stroke();
      const half = ctx.measureText(text).width / 2;
      ctx.fillText(text, Math.min(Math.max(x, left + half), width - half), 17);
    }
  }

  function tell(event) {
    const box = byId("timeline").getBoundingClientRect(), tip = byId("tip");
    const node = nodes[Math.floor((event.clientY - box.top) / rowHeight)];
    tip.hidden = !node;
    if (!node) return;
    const line = (when, compute, transfer, wait) => element("div",
      `${when}: computes ${percent(compute)}, transfers ${percent(transfer)}, waits ${percent(wait)}`);
    const all = Math.max(1e-300, node[COMPUTE] + node[TRANSFER] + node[WAIT]);
    tip.replaceChildren(element("b", node[NAME] + (node[ZONE] ? ` in ${node[ZONE]}` : "")),
      line("the whole run", node[COMPUTE] / all, node[TRANSFER] / all, node[WAIT] / all));
    const column = Math.floor((event.clientX - box.left - left) / (box.width - left) * columns);
    if (column >= 0 && column < columns) {
      const [compute, transfer] = sharesAt(node, column);
      const to = Math.min(data.seconds, (column + 1) * data.column);
      tip.append(line(`${seconds(column * data.column)} to ${seconds(to)}`, compute, transfer, waiting(compute, transfer)));
    }
    const within = (at, size, most) => Math.max(4, at + 14 + size > most ? at - 14 - size : at + 14);
    tip.style.left = within(event.clientX, tip.offsetWidth, window.innerWidth) + "px";
    tip.style.top = within(event.clientY, tip.offsetHeight, window.innerHeight) + "px";
  }

  if (!hasTimeline) {
    instead("timeline", "Nothing happened.");
    byId("timeline-legend").remove();
    byId("axis").remove();
  } else {
    byId("mixed").hidden = !thin;
    byId("timeline").addEventListener("mousemove", tell);
    byId("timeline").addEventListener("mouseleave", () => { byId("tip").hidden = true; });
  }

  const charts = [], Chart = window.Chart;
  Object.assign(Chart.defaults, { animation: false, maintainAspectRatio: false });
  Chart.defaults.plugins.legend.display = false;

  function roles() {
    const sums = {};
    for (const n of nodes) {
      const sum = sums[roleOf(n)] ||= [0, 0, 0];
      [COMPUTE, TRANSFER, WAIT].forEach((k, i) => { sum[i] += n[k]; });
    }
    const names = Object.keys(sums);
    if (names.length === 0) return instead("roles", "There are no nodes.");
    const share = (role, i) => sums[role][i] / Math.max(1e-300, sums[role].reduce((a, b) => a + b));
    charts.push(new Chart(byId("roles"), {
      type: "bar",
      data: { labels: names, datasets: ["compute", "transfer", "wait"].map((what, i) => ({
        label: what, data: names.map((r) => share(r, i)), backgroundColor: css(what), maxBarThickness: 34 })) },
      options: { indexAxis: "y", scales: {
        x: { stacked: true, max: 1, ticks: { callback: wholePercent } }, y: { stacked: true } },
        plugins: { legend: { display: true, position: "bottom", labels: { boxWidth: 12 } },
          tooltip: { callbacks: { label: (c) => `${c.dataset.label}: ${percent(c.raw)}` } } } },
    }));
  }

  let objectiveBy = 0, objectiveChart = null;
  function objective() {
    if (data.objective.length === 0) {
      byId("objective-switch").remove();
      return instead("objective", "No looks were taken at the objective (simulate.objective_every).");
    }
    const finite = data.objective.filter((p) => p[3] !== null);
    byId("diverged").textContent = finite.length === data.objective.length ? ""
      : `${count(data.objective.length - finite.length)} of ${count(data.objective.length)} looks found no finite number.`;
    const axis = ["virtual seconds", "clocks of all slots", "examples"];
    if (objectiveChart) objectiveChart.destroy();
    objectiveChart = new Chart(byId("objective"), {
      type: "line",
      data: { datasets: [{ data: data.objective.map((p) => ({ x: p[objectiveBy], y: p[3] })),
        borderColor: css("accent"), backgroundColor: css("accent"), borderWidth: 2,
        pointRadius: finite.length > 60 ? 0 : 2 }] },
      options: { interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: { x: { type: "linear", max: data.objective[data.objective.length - 1][objectiveBy],
          ticks: { includeBounds: false }, title: { display: true, text: axis[objectiveBy] } } },
        plugins: { tooltip: { callbacks: { title: () => "", label: (c) => {
          const [at, clocks, examples, value] = data.objective[c.dataIndex];
          return [String(value), `at ${seconds(at)}`, `${count(clocks)} clocks, ${count(examples)} examples`];
        } } } } },
    });
  }
  for (const button of document.querySelectorAll("#objective-switch button"))
    button.addEventListener("click", () => {
      objectiveBy = +button.dataset.by;
      for (const other of document.querySelectorAll("#objective-switch button"))
        other.classList.toggle("on", other === button);
      objective();
    });

  function staleness() {
    const sum = data.staleness.reduce((a, b) => a + b, 0);
    if (sum === 0) return instead("staleness", "No pull was answered.");
    const last = data.staleness.length - 1;  // the 64th bucket, if there is one, holds the rest
    charts.push(new Chart(byId("staleness"), {
      type: "bar",
      data: { labels: data.staleness.map((_, i) => i === last && last >= 63 ? i + "+" : String(i)),
        datasets: [{ data: data.staleness.map((n) => n / sum), backgroundColor: css("compute") }] },
      options: { scales: { x: { title: { display: true, text: "clocks behind" } }, y: { ticks: { callback: wholePercent } } },
        plugins: { tooltip: { callbacks: { label: (c) => `${count(data.staleness[c.dataIndex])} pulls, ${percent(c.raw)}` } } } },
    }));
  }

  function kinds() {
    const shown = data.kinds.slice().sort((a, b) => b[2] - a[2]).slice(0, 10);
    if (shown.length === 0) return instead("kinds", "Nothing was sent.");
    charts.push(new Chart(byId("kinds"), {
      type: "bar",
      data: { labels: shown.map((k) => k[0]), datasets: [{ data: shown.map((k) => k[2]), backgroundColor: css("transfer") }] },
      options: { indexAxis: "y", scales: { x: { ticks: { callback: bytes, maxTicksLimit: 6, maxRotation: 0 } } },
        plugins: { tooltip: { callbacks: { label: (c) => `${bytes(c.raw)} in ${count(shown[c.dataIndex][1])} messages` } } } },
    }));
  }

  function table(id, heads, rows, sentence) {
    if (rows.length === 0) return instead(id, sentence);
    const line = (tag, cells) => {
      const row = element("tr");
      cells.forEach((cell, i) => row.append(element(tag, cell, i >= heads.numbersFrom ? "n" : "")));
      byId(id).append(row);
    };
    line("th", heads.names);
    for (const cells of rows) line("td", cells);
  }
  const trafficHeads = (first) => ({ names: [first, "messages", "bytes", "lost", "doubled"], numbersFrom: 1 });
  const trafficRow = (t) => [t[0], count(t[1]), bytes(t[2]), count(t[3]), count(t[4])];
  table("kind-table", trafficHeads("kind"), data.kinds.slice().sort((a, b) => b[2] - a[2]).map(trafficRow), "Nothing was sent.");
  table("link-table", trafficHeads("link"), data.links.map(trafficRow), "Nothing was sent.");
  if (data.filters.length === 0) byId("filters").remove();
  else table("filter-table", { names: ["traffic", "after", "by workers", "by servers", "of raw"], numbersFrom: 2 },
    data.filters.map(([traffic, step, workers, servers]) => {
      const raw = data.filters.find((f) => f[0] === traffic);
      return [traffic, step, bytes(workers), bytes(servers), percent((workers + servers) / Math.max(1, raw[2] + raw[3]))];
    }), "Nothing was sent.");
  table("event-table", { names: ["at", "node", "event"], numbersFrom: 9 },
    data.events.map((e) => [seconds(e[0]), e[1], e[2]])
      .concat(data.moreEvents > 0 ? [["", "", `and ${count(data.moreEvents)} more`]] : []),
    "Nothing befell the cluster.");

  function draw() {
    Chart.defaults.color = css("dim");
    Chart.defaults.borderColor = css("line");
    for (const chart of charts.splice(0)) chart.destroy();
    if (hasTimeline) drawTimeline();
    for (const [id, paint] of [["roles", roles], ["objective", objective], ["staleness", staleness], ["kinds", kinds]])
      if (byId(id)) paint();
  }
  draw();
  window.addEventListener("resize", () => { if (hasTimeline) drawTimeline(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
