// What runs inside the guest before the script does: `tools`, `input`, `console`, and nothing of the host. QuickJS reads
// this file as a module. Everything it uses is captured here, and the built-in objects are frozen, before a script runs.

const { apply, ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty } = Reflect
const { freeze, hasOwn, keys } = Object
const { parse, stringify } = JSON
const { isArray } = Array
const { isFinite: isFiniteNumber } = Number
const { imul } = Math
const [GuestPromise, GuestError, GuestProxy, GuestMap, GuestWeakMap, text] = [
  Promise,
  Error,
  Proxy,
  Map,
  WeakMap,
  String,
]
const then = Promise.prototype.then
const stackOf = getOwnPropertyDescriptor(Error.prototype, 'stack').get

/** Values that JSON would change without a word, and what to return instead of them. */
const NOT_JSON = [
  [Promise, 'a Promise: use await'],
  [Date, 'a Date: use toISOString()'],
  [Map, 'a Map: use Object.fromEntries(map)'],
  [Set, 'a Set: use [...set]'],
  [WeakMap, 'a WeakMap'],
  [WeakSet, 'a WeakSet'],
  [RegExp, 'a RegExp: use String(regExp)'],
  [Error, 'an Error: use error.message'],
  [ArrayBuffer, 'an ArrayBuffer: use an array of numbers'],
  [DataView, 'a DataView: use an array of numbers'],
  [getPrototypeOf(Uint8Array), 'a typed array: use Array.from(array)'],
]
const SIMPLE_NAME = /^[A-Za-z_$][\w$]*$/
/** What the language itself reads of any object. */
const LANGUAGE_KEYS = freeze(['then', 'toJSON', 'toString', 'valueOf', 'constructor'])
const MAX_LOG_CHARS = 8_000
const MAX_LOG_DEPTH = 6

let host
let limits
let random
let calls = 0
let inFlight = 0
let logsAreFull = false
/** Calls whose answers are pending, by sequence number. */
const pending = new GuestMap()
/** Calls that wait until fewer are in flight. */
const waiting = []
/** Where the call was made that an error answers: by then, nothing of the script is on the stack. */
const callSites = new GuestWeakMap()

/** Prepares a guest for any script. The functions of the host take and return strings, numbers and booleans only. */
export function install(call, log, finish, nearest) {
  host = { call, log, finish, nearest }
  delete globalThis.SharedArrayBuffer
  defineGlobal('queueMicrotask', (callback) => void apply(then, GuestPromise.resolve(), [() => callback()]))
  Math.random = () => random()
  const print =
    (level) =>
    (...values) =>
      writeLog(level, values)
  const levels = ['log', 'info', 'warn', 'error', 'debug']
  defineGlobal('console', Object.fromEntries(levels.map((level) => [level, print(level)])))
  freezeIntrinsics()
}

/** Gives the guest what belongs to one script. */
export function start(config) {
  const { input, seed, tools, ...rest } = parse(config)
  limits = rest
  random = seededRandom(seed)
  delete globalThis.$guest
  defineGlobal('tools', toolNode(tools, ''))
  defineGlobal('input', input)
}

/** Passes the value of the script, or what it threw, to the host. `isBoxed`: the engine returns `{ value }`. */
export function watch(promise, isBoxed) {
  const value = isBoxed ? apply(then, promise, [(box) => box.value]) : promise
  apply(then, value, [
    (result) => {
      let json
      try {
        json = toJson(result === undefined ? null : result, 'the result')
        if (json.length > limits.resultBytes)
          throw tooLarge('The result', json.length, limits.resultBytes, 'Return less.')
      } catch (error) {
        host.finish(false, describe(error))
        return
      }
      host.finish(true, json)
    },
    (error) => host.finish(false, describe(error)),
  ])
}

/** Answers one call. */
export function settle(seq, isOk, json) {
  const call = pending.get(seq)
  if (call === undefined) return
  pending.delete(seq)
  inFlight--
  handOver()
  if (isOk) {
    call.resolve(parse(json))
    return
  }
  const { message, ...rest } = parse(json)
  const error = new GuestError(message)
  for (const key of keys(rest)) defineProperty(error, key, plainProperty(rest[key]))
  if (call.tool !== '') defineProperty(error, 'tool', plainProperty(call.tool))
  callSites.set(error, call.site)
  defineProperty(error, 'stack', plainProperty(call.site))
  call.reject(error)
}

/** What was thrown, as JSON. Anything can be thrown, and reading it may throw again. */
export function describe(thrown) {
  try {
    if (!(thrown instanceof GuestError)) {
      return stringify({ message: `The script threw a value that is not an Error: ${show(thrown)}` })
    }
    const name = text(thrown.name)
    const message = text(thrown.message)
    const site = callSites.get(thrown)
    const details = {}
    for (const key of ['code', 'hint', 'tool']) {
      if (hasOwn(thrown, key) && typeof thrown[key] === 'string') details[key] = cut(thrown[key])
    }
    const stack = site ?? text(apply(stackOf, thrown, []))
    return stringify({ name: cut(name), message: cut(message), stack: cut(stack), ...details })
  } catch {
    return '{"message":"The script threw an error that cannot be read."}'
  }
}

function request(kind, tool, json, site) {
  const seq = ++calls
  return new GuestPromise((resolve, reject) => {
    // The host ends the script: a call more than it may make.
    if (seq > limits.maxCalls) {
      host.call('', seq, '', '', site)
      return
    }
    waiting.push({ kind, seq, tool, json, site, resolve, reject })
    handOver()
  })
}

/** Passes waiting calls to the host while fewer than the limit are in flight. */
function handOver() {
  while (waiting.length > 0 && inFlight < limits.maxInFlight) {
    const { kind, seq, tool, json, site, resolve, reject } = waiting.shift()
    inFlight++
    pending.set(seq, { tool, site, resolve, reject })
    host.call(kind, seq, tool, json, site)
  }
}

function callTool(tool, args) {
  const site = text(apply(stackOf, new GuestError(), []))
  try {
    if (args.length > 1) throw new TypeError(`${tool} takes one object with its arguments, not ${args.length} values.`)
    const json = toJson(args[0] === undefined ? {} : args[0], 'the arguments')
    if (json.length > limits.callBytes) {
      throw tooLarge(`The input of ${tool}`, json.length, limits.callBytes, 'Pass less, or in several calls.')
    }
    return request('call', tool, json, site)
  } catch (error) {
    if (error instanceof GuestError && !callSites.has(error)) callSites.set(error, site)
    return GuestPromise.reject(error)
  }
}

/** `tools` and the namespaces in it: own names only, and an unknown one is an error that says which are near. */
function toolNode(tree, path) {
  const made = { __proto__: null }
  const own = typeof tree.$tool === 'string' ? toolFunction(tree.$tool) : undefined
  const make = (key) => {
    if (path === '' && (key === '$search' || key === '$describe')) return question(key)
    if (key === '$tool' || !hasOwn(tree, key)) return undefined
    if (typeof tree[key] === 'string') return toolFunction(tree[key])
    return toolNode(tree[key], path === '' ? key : `${path}.${key}`)
  }
  const get = (_, key) => {
    if (typeof key === 'symbol') return undefined
    made[key] ??= make(key)
    if (made[key] !== undefined) return made[key]
    if (own !== undefined && (hasOwn(own, key) || key in Function.prototype)) return own[key]
    if (LANGUAGE_KEYS.includes(key)) return undefined
    throw unknownTool(path, key)
  }
  const refuse = () => false
  const list = () => keys(tree).filter((key) => key !== '$tool')
  return new GuestProxy(own === undefined ? { __proto__: null } : () => undefined, {
    get,
    has: (_, key) => typeof key === 'string' && list().includes(key),
    ownKeys: () => list(),
    getOwnPropertyDescriptor: (_, key) =>
      typeof key === 'string' && list().includes(key)
        ? { value: get(_, key), writable: true, enumerable: true, configurable: true }
        : undefined,
    getPrototypeOf: () => null,
    apply: (_, __, args) => callTool(tree.$tool, args),
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
    preventExtensions: refuse,
  })
}

function toolFunction(tool) {
  return freeze((...args) => callTool(tool, args))
}

function question(key) {
  const kind = key.slice(1)
  return freeze((value) => {
    const site = text(apply(stackOf, new GuestError(), []))
    if (typeof value === 'string') return request(kind, '', stringify(cut(value)), site)
    const error = new TypeError(`tools.${key} takes a string, not ${typeof value}.`)
    return GuestPromise.reject(error)
  })
}

function unknownTool(path, key) {
  const name = cut(path === '' ? key : `${path}.${key}`)
  const near = host.nearest(name)
  const error = new TypeError(
    `Unknown tool tools.${name}.${near === '' ? '' : ` Nearest: ${near}.`} Use await tools.$search("words") to find tools.`,
  )
  defineProperty(error, 'code', plainProperty('UNKNOWN_TOOL'))
  return error
}

/** A value as JSON text, of a copy that has no getters and no `toJSON`. Throws for what JSON cannot express. */
function toJson(value, what) {
  return stringify(copyJson(value, what, '', []))
}

function copyJson(value, what, path, above) {
  const refuse = (why) => {
    const where = path === '' ? `${what[0].toUpperCase()}${what.slice(1)}` : `${path} in ${what}`
    return new TypeError(`${where} must be a JSON value, but is ${why}.`)
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (isFiniteNumber(value)) return value
    throw refuse(`${text(value)}: use null or a string`)
  }
  if (typeof value === 'function') throw refuse('a function')
  if (typeof value === 'symbol') throw refuse('a symbol')
  if (typeof value === 'bigint') throw refuse('a BigInt: use Number(value) or String(value)')
  if (value === undefined) return undefined
  for (let index = 0; index < NOT_JSON.length; index++) {
    if (value instanceof NOT_JSON[index][0]) throw refuse(NOT_JSON[index][1])
  }
  if (above.includes(value)) throw refuse('a value that contains itself')
  above.push(value)
  const copy = isArray(value) ? [] : { __proto__: null }
  if (isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item = copyJson(value[index], what, `${path}[${index}]`, above)
      copy.push(item === undefined ? null : item)
    }
  } else {
    for (const key of keys(value)) {
      const step = SIMPLE_NAME.test(key) ? (path === '' ? key : `.${key}`) : `[${stringify(cut(key))}]`
      const item = copyJson(value[key], what, path + step, above)
      if (item !== undefined) defineProperty(copy, key, plainProperty(item))
    }
  }
  above.pop()
  return copy
}

function tooLarge(what, size, limit, hint) {
  return new RangeError(`${what} has ${size} bytes, more than the limit of ${limit}. ${hint}`)
}

function writeLog(level, values) {
  if (logsAreFull) return
  let line = ''
  for (let index = 0; index < values.length && line.length < MAX_LOG_CHARS; index++) {
    line += (index === 0 ? '' : ' ') + (typeof values[index] === 'string' ? values[index] : show(values[index]))
  }
  logsAreFull = host.log(level, cut(line))
}

/** A value as one line of text, for logs. */
function show(value) {
  try {
    return cut(showAt(value, 0))
  } catch {
    return '[a value that cannot be shown]'
  }
}

function showAt(value, depth) {
  if (typeof value === 'string') return depth === 0 ? value : stringify(cut(value))
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return '[function]'
  if (value === null || typeof value !== 'object') return text(value)
  if (value instanceof GuestError) return `${value.name}: ${value.message}`
  if (value instanceof Date) return text(value)
  if (value instanceof GuestPromise) return '[a Promise: use await]'
  if (depth >= MAX_LOG_DEPTH) return '…'
  if (isArray(value)) return `[${showAll(value, (item) => showAt(item, depth + 1))}]`
  if (value instanceof Set) return `Set [${showAll([...value], (item) => showAt(item, depth + 1))}]`
  const entries = value instanceof GuestMap ? [...value] : keys(value).map((key) => [key, value[key]])
  return `{${showAll(entries, ([key, item]) => `${showAt(key, 1)}:${showAt(item, depth + 1)}`)}}`
}

function showAll(items, each) {
  let line = ''
  for (let index = 0; index < items.length; index++) {
    if (line.length > MAX_LOG_CHARS) return `${line},…`
    line += (index === 0 ? '' : ',') + each(items[index])
  }
  return line
}

function cut(line) {
  return line.length > MAX_LOG_CHARS ? `${line.slice(0, MAX_LOG_CHARS)}…` : line
}

/** sfc32, so that a script that is run again gets the same numbers, whatever version of the engine runs it. */
function seededRandom(seed) {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1]
  for (let index = 0; index < seed.length; index++) a = imul(a ^ seed.charCodeAt(index), 0x5bd1e995) ^ (a >>> 15)
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 4294967296
  }
  for (let index = 0; index < 12; index++) next()
  return next
}

/** A stack trace in which only places look like places: a script gives its functions any name. */
function writeStack(_, sites) {
  let lines = ''
  for (let index = 0; index < sites.length; index++) {
    const site = sites[index]
    const place = `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`
    const name = site.getFunctionName()
    const isPlain = typeof name === 'string' && name.length <= 100 && SIMPLE_NAME.test(name)
    lines += isPlain ? `    at ${name} (${place})\n` : `    at ${place}\n`
  }
  return lines
}

function plainProperty(value) {
  return { value, writable: true, enumerable: true, configurable: true }
}

function defineGlobal(name, value) {
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true })
}

/** Freezes every object that a script can reach without making one. */
function freezeIntrinsics() {
  Error.prepareStackTrace = writeStack
  // Both have setters, which freezing leaves. A script's own function would get the functions of this file.
  Object.defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false })
  Object.defineProperty(Error, 'stackTraceLimit', { value: Error.stackTraceLimit, writable: false })
  const generators = [function* () {}, async function* () {}, async () => {}]
  const iterators = [[], '', new GuestMap(), new Set()].map((list) => list[Symbol.iterator]())
  const roots = [...generators, ...generators.slice(0, 2).map((make) => make()), ...iterators, ''.matchAll(/x/g)]
  for (const key of ownKeys(globalThis)) roots.push(getOwnPropertyDescriptor(globalThis, key).value)
  const seen = new Set([globalThis])
  while (roots.length > 0) {
    const value = roots.pop()
    if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) continue
    seen.add(value)
    roots.push(getPrototypeOf(value))
    for (const key of ownKeys(value)) {
      const property = getOwnPropertyDescriptor(value, key)
      roots.push(property.value, property.get, property.set)
    }
  }
  seen.delete(globalThis)
  for (const value of seen) {
    if (value === Object.prototype || value === Error.prototype || getPrototypeOf(value) === Error.prototype)
      allowOwnValues(value)
  }
  for (const value of seen) freeze(value)
}

/** A frozen `name` would forbid `error.name = 'X'`, too: an accessor lets objects have a value of their own. */
function allowOwnValues(prototype) {
  for (const key of ownKeys(prototype)) {
    const { value, writable, configurable } = getOwnPropertyDescriptor(prototype, key)
    if (!writable || !configurable) continue
    defineProperty(prototype, key, {
      get: freeze(() => value),
      set: freeze(function (own) {
        if (this === prototype || this === null || typeof this !== 'object')
          throw new TypeError('Built-in objects are frozen.')
        defineProperty(this, key, plainProperty(own))
      }),
      enumerable: false,
      configurable: false,
    })
  }
}
