/* memgov, part 2 of 3: partial pages with htmx. What is on screen while a request runs and after it failed. */
(() => {
  const { $, $$, narrow, say, counted } = window.memgov;
  const on = (name, run) => document.addEventListener(`htmx:${name}`, run);

  /* The cookie's CSRF token is fresher than the form's after a sign-in in another tab. */
  on('configRequest', e => {
    const found = document.cookie.match(/(?:^|; )(?:__Host-|__Secure-)?csrftoken=([^;]+)/);
    if (!found || e.detail.verb === 'get') return;
    e.detail.headers['X-CSRFToken'] = found[1];
    delete e.detail.parameters.csrfmiddlewaretoken;
  });

  /* A decision dims its row at once; the row comes back when the server says no. */
  function waiting(form, yes) {
    $(`#${form.dataset.optimistic}`)?.toggleAttribute('data-busy', yes);
    for (const button of $$('button', form)) {
      if (yes && button.getAttribute('aria-disabled') !== 'true') { button.dataset.held = ''; button.setAttribute('aria-disabled', 'true'); }
      else if (!yes && 'held' in button.dataset) { delete button.dataset.held; button.removeAttribute('aria-disabled'); }
    }
  }
  on('beforeRequest', e => { const form = e.detail.elt.closest('[data-optimistic]'); if (form) waiting(form, true); });
  on('afterRequest', e => {
    /* requestConfig.elt: detail.elt is an ancestor once the form itself was swapped out */
    const form = e.detail.requestConfig?.elt?.closest('[data-optimistic]');
    const { status = 0 } = e.detail.xhr ?? {}; /* 409 and 422 count as successful for htmx; 0 is no answer */
    if (form && (status < 200 || status >= 300)) waiting(form, false);
    /* A decision is taken back once: its toast goes with it. */
    const undo = e.detail.requestConfig?.elt?.closest('[data-toast] form');
    if (undo && ((status >= 200 && status < 300) || status === 409)) undo.closest('[data-toast]').remove();
  });

  on('sendError', () => say('offline'));
  on('timeout', () => say('offline'));
  on('responseError', e => {
    const { status } = e.detail.xhr;
    if (status === 403) say(e.detail.xhr.getResponseHeader('X-Session-Ended') ? 'session' : 'denied');
    else if (status === 404) say('missing');
    else say('failed');
  });
  /* A redirect to the sign-in page must not land inside a panel. */
  on('beforeSwap', e => {
    const { login } = document.body.dataset, answered = e.detail.xhr?.responseURL;
    if (login && answered && new URL(answered).pathname.startsWith(login)) { e.detail.shouldSwap = false; say('session'); }
  });

  function mark(id) {
    for (const row of $$('.row-item')) {
      const chosen = row.id === `row-${id}`, link = $('.card', row);
      row.toggleAttribute('data-on', chosen);
      if (chosen) row.removeAttribute('data-busy'); /* it is still there: only a question was asked */
      if (chosen) { link.setAttribute('aria-current', 'true'); row.scrollIntoView({ block: 'nearest' }); }
      else link.removeAttribute('aria-current');
    }
  }
  function shown(panel) {
    const item = $('.fact', panel);
    mark(item?.dataset.id);
    document.body.classList.toggle('has-sel', Boolean(item));
    if (item?.dataset.title) document.title = item.dataset.title;
    panel.scrollTop = 0;
    if (narrow.matches) scrollTo(0, 0);
    const goal = $('[aria-invalid=true]', panel) || $('[role=alert] h2', panel) || $('.value', panel) || $('h2', panel);
    goal?.focus({ preventScroll: true });
    counted();
  }
  on('afterSwap', e => {
    const { target, requestConfig } = e.detail; /* a history restore has no target */
    if (!target) return;
    if (target.id === 'dlg-body' && !$('#dlg').open) $('#dlg').showModal();
    if (target.id === 'detail') shown(target);
    if (target.id === 'focus') {
      for (const tile of $$('[data-tile]')) {
        if (tile === requestConfig?.elt) tile.setAttribute('aria-current', 'true');
        else tile.removeAttribute('aria-current');
      }
    }
  });
  document.addEventListener('closeDialog', () => $('#dlg').close());
})();
