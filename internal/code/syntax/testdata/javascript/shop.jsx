'use strict'

import React, { useState as state, memo } from 'react'
import * as util from './util.js'
import './side.css'
export { price, total as sum } from './price.js'
export * from './all.js'
export * as names from './names.js'

const { join, resolve: res } = require('path')
const fs = require('node:fs')
const parse = require('./parse').parse

// How many there may be.
const LIMIT = 10
let counter, other = new Map()
const { a, b: [c, ...d], ...rest } = util.load()

/**
 * A basket of items.
 */
@sealed
export class Basket extends util.Box {
  static #count = 0
  items = new List()
  onClick = (event) => { this.add(event) }

  constructor(owner, { size = 1, ...more } = {}) {
    super(owner)
    this.owner = owner
    this.log = new Logger()
  }

  // Adds one.
  async add(item) {
    for (const x of this.items) {
      const y = new Item(x)
      await this.log.write(y)
    }
    try {
      super.add(item)
    } catch (err) {
      fail(err)
    }
    return this.items.find(i => i.id === item.id).touch()
  }

  get size() { return this.items.length }
  set size(n) { resize(n) }
  static *[Symbol.iterator]() { yield* Basket.all() }
  'quoted name'() {}
  #secret() {}
}

export default function Card({ title, onPick: pick, children }) {
  const [open, setOpen] = state(false)
  function inner(x) { return x + 1 }
  const local = () => inner(2)
  return (
    <util.Panel title={title} onClick={() => setOpen(!open)}>
      <Button pick={pick}>{children}</Button>
      <div>{local()}</div>
    </util.Panel>
  )
}

export const square = x => x * x
export const Fancy = memo(function Fancy({ value }) {
  return <b id="x" class="bold">{value}<label for="x" /></b>
})
const Anonymous = class Named extends Basket {}
var old = function () { return 1 }, legacy = 3

const api = {
  get(url) { return fetch(url) },
  post: async (url, body) => fetch(url, { body }),
  deep: {
    put: function (url) { return this.get(url) },
  },
  square,
}

function Old(name) { this.name = name }
Old.prototype.hello = function (greeting) { return greeting + this.name }
Old.create = () => new Old('x')
exports.helper = function helper() {}
module.exports.other = async () => {}
module.exports = { first() {}, second: function () {}, third: square, Old }

async function lazy() {
  const m = await import('./lazy.js')
  return m.run`x`
}

if (LIMIT) {
  const scoped = 1
  var hoisted = 2
  function conditional() {}
}

label: for (let i = 0, n = 3; i < n; i++) { new (pick())(i) }
