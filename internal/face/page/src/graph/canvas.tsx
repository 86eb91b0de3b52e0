// A graph on a canvas: drawn while it is laid out, moved and zoomed by mouse,
// touch and keys. Whoever cannot see it has the list beside it.

import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../theme';
import { Layout } from './layout';

export interface Drawn {
  nodes: { label: string; kind: string; faded?: boolean }[];
  edges: { from: number; to: number; wrong?: boolean }[];
}

interface Props {
  graph: Drawn;
  label: string;
  chosen: number;
  choose: (node: number) => void;
  // handle gets what does what a key does.
  handle?: (press: (key: string) => boolean) => void;
}

const slice = 8; // ms of work before the browser has its turn

export function Canvas({ graph, label, chosen, choose, handle }: Props) {
  const box = useRef<HTMLCanvasElement>(null);
  const show = useRef<() => void>(() => {});
  const meet = useRef<(node: number) => void>(() => {});
  const now = useRef({ chosen, choose });
  now.current = { chosen, choose };
  useEffect(() => {
    const view = new View(box.current!, graph, now);
    show.current = () => view.ask();
    meet.current = (node) => view.meet(node);
    handle?.((key) => view.press(key));
    return () => view.end();
  }, [graph]);
  useEffect(() => show.current(), [theme.value]);
  useEffect(() => meet.current(chosen), [chosen]);
  return <canvas ref={box} class="drawn" role="img" aria-label={label} tabIndex={0} />;
}

class View {
  private scale = 1;
  private x = 0;
  private y = 0;
  private own = false; // a person has moved or zoomed it
  private frame = 0;
  private drawn = false;
  private over = -1;
  private readonly layout: Layout;
  private readonly stop = new AbortController();
  private readonly sized: ResizeObserver;
  private readonly next: number[][];
  private readonly order: number[]; // those with most relations first
  private readonly hue: Map<string, string>;

  constructor(private readonly box: HTMLCanvasElement, private readonly graph: Drawn, private readonly now: { current: Pick<Props, 'chosen' | 'choose'> }) {
    this.layout = new Layout(graph.nodes.length, graph.edges);
    this.next = graph.nodes.map(() => []);
    for (const e of graph.edges) {
      this.next[e.from].push(e.to);
      this.next[e.to].push(e.from);
    }
    this.order = graph.nodes.map((_, i) => i).sort((a, b) => this.next[b].length - this.next[a].length);
    this.hue = hues(graph);
    this.listen();
    this.sized = new ResizeObserver(() => this.ask());
    this.sized.observe(box);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.ask(), { signal: this.stop.signal });
    this.ask();
  }

  end() {
    this.stop.abort();
    this.sized.disconnect();
    cancelAnimationFrame(this.frame);
  }

  // ask has it drawn at the next frame.
  ask() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.layout.work(performance.now() + slice);
      if (!this.own) this.fit();
      this.draw();
      this.box.dataset.state = this.layout.done ? 'done' : 'moving';
      if (!this.layout.done) this.ask();
    });
  }

  // meet moves the picture so that a node is seen.
  meet(node: number) {
    if (node >= 0 && this.drawn) { // before it was drawn, all of it will be seen
      const [x, y] = this.place(node), { clientWidth: w, clientHeight: h } = this.box;
      if (x < 20 || y < 20 || x > w - 80 || y > h - 20) {
        this.x += w / 2 - x;
        this.y += h / 2 - y;
        this.own = true;
      }
    }
    this.ask();
  }

  private fit() {
    const { clientWidth: w, clientHeight: h } = this.box;
    let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
    for (const b of this.layout.bodies) {
      left = Math.min(left, b.x), right = Math.max(right, b.x), top = Math.min(top, b.y), bottom = Math.max(bottom, b.y);
    }
    this.scale = Math.min(2.4, (w - 160) / Math.max(right - left, 1), (h - 50) / Math.max(bottom - top, 1));
    this.x = w / 2 - ((left + right) / 2) * this.scale;
    this.y = h / 2 - ((top + bottom) / 2) * this.scale;
  }

  private draw() {
    this.drawn = true;
    this.box.dataset.scale = this.scale.toFixed(3);
    const { clientWidth: w, clientHeight: h } = this.box, dpr = devicePixelRatio || 1;
    if (this.box.width !== Math.round(w * dpr) || this.box.height !== Math.round(h * dpr)) {
      this.box.width = Math.round(w * dpr);
      this.box.height = Math.round(h * dpr);
    }
    const style = getComputedStyle(this.box);
    const colour = (name: string) => style.getPropertyValue(name);
    const c = this.box.getContext('2d')!;
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.clearRect(0, 0, w, h);
    const focus = this.over >= 0 ? this.over : this.now.current.chosen;
    const near = new Set(focus >= 0 ? [focus, ...this.next[focus]] : []);
    this.lines(c, focus, colour);
    const faint = colour('--g-faint'), ink = colour('--g-ink'), paper = colour('--g-paper');
    const paints = [...this.hue.values()].map((h) => [h, colour('--g-' + h)] as const);
    // One path for all nodes that look alike.
    const dots = new Map<string, number[]>();
    this.graph.nodes.forEach((n, i) => {
      const [x, y] = this.place(i), r = this.radius(i);
      if (x < -r || y < -r || x > w + r || y > h + r) return;
      const alpha = near.size && !near.has(i) ? 0.25 : n.faded ? 0.55 : 1, key = alpha + this.hue.get(n.kind)!;
      const list = dots.get(key);
      if (list) list.push(i);
      else dots.set(key, [i]);
    });
    for (const [h, paint] of new Map(paints)) {
      for (const alpha of [0.25, 0.55, 1]) {
        const list = dots.get(alpha + h);
        if (!list) continue;
        c.globalAlpha = alpha;
        c.fillStyle = paint;
        c.beginPath();
        for (const i of list) {
          const [x, y] = this.place(i), r = this.radius(i);
          c.moveTo(x + r, y);
          c.arc(x, y, r, 0, 7);
        }
        c.fill();
      }
    }
    const marked = this.now.current.chosen;
    if (marked >= 0) {
      const [x, y] = this.place(marked);
      c.globalAlpha = 1;
      c.lineWidth = 2;
      c.strokeStyle = ink;
      c.beginPath();
      c.arc(x, y, this.radius(marked) + 1, 0, 7);
      c.stroke();
    }
    c.globalAlpha = 1;
    c.font = '12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    c.lineWidth = 3;
    c.strokeStyle = paper;
    const busy: [number, number, number, number][] = []; // where labels stand
    let left = this.layout.done ? 160 : 40;
    for (const i of near.size ? near : this.order) {
      if (left <= 0) break;
      const [x, y] = this.place(i), text = short(this.graph.nodes[i].label), wide = this.width(c, text), r = this.radius(i) + 3;
      const at = x + r + wide > w && x - r - wide > 0 ? x - r - wide : x + r; // beside the node, where there is room
      if (x < 0 || y < 0 || x > w || y > h) continue;
      const area: [number, number, number, number] = [at, y - 8, at + wide, y + 8];
      if (busy.some((b) => b[0] < area[2] && area[0] < b[2] && b[1] < area[3] && area[1] < b[3])) continue;
      busy.push(area);
      left--;
      c.strokeText(text, at, y);
      c.fillStyle = i === focus ? ink : faint;
      c.fillText(text, at, y);
    }
  }

  private readonly widths = new Map<string, number>();

  // width is how wide a label is, measured once.
  private width(c: CanvasRenderingContext2D, text: string): number {
    let w = this.widths.get(text);
    if (w === undefined) this.widths.set(text, (w = c.measureText(text).width));
    return w;
  }

  private lines(c: CanvasRenderingContext2D, focus: number, colour: (name: string) => string) {
    const stroke = (style: string, width: number, alpha: number, keep: (e: Drawn['edges'][number]) => boolean, arrows = false) => {
      c.strokeStyle = style;
      c.lineWidth = width;
      c.globalAlpha = alpha;
      c.beginPath();
      for (const e of this.graph.edges) {
        if (!keep(e)) continue;
        const [ax, ay] = this.place(e.from), [bx, by] = this.place(e.to);
        c.moveTo(ax, ay);
        c.lineTo(bx, by);
        if (arrows) this.head(c, ax, ay, bx, by, this.radius(e.to));
      }
      c.stroke();
    };
    const at = (e: Drawn['edges'][number]) => e.from === focus || e.to === focus;
    const few = this.graph.edges.length < 300;
    stroke(colour('--g-edge'), 1, focus >= 0 ? 0.25 : 0.7, (e) => !at(e) && !e.wrong, few);
    stroke(colour('--g-warn'), 1.5, focus >= 0 ? 0.4 : 1, (e) => !at(e) && Boolean(e.wrong), few);
    stroke(colour('--g-link'), 1.5, 1, (e) => at(e), true);
    c.globalAlpha = 1;
  }

  // head draws the two strokes of an arrow's head before a node.
  private head(c: CanvasRenderingContext2D, ax: number, ay: number, bx: number, by: number, r: number) {
    const turn = Math.atan2(by - ay, bx - ax), x = bx - Math.cos(turn) * r, y = by - Math.sin(turn) * r;
    for (const side of [0.45, -0.45]) {
      c.moveTo(x, y);
      c.lineTo(x - 7 * Math.cos(turn + side), y - 7 * Math.sin(turn + side));
    }
  }

  private place(i: number): [number, number] {
    const b = this.layout.bodies[i];
    return [b.x * this.scale + this.x, b.y * this.scale + this.y];
  }

  private radius(i: number) {
    return Math.max(2, this.layout.bodies[i].size * Math.min(1.2, Math.sqrt(this.scale)));
  }

  // under is the node at a point, -1 for none.
  private under(px: number, py: number) {
    let best = -1, least = 144;
    this.graph.nodes.forEach((_, i) => {
      const [x, y] = this.place(i), d = (x - px) ** 2 + (y - py) ** 2;
      if (d < least) [best, least] = [i, d];
    });
    return best;
  }

  private zoom(by: number, px: number, py: number) {
    const to = Math.min(8, Math.max(0.05, this.scale * by));
    this.x = px - ((px - this.x) * to) / this.scale;
    this.y = py - ((py - this.y) * to) / this.scale;
    this.scale = to;
    this.own = true;
    this.ask();
  }

  private listen() {
    const { signal } = this.stop, box = this.box;
    const held = new Map<number, [number, number]>();
    let moved = false;
    box.addEventListener('pointerdown', (e) => {
      held.set(e.pointerId, [e.offsetX, e.offsetY]);
      box.setPointerCapture(e.pointerId);
      moved = false;
    }, { signal });
    box.addEventListener('pointermove', (e) => {
      const was = held.get(e.pointerId);
      if (!was) {
        const over = this.under(e.offsetX, e.offsetY);
        box.style.cursor = over >= 0 ? 'pointer' : 'grab';
        if (over !== this.over) {
          this.over = over;
          this.ask();
        }
        return;
      }
      const [dx, dy] = [e.offsetX - was[0], e.offsetY - was[1]];
      if (!moved && Math.hypot(dx, dy) < 4) return;
      const other = [...held].find(([id]) => id !== e.pointerId)?.[1];
      moved = true;
      if (other) {
        const before = Math.hypot(was[0] - other[0], was[1] - other[1]), after = Math.hypot(e.offsetX - other[0], e.offsetY - other[1]);
        if (before > 8) this.zoom(after / before, other[0], other[1]);
      } else {
        this.x += dx;
        this.y += dy;
        this.own = true;
        this.ask();
      }
      held.set(e.pointerId, [e.offsetX, e.offsetY]);
    }, { signal });
    const up = (e: PointerEvent) => {
      const was = held.delete(e.pointerId);
      if (was && !moved && e.type === 'pointerup') this.now.current.choose(this.under(e.offsetX, e.offsetY));
    };
    box.addEventListener('pointerup', up, { signal });
    box.addEventListener('pointercancel', up, { signal });
    box.addEventListener('pointerleave', () => {
      if (this.over >= 0) {
        this.over = -1;
        this.ask();
      }
    }, { signal });
    box.addEventListener('wheel', (e) => {
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY * 0.0015), e.offsetX, e.offsetY);
    }, { signal, passive: false });
    box.addEventListener('keydown', (e) => {
      if (!e.ctrlKey && !e.metaKey && !e.altKey && this.press(e.key)) e.preventDefault();
    }, { signal });
  }

  // press does what a key does, and reports whether it does anything.
  press(key: string): boolean {
    const w = this.box.clientWidth / 2, h = this.box.clientHeight / 2;
    const pan: Record<string, [number, number]> = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (key === '+' || key === '=') this.zoom(1.25, w, h);
    else if (key === '-') this.zoom(0.8, w, h);
    else if (key === '0') {
      this.own = false;
      this.ask();
    } else if (pan[key]) {
      this.x += pan[key][0];
      this.y += pan[key][1];
      this.own = true;
      this.ask();
    } else return false;
    return true;
  }
}

const letters = ['a', 'b', 'c', 'd', 'e', 'f'];

// hues are the colours of kinds of nodes, in the order in which they come.
export function hues(graph: Drawn): Map<string, string> {
  const found = new Map<string, string>();
  for (const n of graph.nodes) if (!found.has(n.kind)) found.set(n.kind, letters[found.size % letters.length]);
  return found;
}

const short = (s: string) => (s.length > 34 ? s.slice(0, 33) + '…' : s);
