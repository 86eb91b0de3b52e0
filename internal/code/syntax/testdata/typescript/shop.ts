import type { Item, Price as Cost } from './item'
import fs, * as path from 'node:path'
import legacy = require('./legacy')
import Short = Shop.Inner.Deep
import { type Only, run } from './run'

/** What can be sold. */
export interface Sellable<T = string> extends Named, shop.Base<T> {
  readonly price: Cost
  label?: string | undefined
  /** Sells it. */
  sell(to: Customer, count?: number): Promise<Receipt[]>
  new (name: string): Sellable
  (x: number): void
  [key: string]: unknown
  get total(): number
}

export type Handler<T> = (event: T, ctx: Context) => void | Promise<void>
export enum Color { Red = 1, Green }
declare const enum Flat { A }

@Injectable({ scope: Scope.Default })
export abstract class Store<K extends Key> extends Base<K> implements Sellable, Other.Thing {
  static instance?: Store<any>
  private readonly cache: Map<string, Item> = new Map()
  handler: Handler<K> = async (e) => { this.cache.get(e) }
  @Input() name!: string
  declare kind: Kind

  constructor(private readonly db: Database, public log = new Logger(), @Inject(TOKEN) other?: Other) { super() }

  find(id: string): Item
  find(id: number): Item
  find(id: unknown, ...rest: Item[]): Item {
    const item = this.db.load<Item>(id) as Item
    let x: Cost | null = null
    return <Item>item satisfies Thing
  }

  abstract save(item: Item): void
  protected get size(): number { return this.cache.size }
  static async *all(this: Store<any>) {}
}

export namespace Shop.Inner {
  export const version = '1'
  export function open(name: string): Door { return new Door(name) }
  namespace Hidden { let y = 1 }
}
declare module 'fastify' {
  interface FastifyInstance { shop: Store<Key> }
}
declare global { interface Window { shop: any } }
declare function external(a: number): string
declare let loose: number
export function over(a: string): void
export function over(a: any) { return a! }
export default class extends Store<string> {}
export const make = <T,>(x: T): x is Sellable => x as any
const typed: Handler<string> = function (e) {}
export { make as create }
export type { Item } from './item'
export = Store
function assertIt(this: Window, { a, b }: Options = {}, [c]: number[]): asserts a is string {
  type Local = typeof loose
  for (const [k, v] of Object.entries(a)) k.trim()
  const conf = { plugin: { setup() {} } }
  const cast = obj as unknown as Foo.Bar
}
abstract class Plain {}
let fnType: typeof import('./run').run
