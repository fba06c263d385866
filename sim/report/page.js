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
  const percent = (x) => (100 * x).toFixed(x > 0 && x < 0.1 ? 1 : 0) + "%";

  const element = (tag, text, className) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  };
  const instead = (id, sentence) => {
    const node = byId(id);
    const box = node.closest(".chart, .scroll, #timeline-box") || node;
    box.replaceWith(element("p", sentence, "empty"));
  };

  byId("title").textContent = data.title;
  for (const [name, value] of data.facts) {
    const box = element("div");
    box.append(element("dt", name), element("dd", value));
    byId("facts").append(box);
  }

  // ---- the timeline -------------------------------------------------------------------------
  const nodes = data.nodes;
  const columns = data.column > 0 ? Math.max(1, Math.ceil(data.seconds / data.column - 1e-9)) : 0;
  const rowHeight = nodes.length <= 24 ? 18 : nodes.length <= 80 ? 10 : nodes.length <= 260 ? 4 : 2;
  const labelled = rowHeight >= 10;
  const left = labelled ? 92 : 4;

  const mixed = (parts) => {
    const out = [0, 0, 0];
    for (const [colour, share] of parts) {
      const value = parseInt(colour.slice(1), 16);
      out[0] += share * (value >> 16); out[1] += share * ((value >> 8) & 255); out[2] += share * (value & 255);
    }
    return `rgb(${out.map(Math.round).join(",")})`;
  };
  const sharesAt = (node, column) => {
    const bars = node[BARS];
    if (2 * column + 1 >= bars.length) return [0, 0];
    return [valueOf[bars[2 * column]] / 63, valueOf[bars[2 * column + 1]] / 63];
  };

  function sized(canvas, height) {
    const width = canvas.clientWidth || canvas.parentElement.clientWidth;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
    const ctx = canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    ctx.clearRect(0, 0, width, height);
    return [ctx, width];
  }

  function drawTimeline() {
    const [ctx, width] = sized(byId("timeline"), nodes.length * rowHeight);
    const colours = { compute: css("compute"), transfer: css("transfer"), wait: css("wait"), ink: css("ink") };
    const perColumn = (width - left) / columns;
    const gap = rowHeight >= 10 ? 2 : 0;
    nodes.forEach((node, row) => {
      const top = row * rowHeight, height = rowHeight - gap;
      if (labelled) {
        ctx.fillStyle = colours.ink;
        ctx.font = Math.min(12, rowHeight) + "px system-ui, sans-serif";
        ctx.textBaseline = "middle";
        ctx.fillText(node[NAME], 0, top + height / 2, left - 6);
      }
      for (let c = 0; c < columns; ++c) {
        const [compute, transfer] = sharesAt(node, c);
        const x = left + c * perColumn;
        if (height < 6) {
          ctx.fillStyle = mixed([[colours.compute, compute], [colours.transfer, transfer],
                                 [colours.wait, Math.max(0, 1 - compute - transfer)]]);
          ctx.fillRect(x, top, perColumn + 0.5, height);
          continue;
        }
        const a = height * compute, b = height * transfer;
        ctx.fillStyle = colours.wait;
        ctx.fillRect(x, top, perColumn + 0.5, height);
        ctx.fillStyle = colours.transfer;
        ctx.fillRect(x, top + height - a - b, perColumn + 0.5, b);
        ctx.fillStyle = colours.compute;
        ctx.fillRect(x, top + height - a, perColumn + 0.5, a);
      }
    });
    drawAxis(width);
  }

  function drawAxis(barsWidth) {
    const [ctx] = sized(byId("axis"), 22);
    ctx.fillStyle = css("dim");
    ctx.strokeStyle = css("line");
    ctx.font = "11px system-ui, sans-serif";
    const ticks = Math.max(2, Math.floor((barsWidth - left) / 110));
    for (let i = 0; i <= ticks; ++i) {
      const x = left + (barsWidth - left) * i / ticks;
      ctx.beginPath(); ctx.moveTo(x, 0); ctx.lineTo(x, 5); ctx.stroke();
      ctx.textAlign = i === 0 ? "left" : i === ticks ? "right" : "center";
      ctx.fillText(seconds(columns * data.column * i / ticks), x, 17);
    }
  }

  function tell(event) {
    const box = byId("timeline").getBoundingClientRect();
    const node = nodes[Math.floor((event.clientY - box.top) / rowHeight)];
    if (!node) return;
    const column = Math.floor((event.clientX - box.left - left) / (box.width - left) * columns);
    const all = Math.max(1e-300, node[COMPUTE] + node[TRANSFER] + node[WAIT]);
    let text = `${node[NAME]}${node[ZONE] ? ` in ${node[ZONE]}` : ""}: computes ${percent(node[COMPUTE] / all)}, ` +
      `transfers ${percent(node[TRANSFER] / all)}, waits ${percent(node[WAIT] / all)} of the run`;
    if (column >= 0 && column < columns) {
      const [compute, transfer] = sharesAt(node, column);
      text += `; from ${seconds(column * data.column)} on: ${percent(compute)}, ${percent(transfer)}, ` +
        `${percent(Math.max(0, 1 - compute - transfer))}`;
    }
    byId("tip").textContent = text;
  }

  if (columns === 0 || nodes.length === 0) {
    instead("timeline", "Nothing happened.");
    byId("axis").remove();
    byId("tip").remove();
  } else {
    byId("timeline").addEventListener("mousemove", tell);
  }

  // ---- charts -------------------------------------------------------------------------------
  const charts = [];
  const Chart = window.Chart;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.display = false;

  function roles() {
    const sums = {};
    for (const n of nodes) {
      const role = n[NAME].split(" ")[0];
      const sum = sums[role] || (sums[role] = [0, 0, 0]);
      [COMPUTE, TRANSFER, WAIT].forEach((k, i) => { sum[i] += n[k]; });
    }
    const names = Object.keys(sums);
    if (names.length === 0) return instead("roles", "There are no nodes.");
    const share = (role, i) => sums[role][i] / Math.max(1e-300, sums[role].reduce((a, b) => a + b));
    charts.push(new Chart(byId("roles"), {
      type: "bar",
      data: { labels: names, datasets: ["compute", "transfer", "wait"].map((what, i) => ({
        label: what, data: names.map((r) => share(r, i)), backgroundColor: css(what) })) },
      options: { indexAxis: "y", scales: {
        x: { stacked: true, max: 1, ticks: { callback: percent } }, y: { stacked: true } },
        plugins: { tooltip: { callbacks: { label: (c) => `${c.dataset.label}: ${percent(c.raw)}` } } } },
    }));
  }

  let objectiveBy = 0;
  let objectiveChart = null;
  function objective() {
    if (data.objective.length === 0) {
      byId("objective-switch").remove();
      return instead("objective", "No looks were taken at the objective (simulate.objective_every).");
    }
    const axis = ["virtual seconds", "clocks of all slots", "examples"];
    if (objectiveChart) objectiveChart.destroy();
    objectiveChart = new Chart(byId("objective"), {
      type: "line",
      data: { datasets: [{ data: data.objective.map((p) => ({ x: p[objectiveBy], y: p[3] })),
        borderColor: css("accent"), backgroundColor: css("accent"), borderWidth: 2,
        pointRadius: data.objective.length > 60 ? 0 : 2 }] },
      options: { scales: { x: { type: "linear", title: { display: true, text: axis[objectiveBy] } } } },
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
    const last = data.staleness.length - 1;
    charts.push(new Chart(byId("staleness"), {
      type: "bar",
      data: { labels: data.staleness.map((_, i) => i === last && last >= 63 ? i + "+" : String(i)),
        datasets: [{ data: data.staleness.map((n) => n / sum), backgroundColor: css("compute") }] },
      options: { scales: { x: { title: { display: true, text: "clocks behind" } }, y: { ticks: { callback: percent } } },
        plugins: { tooltip: { callbacks: { label: (c) => `${count(data.staleness[c.dataIndex])} pulls, ${percent(c.raw)}` } } } },
    }));
  }

  function kinds() {
    const shown = data.kinds.slice().sort((a, b) => b[2] - a[2]).slice(0, 10);
    if (shown.length === 0) return instead("kinds", "Nothing was sent.");
    charts.push(new Chart(byId("kinds"), {
      type: "bar",
      data: { labels: shown.map((k) => k[0]), datasets: [{ data: shown.map((k) => k[2]), backgroundColor: css("transfer") }] },
      options: { indexAxis: "y", scales: { x: { ticks: { callback: bytes } } },
        plugins: { tooltip: { callbacks: { label: (c) => `${bytes(c.raw)} in ${count(shown[c.dataIndex][1])} messages` } } } },
    }));
  }

  function table(id, heads, rows, sentence) {
    if (rows.length === 0) return instead(id, sentence);
    const numeric = (i) => i >= heads.numbersFrom ? "n" : "";
    const head = element("tr");
    heads.names.forEach((h, i) => head.append(element("th", h, numeric(i))));
    byId(id).append(head);
    for (const row of rows) {
      const line = element("tr");
      row.forEach((cell, i) => line.append(element("td", cell, numeric(i))));
      byId(id).append(line);
    }
  }
  const trafficHeads = (first) => ({ names: [first, "messages", "bytes", "lost", "doubled"], numbersFrom: 1 });
  const trafficRow = (t) => [t[0], count(t[1]), bytes(t[2]), count(t[3]), count(t[4])];
  table("kind-table", trafficHeads("kind"), data.kinds.slice().sort((a, b) => b[2] - a[2]).map(trafficRow), "Nothing was sent.");
  table("link-table", trafficHeads("link"), data.links.map(trafficRow), "Nothing was sent.");
  table("event-table", { names: ["at", "node", "event"], numbersFrom: 9 },
    data.events.map((e) => [seconds(e[0]), e[1], e[2]])
      .concat(data.moreEvents > 0 ? [["", "", `and ${count(data.moreEvents)} more`]] : []),
    "Nothing befell the cluster.");

  function draw() {
    Chart.defaults.color = css("dim");
    Chart.defaults.borderColor = css("line");
    for (const chart of charts.splice(0)) chart.destroy();
    if (columns > 0 && nodes.length > 0) drawTimeline();
    for (const [id, paint] of [["roles", roles], ["objective", objective], ["staleness", staleness], ["kinds", kinds]])
      if (byId(id)) paint();
  }
  draw();
  window.addEventListener("resize", () => { if (columns > 0 && nodes.length > 0) drawTimeline(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
