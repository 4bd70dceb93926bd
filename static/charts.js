/* Charts. plotly.js is loaded only when a chart comes near the screen. Figures name colours by role ($accent,
   $warn …); they are read from the page's tokens here, so a change of theme needs no new request. */
(() => {
  const source = document.getElementById('charts-js').dataset.plotly;
  const figures = new WeakMap();
  const ROLES = ['accent', 'text', 'muted', 'ok', 'warn', 'bad', 'info', 'policy', 'surface', 'line'];
  const CLEAR = 'rgba(0,0,0,0)', FONT = 'Inter var, system-ui, sans-serif';
  let library;

  const load = () => library ||= new Promise((done, fail) => {
    const script = document.createElement('script');
    script.src = source;
    script.onload = () => done(window.Plotly);
    script.onerror = () => { library = undefined; fail(new Error('plotly.js')); };
    document.head.append(script);
  });

  /* light-dark() in a custom property reads back as text: a probe's computed colour is the real one. */
  const probe = document.createElement('i');
  probe.hidden = true;
  document.body.append(probe);
  const token = name => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  const palette = () => {
    const colours = Object.fromEntries(ROLES.map(name => [`$${name}`, token(name)]));
    colours.$accentSoft = colours.$accent.replace(/^rgb\((.*)\)$/, 'rgba($1, .13)');
    return colours;
  };

  function axes(layout, colours, small) {
    for (const key of Object.keys(layout).filter(k => /^[xy]axis/.test(k))) {
      Object.assign(layout[key], {
        gridcolor: key[0] === 'x' ? CLEAR : colours.$line, linecolor: colours.$line, zerolinecolor: colours.$line,
        tickfont: { color: colours.$muted, size: 11 }, automargin: true, fixedrange: small,
      });
    }
  }
  function draw(box) {
    const colours = palette(), small = box.clientWidth < 560;
    const figure = JSON.parse(JSON.stringify(figures.get(box)), (_, v) => (typeof v === 'string' && colours[v]) || v);
    const { layout } = figure;
    axes(layout, colours, small);
    Object.assign(layout, {
      paper_bgcolor: CLEAR, plot_bgcolor: CLEAR, showlegend: false, hovermode: 'x unified', autosize: true, height: box.clientHeight,
      font: { family: FONT, size: 12, color: colours.$text }, dragmode: small ? false : 'zoom',
      margin: { l: 44, r: small ? 62 : 76, t: 26, b: 32 },
      hoverlabel: { bgcolor: colours.$surface, bordercolor: colours.$line, font: { color: colours.$text, family: FONT } },
    });
    return window.Plotly.react(box, figure.data, layout, { responsive: true, displayModeBar: false });
  }

  function failed(box) {
    delete box.dataset.on;
    box.setAttribute('role', 'group');  // a picture may hold no button
    box.replaceChildren(document.getElementById('chart-failed').content.cloneNode(true));
    const table = box.closest('section')?.querySelector('details[data-table]');
    if (table) table.open = true;
  }
  async function start(box) {
    if (box.dataset.on) return;
    box.dataset.on = '1';
    box.setAttribute('role', 'img');
    try {
      const [answer] = await Promise.all([fetch(box.dataset.chart, { headers: { Accept: 'application/json' } }), load()]);
      if (!answer.ok) throw new Error(String(answer.status));
      figures.set(box, await answer.json());
      box.replaceChildren();
      await draw(box);
      box.dataset.ready = '1';
    } catch { failed(box); }
  }
  const near = new IntersectionObserver(entries => {
    for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); start(entry.target); }
  }, { rootMargin: '200px' });
  const scan = () => document.querySelectorAll('[data-chart]:not([data-on])').forEach(box => near.observe(box));

  document.addEventListener('click', e => { if (e.target.closest('[data-chart-again]')) start(e.target.closest('[data-chart]')); });
  document.addEventListener('htmx:beforeSwap', e => {
    const drawn = e.detail.target?.querySelector?.('[data-chart][data-ready]');
    if (drawn && e.detail.shouldSwap) window.Plotly.purge(drawn);
  });
  document.addEventListener('htmx:afterSwap', scan);
  document.addEventListener('themechange', () => requestAnimationFrame(() => document.querySelectorAll('[data-chart][data-ready]').forEach(draw)));
  scan();
})();
