// A layout of a graph by forces: nodes push each other away, edges pull their
// ends together, everything is drawn to the middle. Work is done in slices of a
// few milliseconds, so that a large graph holds up nothing.
//
// Pushing is reckoned over a grid: of a cell that is not near, all nodes push as
// one. With n nodes in about sqrt(n) cells that is n·sqrt(n) for each round.

export interface Body {
  x: number;
  y: number;
  size: number;
}

const spring = 90; // length at which an edge neither pulls nor pushes
const far = 700; // distance from which nothing pushes: what is joined to nothing stays near
const middle = 0.9; // how strongly all is drawn to the middle
const rounds = 220;

export class Layout {
  readonly bodies: Body[];
  private readonly dx: Float64Array;
  private readonly dy: Float64Array;
  private readonly degree: Uint32Array;
  private round = 0;
  private at = 0; // the next node of this round
  private cells: { x: number; y: number; n: number; members: number[]; col: number; row: number }[] = [];
  private wide = 0;

  constructor(count: number, private readonly edges: { from: number; to: number }[], fixed?: (i: number) => [number, number]) {
    this.degree = new Uint32Array(count);
    for (const e of edges) {
      this.degree[e.from]++;
      this.degree[e.to]++;
    }
    // A sunflower: even, and the same each time. The first is in the middle.
    this.bodies = Array.from({ length: count }, (_, i) => {
      const [x, y] = fixed?.(i) ?? [Math.sqrt(i) * 46 * Math.cos(i * 2.39996), Math.sqrt(i) * 46 * Math.sin(i * 2.39996)];
      return { x, y, size: 4 + Math.min(10, 1.6 * Math.sqrt(this.degree[i])) };
    });
    this.dx = new Float64Array(count);
    this.dy = new Float64Array(count);
  }

  get done() {
    return this.round >= rounds || this.bodies.length < 2;
  }

  // work goes on until a time of performance.now, and reports whether anything moved.
  work(until: number): boolean {
    let moved = false;
    while (!this.done && performance.now() < until) {
      if (this.at === 0) this.gather();
      const stop = Math.min(this.at + 64, this.bodies.length);
      for (; this.at < stop; this.at++) this.push(this.at);
      if (this.at === this.bodies.length) {
        this.settle();
        moved = true;
      }
    }
    return moved;
  }

  // gather puts the nodes into cells.
  private gather() {
    this.dx.fill(0);
    this.dy.fill(0);
    let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
    for (const b of this.bodies) {
      left = Math.min(left, b.x), right = Math.max(right, b.x), top = Math.min(top, b.y), bottom = Math.max(bottom, b.y);
    }
    const across = Math.max(1, Math.ceil(Math.sqrt(Math.sqrt(this.bodies.length)) * 1.5));
    this.wide = Math.max((right - left) / across, (bottom - top) / across, 1);
    const found = new Map<number, (typeof this.cells)[number]>();
    this.bodies.forEach((b, i) => {
      const col = Math.floor((b.x - left) / this.wide), row = Math.floor((b.y - top) / this.wide);
      let c = found.get(row * 4096 + col);
      if (!c) found.set(row * 4096 + col, (c = { x: 0, y: 0, n: 0, members: [], col, row }));
      c.x += b.x;
      c.y += b.y;
      c.n++;
      c.members.push(i);
    });
    this.cells = [...found.values()];
    for (const c of this.cells) {
      c.x /= c.n;
      c.y /= c.n;
      for (const i of c.members) this.cellOf[i] = c;
    }
  }

  private readonly cellOf: (typeof this.cells)[number][] = [];

  private push(i: number) {
    const b = this.bodies[i], own = this.cellOf[i];
    let dx = 0, dy = 0;
    const from = (x: number, y: number, n: number) => {
      const vx = b.x - x, vy = b.y - y, d2 = Math.max(vx * vx + vy * vy, 40);
      dx += (vx / d2) * n;
      dy += (vy / d2) * n;
    };
    for (const c of this.cells) {
      if (Math.abs(c.x - b.x) + Math.abs(c.y - b.y) > far + this.wide) continue;
      if (Math.abs(c.col - own.col) > 1 || Math.abs(c.row - own.row) > 1) from(c.x, c.y, c.n);
      else for (const j of c.members) if (j !== i) from(this.bodies[j].x, this.bodies[j].y, 1);
    }
    this.dx[i] += dx * spring * 26 - b.x * middle;
    this.dy[i] += dy * spring * 26 - b.y * middle;
  }

  // settle has the edges pull and moves the nodes, less each round.
  private settle() {
    for (const e of this.edges) {
      const a = this.bodies[e.from], b = this.bodies[e.to];
      const vx = b.x - a.x, vy = b.y - a.y, d = Math.max(Math.hypot(vx, vy), 1);
      const pull = ((d - spring) / d) * 18 / Math.sqrt(Math.max(1, Math.min(this.degree[e.from], this.degree[e.to])));
      this.dx[e.from] += vx * pull;
      this.dy[e.from] += vy * pull;
      this.dx[e.to] -= vx * pull;
      this.dy[e.to] -= vy * pull;
    }
    const most = spring * (1 - this.round / rounds) * 0.6 + 0.5;
    this.bodies.forEach((b, i) => {
      const force = Math.hypot(this.dx[i], this.dy[i]) * 0.02;
      if (force > 0) {
        const step = Math.min(force, most) / force * 0.02;
        b.x += this.dx[i] * step;
        b.y += this.dy[i] * step;
      }
    });
    this.round++;
    this.at = 0;
  }
}
