// The view of one answer: its sentences as they come, its sources, and two
// thumbs. Whatever the text holds goes into the page as text: nothing here
// makes HTML of a string.

const labels = {
  en: {
    sources: 'Sources', source: 'Source', open: 'Open', good: 'Good answer', bad: 'Bad answer', thanks: 'Thank you.',
    failed: 'The answer could not be had.', again: 'Try again', sure: 'Certain', unsure: 'Not certain: look at the sources.',
    lost: 'Your rating could not be sent.',
  },
  es: {
    sources: 'Fuentes', source: 'Fuente', open: 'Abrir', good: 'Buena respuesta', bad: 'Mala respuesta', thanks: 'Gracias.',
    failed: 'No se pudo obtener la respuesta.', again: 'Reintentar', sure: 'Segura', unsure: 'No es segura: mira las fuentes.',
    lost: 'No se pudo enviar tu valoración.',
  },
};

// words returns the labels of a language tag, English for one that has none.
export function words(lang, table = labels) {
  return table[String(lang || 'en').slice(0, 2).toLowerCase()] || table.en;
}

// make makes an element; properties are set as properties, and what is given
// as text becomes text.
export function make(name, properties = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(properties)) {
    if (k.includes('-') || k === 'role') e.setAttribute(k, v);
    else e[k] = v;
  }
  e.append(...children);
  return e;
}

const named = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

// characters turns the entities that keep a reply inert into what they mean.
export function characters(text) {
  return String(text ?? '').replace(/&(?:#(\d{1,7})|(amp|lt|gt|quot|apos));/g, (all, n, name) => {
    if (name) return named[name];
    return n > 31 && n < 0x110000 && !(n >= 0xd800 && n < 0xe000) ? String.fromCodePoint(n) : all;
  });
}

// address returns a link's address if a page may lead there, else ''.
export function address(url, base) {
  try {
    const u = new URL(url, base);
    return u.protocol === 'https:' || u.protocol === 'http:' ? u.href : '';
  } catch {
    return '';
  }
}

// at makes an address open at the first of the cited lines, where the browser
// can look for a text.
function at(url, snippet) {
  const line = snippet.split('\n').map((l) => l.trim()).find((l) => l.length > 8);
  if (!url || !line || url.includes(':~:')) return url;
  const part = encodeURIComponent(line.slice(0, 80).replace(/\s+\S*$/, '') || line.slice(0, 80)).replace(/-/g, '%2D');
  return url + (url.includes('#') ? '' : '#') + ':~:text=' + part;
}

export class AnswerView {
  // options: lang; base, which addresses of sources are relative to; rate, a
  // function that sends 'positive' or 'negative'; again, which asks once more.
  constructor(options = {}) {
    this.options = options;
    this.words = words(options.lang);
    this.text = '';
    this.sources = [];
    this.body = make('div', { className: 'body' });
    this.foot = make('div', { className: 'foot' });
    this.element = make('article', { className: 'answer', 'aria-busy': 'true' }, this.body, this.foot);
  }

  // add takes the next piece of text.
  add(delta) {
    this.text += delta;
    this.#show();
  }

  // done takes the whole reply.
  done(reply) {
    this.reply = reply;
    if (typeof reply.result === 'string' && reply.result) this.text = reply.result;
    this.sources = Array.isArray(reply.sources) ? reply.sources : [];
    this.element.setAttribute('aria-busy', 'false');
    this.#show();
    this.#end();
  }

  // fail says why there is no answer.
  fail(why) {
    this.element.setAttribute('aria-busy', 'false');
    this.element.classList.add('failed');
    const p = make('p', { textContent: characters(why) || this.words.failed, role: 'alert' });
    this.foot.replaceChildren(p);
    if (this.options.again) {
      this.foot.append(make('button', { type: 'button', textContent: this.words.again, onclick: () => this.options.again() }));
    }
  }

  #show() {
    const out = [];
    let list = null;
    let code = null;
    for (const block of this.text.split(/\n{2,}/)) {
      let p = null;
      for (const line of block.split('\n')) {
        if (line.trim().startsWith('```')) {
          code = code ? null : make('code');
          if (code) out.push(make('pre', { tabIndex: 0 }, code));
          p = list = null;
          continue;
        }
        if (code) {
          code.append(characters(line) + '\n');
          continue;
        }
        const item = /^(?:[-*]|\d+[.)]) +(.*)$/.exec(line);
        if (item) {
          if (!list) out.push((list = make('ul')));
          list.append(this.#inline(make('li'), item[1]));
          p = null;
          continue;
        }
        if (!line.trim()) continue;
        list = null;
        if (!p) out.push((p = make('p')));
        else p.append(' ');
        this.#inline(p, line);
      }
    }
    this.body.replaceChildren(...out);
  }

  // inline adds a line: code between backticks, numbers of sources, text.
  #inline(to, line) {
    for (const piece of line.split(/(`[^`]+`|\[\d{1,2}\])/)) {
      const cited = /^\[(\d+)\]$/.exec(piece);
      if (cited) {
        const n = Number(cited[1]);
        to.append(make('button', {
          type: 'button', className: 'cite', textContent: cited[1], 'aria-label': `${this.words.source} ${n}`, onclick: () => this.#open(n),
        }));
      } else if (/^`[^`]+`$/.test(piece)) {
        to.append(make('code', { textContent: characters(piece.slice(1, -1)) }));
      } else {
        to.append(characters(piece));
      }
    }
    return to;
  }

  // open shows a source with its lines.
  #open(n) {
    const d = this.foot.querySelectorAll('details.source')[n - 1];
    if (!d) return;
    d.open = true;
    d.querySelector('summary').focus();
    d.scrollIntoView({ block: 'nearest' });
  }

  #end() {
    const w = this.words;
    const foot = [];
    if (this.sources.length > 0) {
      const list = make('ol', { 'aria-label': w.sources });
      for (const s of this.sources) {
        const snippet = characters(s.snippet);
        const title = characters(s.title || s.name || s.url || '');
        const d = make('details', { className: 'source' }, make('summary', { textContent: title }));
        if (snippet) d.append(make('pre', { tabIndex: 0, textContent: snippet }));
        const url = at(address(s.url, this.options.base), snippet);
        if (url) {
          d.append(make('a', {
            href: url, target: '_blank', rel: 'noopener noreferrer', referrerPolicy: 'no-referrer', textContent: w.open, 'aria-label': `${w.open}: ${title}`,
          }));
        }
        list.append(make('li', {}, d));
      }
      foot.push(make('p', { className: 'label', textContent: w.sources }), list);
    }
    if (typeof this.reply.confidence === 'number' && this.sources.length > 0 && this.reply.confidence < 0.5) {
      foot.push(make('p', { className: 'unsure', textContent: w.unsure }));
    }
    if (this.options.rate) foot.push(this.#thumbs());
    this.foot.replaceChildren(...foot);
  }

  #thumbs() {
    const said = make('span', { role: 'status' });
    const box = make('div', { className: 'thumbs' });
    const all = [['positive', this.words.good], ['negative', this.words.bad]].map(([rating, label]) => {
      const b = make('button', { type: 'button', 'aria-label': label, title: label, 'aria-pressed': 'false' }, thumb(rating === 'positive'));
      b.onclick = async () => {
        if (all.some((o) => o.disabled)) return;
        for (const o of all) o.disabled = true;
        try {
          await this.options.rate(rating, this.reply);
          b.setAttribute('aria-pressed', 'true');
          said.textContent = this.words.thanks;
        } catch {
          for (const o of all) o.disabled = false;
          said.textContent = this.words.lost;
        }
      };
      return b;
    });
    box.append(...all, said);
    return box;
  }
}

// thumb draws a thumb, since not every system has letters for one.
function thumb(up) {
  const [svg, path] = ['svg', 'path'].map((name) => document.createElementNS('http://www.w3.org/2000/svg', name));
  for (const [k, v] of Object.entries({ viewBox: '0 0 24 24', width: '18', height: '18', 'aria-hidden': 'true', fill: 'currentColor' })) svg.setAttribute(k, v);
  path.setAttribute('d', 'M2 10h4v11H2zM8 21h9c1 0 1.9-.6 2.2-1.6l2.2-7C21.900 11 21 10 19.800 10H14.500l.8-4c.3-1.400-.6-3-2-3L8 10z');
  if (!up) path.setAttribute('transform', 'rotate(180 12 12)');
  svg.append(path);
  return svg;
}

// style is what the view looks like: colours are the variables of widget.js, or
// of the page that shows it.
export const style = `
.answer p, .answer ul, .answer ol { margin: 0 0 .5em; padding: 0; overflow-wrap: anywhere }
.answer ul, .answer ol { padding-left: 1.4em }
.answer pre { margin: .3em 0 .6em; padding: .5em; overflow-x: auto; max-height: 16em; background: var(--soft); border-radius: 4px; white-space: pre-wrap; overflow-wrap: anywhere }
.answer code { font-family: ui-monospace, monospace; font-size: .92em; background: var(--soft); padding: 0 .2em; border-radius: 3px }
.answer pre code { padding: 0 }
.answer .cite { font: inherit; font-size: .8em; min-width: 24px; min-height: 24px; padding: 0 .3em; margin: 0 .1em; color: var(--link); background: none; border: 1px solid var(--edge); border-radius: 4px; cursor: pointer; vertical-align: text-top }
.answer .foot { font-size: .9em }
.answer .label { color: var(--faint) }
.answer summary { cursor: pointer; overflow-wrap: anywhere; min-height: 24px }
.answer a { color: var(--link); display: inline-block; min-height: 24px }
.answer .unsure, .answer.failed p { color: var(--warn) }
.answer .thumbs button { min-width: 36px; min-height: 32px; margin-right: .4em; background: none; border: 1px solid var(--edge); border-radius: 6px; cursor: pointer; font: inherit; color: inherit }
.answer .thumbs button[aria-pressed=true] { border-color: var(--link); outline: 1px solid var(--link) }
.answer .thumbs svg { display: block; margin: auto }
.answer .thumbs button:disabled { cursor: default }
`;
