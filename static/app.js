/* memgov, part 1 of 3: the shell. Navigation, theme, toasts, dialogs, times, copying.
   Everything is an addition: each link and form works without it. No text lives here; see the <template>s. */
(() => {
  const root = document.documentElement;
  const $ = (s, e = document) => e.querySelector(s);
  const $$ = (s, e = document) => [...e.querySelectorAll(s)];
  const narrow = matchMedia('(max-width: 900px)');
  root.classList.remove('no-js');

  const fold = () => { const box = $('.navbox'); if (box) box.open = !narrow.matches; };
  narrow.addEventListener('change', fold);

  /* Theme: the server reads the cookie, so the next page does not flash. */
  const themed = () => document.dispatchEvent(new Event('themechange'));
  document.addEventListener('submit', e => {
    const pressed = e.submitter;
    if (!e.target.matches('[data-theme-form]') || pressed?.name !== 'theme') return;
    e.preventDefault();
    const secure = location.protocol === 'https:' ? ';secure' : '';
    document.cookie = `theme=${pressed.value};path=/;max-age=31536000;samesite=lax${secure}`;
    root.dataset.theme = pressed.value;
    $$('[data-theme-form] button[name=theme]').forEach(b => b.setAttribute('aria-pressed', b.value === pressed.value));
    themed();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', themed);

  /* Toasts stay for 12 s and wait while hovered or focused. Three at most. */
  function arm(toast) {
    if (toast.dataset.armed) return;
    toast.dataset.armed = '1';
    let left = 12000, since, timer;
    const go = () => { clearTimeout(timer); since = Date.now(); timer = setTimeout(() => toast.remove(), left); };
    const stop = () => { clearTimeout(timer); left = Math.max(left - (Date.now() - since), 3000); };
    for (const name of ['pointerenter', 'focusin']) toast.addEventListener(name, stop);
    for (const name of ['pointerleave', 'focusout']) toast.addEventListener(name, go);
    go();
  }
  function toasts() {
    const all = $$('#toasts > [data-toast]');
    all.slice(0, -3).forEach(t => t.remove());
    all.slice(-3).forEach(arm);
  }
  /* say('offline') shows the toast that the server rendered into <template id="say-offline">. */
  function say(what) {
    const from = $(`#say-${what}`) || $('#say-failed');
    if (!from) return;
    $('#toasts').append(from.content.cloneNode(true));
    toasts();
  }

  /* Times: the viewer's own zone, in the order and with the months of the server, since browsers differ about "Sep";
     the full instant, local and UTC, on hover. */
  const locale = root.lang === 'en' ? 'en-GB' : root.lang;
  const timeZone = root.dataset.zone; /* of the account; else the browser's */
  const months = root.dataset.months.split('|');
  const numbers = new Intl.DateTimeFormat('en', { year: 'numeric', month: 'numeric', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone });
  function short(moment) {
    const at = Object.fromEntries(numbers.formatToParts(moment).map(part => [part.type, part.value]));
    const letters = { j: at.day, M: months[at.month - 1], N: months[at.month - 1], Y: at.year, H: at.hour, i: at.minute };
    return root.dataset.when.replace(/[jMNYHi]/g, letter => letters[letter]);
  }
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long', timeZone });
  function localise(time) {
    const moment = new Date(time.dateTime);
    if (time.dataset.done || Number.isNaN(+moment)) return;
    time.dataset.done = '1';
    time.title = `${full.format(moment)} · ${time.title}`;
    if ('local' in time.dataset) time.textContent = short(moment);
  }

  /* Rows picked for a bulk decision. */
  let anchor = null;
  function counted() {
    const label = $('#bulk-n');
    if (label) label.textContent = label.dataset.text.replace('%n', $$('.pick :checked').length);
  }
  function range(box, withShift) {
    const all = $$('.pick input'), at = all.indexOf(box);
    if (withShift && anchor !== null) {
      const [from, to] = [anchor, at].sort((x, y) => x - y);
      all.slice(from, to + 1).forEach(x => { x.checked = box.checked; });
    }
    anchor = at;
  }

  async function copy(button) {
    const text = $(`#${button.dataset.copy}`).textContent.trim();
    try { await navigator.clipboard.writeText(text); } catch { getSelection().selectAllChildren($(`#${button.dataset.copy}`)); return; }
    say('copied');
  }

  document.addEventListener('click', e => {
    const at = s => e.target.closest(s);
    if (at('[aria-disabled=true]')) { e.preventDefault(); e.stopImmediatePropagation(); return; }
    at('[data-dismiss]')?.closest('[data-toast]').remove();
    const opener = at('[data-open]');
    if (opener) $(`#${opener.dataset.open}`).showModal();
    const closer = at('dialog [data-close]');
    if (closer) { e.preventDefault(); closer.closest('dialog').close(); }
    if (at('[data-copy]')) copy(at('[data-copy]'));
    if (at('.pick input')) range(at('.pick input'), e.shiftKey);
    $$('details.account[open]').forEach(d => { if (!d.contains(e.target)) d.open = false; });
  }, true);
  document.addEventListener('change', e => {
    if (e.target.closest('.pick')) counted();
    if (e.target.matches('[data-autosubmit]')) e.target.form.requestSubmit();
  });
  document.addEventListener('reset', () => setTimeout(counted));

  function setup(part) {
    $$('time', part).forEach(localise);
    if (part.matches('time')) localise(part);
    toasts();
  }
  document.addEventListener('htmx:load', e => { setup(e.detail.elt); if (e.detail.elt === document.body) fold(); });
  window.memgov = { $, $$, narrow, say, counted, toasts };
  fold();
  setup(document.body);
})();
