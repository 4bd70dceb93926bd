/* memgov, part 3 of 3: keyboard shortcuts. Ignored in fields, with modifiers, while composing and in dialogs;
   a viewer can switch them off (WCAG 2.1.4). Buttons name their key in data-key, links of the menu in data-go. */
(() => {
  const { $, $$, counted } = window.memgov;
  const STORE = 'memgov-keys', LEADER_MS = 1200;
  let leader = 0;

  const enabled = () => document.documentElement.dataset.keys !== 'off' && localStorage.getItem(STORE) !== 'off';
  const paint = () => { const box = $('#keys-on'); if (box) box.checked = enabled(); };
  document.addEventListener('change', e => { if (e.target.id === 'keys-on') localStorage.setItem(STORE, e.target.checked ? 'on' : 'off'); });
  document.addEventListener('htmx:load', paint);
  paint();

  /* click, not requestSubmit: htmx 2 takes the button's name and value from the click */
  const press = button => { if (button && button.getAttribute('aria-disabled') !== 'true') button.click(); };

  function inField(e) {
    const form = e.target.closest('form.decide');
    if (e.key === 'Escape') e.target.blur();
    if (e.key !== 'Enter' || !form) return;
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      press($(`button[value="${form.dataset.intent || form.dataset.main}"]`, form));
    } else if (e.target.name === 'reason') e.preventDefault(); /* Enter alone must not pick the first button */
  }

  function decide(e, button) {
    const form = button.closest('form.decide'), reason = form && $('[name=reason]', form);
    if (button.getAttribute('aria-disabled') === 'true') return;
    if (!reason || !('reason' in button.dataset || ('needReason' in form.dataset && !reason.value))) { press(button); return; }
    e.preventDefault();
    form.dataset.intent = button.value;
    reason.focus();
  }

  function step(by) {
    const rows = $$('.row-item'), links = $$('[data-item]');
    if (rows.length) {
      const now = rows.findIndex(r => r.hasAttribute('data-on'));
      const next = rows[Math.min(Math.max(now + by, 0), rows.length - 1)];
      if (next !== rows[now]) $('.card', next).click();
    } else if (links.length) {
      const now = links.indexOf(document.activeElement);
      links[Math.min(Math.max(now + by, 0), links.length - 1)].focus();
    }
  }
  function pick() {
    const box = $('.row-item[data-on] .pick input');
    if (box) { box.checked = !box.checked; counted(); }
  }

  const ACTIONS = {
    j: () => step(1),
    k: () => step(-1),
    x: pick,
    u: () => press($$('[data-undo]').at(-1)),
    '/': e => { const field = $('#q'); if (field) { e.preventDefault(); field.focus(); } },
    g: () => { leader = Date.now(); },
    '?': () => $('#keys')?.showModal(),
  };
  document.addEventListener('keydown', e => {
    if (e.isComposing) return;
    if (e.target.matches('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]')) { inField(e); return; }
    if (e.ctrlKey || e.metaKey || e.altKey || $('dialog[open]')) return;
    if (!enabled() && e.key !== '?') return;
    if (Date.now() - leader < LEADER_MS) { leader = 0; $(`[data-go="${CSS.escape(e.key)}"]`)?.click(); return; }
    const button = $(`[data-key="${CSS.escape(e.key)}"]`);
    if (button) decide(e, button);
    else ACTIONS[e.key]?.(e);
  });
})();
