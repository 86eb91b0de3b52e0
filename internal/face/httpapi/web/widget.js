// <knowledge-assistant>: asks questions and shows the answers as they come.
//
//   <script type="module" src="https://help.example.org/widget.js"></script>
//   <knowledge-assistant title="Ask the handbook"></knowledge-assistant>
//
// Attributes: endpoint, title, tool-name, session-id, include-sources ("false"
// leaves them out), placeholder, lang, theme ("light" or "dark"). It asks the
// endpoint and nothing else, keeps nothing in the browser, and its style is its
// own, which a strict Content-Security-Policy lets pass.

import { AnswerView, make, style, words } from './answer.js';

const labels = {
  en: { title: 'Questions', ask: 'Ask', stop: 'Stop', question: 'Your question', placeholder: 'Ask a question…', thinking: 'Looking…', you: 'You asked', unreachable: 'The server cannot be reached.' },
  es: { title: 'Preguntas', ask: 'Preguntar', stop: 'Parar', question: 'Tu pregunta', placeholder: 'Haz una pregunta…', thinking: 'Buscando…', you: 'Preguntaste', unreachable: 'No se puede llegar al servidor.' },
};

const light = '--ink: #1b1f24; --faint: #57606a; --paper: #fff; --soft: #f0f2f5; --edge: #8a939d; --link: #0a5bc4; --warn: #9a3412; --on: #fff;';
const dark = '--ink: #e6e9ee; --faint: #a9b2bd; --paper: #16191e; --soft: #252a32; --edge: #6b7683; --link: #7db7ff; --warn: #ffb38a; --on: #0b1420;';

const sheet = new CSSStyleSheet();
sheet.replaceSync(`
:host { ${light} display: block; color: var(--ink); background: var(--paper); border: 1px solid var(--edge); border-radius: 8px; font: 16px/1.5 system-ui, sans-serif; max-width: 100%; box-sizing: border-box; color-scheme: light }
@media (prefers-color-scheme: dark) { :host(:not([theme=light])) { ${dark} color-scheme: dark } }
:host([theme=dark]) { ${dark} color-scheme: dark }
:host([hidden]) { display: none }
* { box-sizing: border-box }
h2 { font-size: 1.05em; margin: 0; padding: .6em .8em; border-bottom: 1px solid var(--edge); overflow-wrap: anywhere }
.log { padding: .6em .8em; max-height: 30em; overflow-y: auto }
.log:empty { display: none }
.asked { margin: .6em 0 .3em; padding: .4em .6em; background: var(--soft); border-radius: 6px; overflow-wrap: anywhere; white-space: pre-wrap }
.out { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.state { color: var(--faint); padding: 0 .8em; min-height: 1.5em; margin: 0 }
form { display: flex; gap: .5em; padding: .6em .8em; flex-wrap: wrap }
textarea { flex: 1 1 12em; min-width: 0; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: 6px; padding: .4em .6em; resize: vertical; min-height: 2.6em }
textarea::placeholder { color: var(--faint); opacity: 1 }
form button, .foot > button { font: inherit; padding: .4em 1em; min-height: 2.6em; border: 1px solid var(--link); border-radius: 6px; background: var(--link); color: var(--on); cursor: pointer }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
${style}`);

// events yields the server-sent events of a reply.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    if (held.length > 4e6) throw new Error('the reply does not end');
    for (let end; (end = held.search(/\r?\n\r?\n/)) >= 0; ) {
      const event = { name: 'message', data: '' };
      for (const line of held.slice(0, end).split(/\r?\n/)) {
        if (line.startsWith('event:')) event.name = line.slice(6).trim();
        if (line.startsWith('data:')) event.data += line.slice(5).trimStart();
      }
      held = held.slice(end).replace(/^\r?\n\r?\n/, '');
      yield event;
    }
  }
}

export class KnowledgeAssistant extends HTMLElement {
  static observedAttributes = ['title', 'placeholder', 'lang'];

  #log; #field; #button; #state; #running = null;
  #session = ''; #key = '';

  connectedCallback() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    this.#log = make('div', { className: 'log', tabIndex: -1, role: 'log' });
    this.#state = make('p', { className: 'state', role: 'status' });
    this.#field = make('textarea', { rows: 1, maxLength: 2000, enterKeyHint: 'send' });
    this.#button = make('button', { type: 'submit' });
    const form = make('form', {}, this.#field, this.#button);
    form.addEventListener('submit', (e) => {
      e.preventDefault();
      if (this.#running) this.#running.abort();
      else this.ask(this.#field.value);
    });
    this.#field.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
        e.preventDefault();
        if (!this.#running) form.requestSubmit();
      }
      if (e.key === 'Escape' && this.#running) this.#running.abort();
    });
    root.append(make('h2', { id: 'title' }), this.#log, this.#state, form);
    this.#label();
  }

  disconnectedCallback() {
    this.#running?.abort();
  }

  attributeChangedCallback() {
    if (this.shadowRoot) this.#label();
  }

  get lang_() {
    return this.lang || this.closest('[lang]')?.lang || document.documentElement.lang || navigator.language;
  }

  get #words() {
    return words(this.lang_, labels);
  }

  get endpoint() {
    return new URL(this.getAttribute('endpoint') || new URL('/api/v1/mcp/tools/call', import.meta.url), document.baseURI).href;
  }

  #label() {
    const w = this.#words;
    const title = this.getAttribute('title') || w.title;
    this.shadowRoot.getElementById('title').textContent = title;
    this.#log.setAttribute('aria-label', title);
    this.#field.placeholder = this.getAttribute('placeholder') || w.placeholder;
    this.#field.setAttribute('aria-label', w.question);
    this.#button.textContent = this.#running ? w.stop : w.ask;
  }

  // ask asks a question; it ends when the answer is there.
  async ask(question) {
    question = String(question ?? '').trim();
    if (!question || this.#running) return;
    const w = this.#words;
    this.#field.value = '';
    const view = new AnswerView({
      lang: this.lang_, base: this.endpoint,
      rate: (rating, reply) => this.#rate(question, rating, reply),
      again: () => {
        view.element.remove();
        asked.remove();
        this.ask(question);
      },
    });
    const asked = make('p', { className: 'asked' }, make('span', { className: 'out', textContent: w.you + ': ' }), question);
    this.#log.append(asked, view.element);
    this.#running = new AbortController();
    this.#state.textContent = w.thinking;
    this.#label();
    try {
      await this.#hear(question, view);
    } catch (e) {
      if (this.#running.signal.aborted) {
        if (view.text) view.done({ result: view.text, sources: [] });
        else view.fail(w.stop);
      } else {
        view.fail(e instanceof TypeError ? w.unreachable : e.message);
      }
    }
    this.#running = null;
    this.#state.textContent = '';
    this.#label();
    view.element.scrollIntoView({ block: 'nearest' });
  }

  // hear sends a question and gives the view what comes.
  async #hear(question, view) {
    const all = this.getAttribute('include-sources') !== 'false';
    this.#session ||= this.getAttribute('session-id') || crypto.randomUUID?.() || String(Math.random()).slice(2);
    const reply = await fetch(this.endpoint, {
      method: 'POST', signal: this.#running.signal, credentials: 'omit', referrerPolicy: 'no-referrer',
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream, application/json' },
      body: JSON.stringify({
        tool_name: this.getAttribute('tool-name') || 'generate_rag_answer', arguments: { query: question, include_sources: all },
        session_id: this.#session, ...(this.#key && { session_key: this.#key }),
      }),
    });
    if (!(reply.headers.get('Content-Type') || '').startsWith('text/event-stream')) {
      const whole = await reply.json().catch(() => ({}));
      if (!reply.ok || whole.success === false) throw new Error(whole.error || whole.detail || `${reply.status}`);
      this.#keep(whole);
      view.done(whole);
      return;
    }
    for await (const event of events(reply.body)) {
      const data = JSON.parse(event.data || 'null');
      if (event.name === 'sentence') view.add(String(data.delta));
      if (event.name === 'error') throw new Error(data.error);
      if (event.name === 'done') {
        this.#keep(data);
        view.done(data);
        return;
      }
    }
    throw new TypeError('it ended early');
  }

  #keep(reply) {
    if (typeof reply.session_key === 'string') this.#key = reply.session_key;
    this.dispatchEvent(new CustomEvent('answer', { detail: reply, bubbles: true, composed: true }));
  }

  // rate sends a thumb.
  async #rate(query, rating, reply) {
    const to = this.endpoint.replace(/\/mcp\/tools\/call$/, '/feedback');
    const sent = await fetch(to, {
      method: 'POST', credentials: 'omit', referrerPolicy: 'no-referrer', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        query, response: reply.result, rating, confidence: reply.confidence ?? null, session_id: this.#session, ...(this.#key && { session_key: this.#key }),
      }),
    });
    if (!sent.ok) throw new Error(String(sent.status));
  }
}

if (!customElements.get('knowledge-assistant')) customElements.define('knowledge-assistant', KnowledgeAssistant);
