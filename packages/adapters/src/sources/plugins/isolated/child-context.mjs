// Part of child-main.mjs: one call in the plugin's process, and the context of its tool.
import { send, toolError } from './child-wire.mjs'

const MAX_BYTES = 7_000_000
const READS = ['readText', 'readFile', 'readBytes', 'readLines', 'stat', 'sha256', 'list', 'search', 'find']
const WRITES = ['writeText', 'changeAll', 'makeFolder', 'move', 'copy', 'remove']

const caches = new Map()

/** One call: its pending requests to the hub, and its signal. */
export function openCall(call) {
  const controller = new AbortController()
  const waiting = new Map()
  let nextId = 1
  let isOpen = true
  const over = () => new Error('The call is over.')
  return {
    signal: controller.signal,
    send: (message) => send({ ...message, call }),
    abort: (reason) => controller.abort(reason),
    report(method, ...args) {
      if (isOpen) send({ type: 'report', call, method, args: given(args) })
    },
    use(method, ...args) {
      if (!isOpen) return Promise.reject(over())
      const id = nextId++
      const asked = new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        send({ type: 'use', call, id, method, args: given(args) })
      })
      // A tool that does not await it must not end the process.
      asked.catch(() => {})
      return asked
    },
    answer(id, ok, value) {
      const waiter = waiting.get(id)
      waiting.delete(id)
      if (ok) waiter?.resolve(value)
      else waiter?.reject(value)
    },
    close() {
      isOpen = false
      for (const { reject } of waiting.values()) reject(over())
    },
  }
}

/** JSON would turn omitted trailing arguments into null. */
function given(args) {
  return args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1)
}

/** The context of a tool in the hub, as far as it can cross a pipe. */
export function contextOf(state, { callId, run, now, maxOutputChars, constraints }, capabilities) {
  const mark = performance.now()
  const ctx = {
    ...{ callId, run, maxOutputChars, constraints, signal: state.signal, cache: cacheOf(run) },
    now: () => Math.round(now + performance.now() - mark),
    artifact: (content, options) => state.use('artifact', packed(content), options),
    ask: (question) => state.use('ask', question),
    call: (tool, input) => state.use('call', typeof tool === 'string' ? tool : tool.name, input),
  }
  for (const method of ['progress', 'evidence', 'notice', 'truncated', 'pending'])
    ctx[method] = (...args) => state.report(method, ...args)
  const files = [...(capabilities.has('read:fs') ? READS : []), ...(capabilities.has('write:fs') ? WRITES : [])]
  if (files.length > 0) ctx.fs = filesOf(state, files, capabilities.has('write:fs'))
  if (capabilities.has('network')) ctx.fetch = (url, options) => fetchBy(state, url, options)
  if (capabilities.has('exec')) ctx.exec = commandsOf(state)
  return ctx
}

function filesOf(state, methods, canWrite) {
  const fs = Object.fromEntries(methods.map((method) => [method, (...args) => state.use(`fs.${method}`, ...args)]))
  if (fs.readBytes) {
    const read = fs.readBytes
    fs.readBytes = async (...args) => unpackedContent(await read(...args))
  }
  if (!canWrite) return fs
  fs.writeBytes = async (path, content, options) =>
    state.use('fs.writeBytes', path, packed(await collect(content)), options)
  fs.changeAll = (changes) =>
    state.use(
      'fs.changeAll',
      changes.map((change) => ('content' in change ? { ...change, content: packed(change.content) } : change)),
    )
  return fs
}

async function fetchBy(state, url, options) {
  const { response, ...facts } = await state.use('fetch', String(url), options)
  const bytes = async () => Buffer.from((await state.use('fetch.bytes', response)).base64, 'base64')
  return {
    ...facts,
    bytes,
    text: () => state.use('fetch.text', response),
    readable: (how) => state.use('fetch.readable', response, how),
    async *chunks() {
      yield await bytes()
    },
  }
}

/** Commands without synchronous state: what is known of one is as of the last awaited call. */
function commandsOf(state) {
  const absent = (what) => () => {
    throw toolError({ code: 'INTERNAL', message: `ctx.exec.${what} is not there in an isolated plugin.` })
  }
  return {
    async start(request) {
      let known = await state.use('exec.start', request)
      const { command } = known
      const use = async (method, ...args) => {
        const { value, ...rest } = await state.use(`exec.${method}`, command, ...args)
        known = rest
        return value
      }
      const withoutSignal = ({ signal, ...options } = {}) => options
      return {
        id: known.state.id,
        state: () => known.state,
        output: () => known.output,
        onOutput: absent('onOutput'),
        ended: (options) => use('ended', withoutSignal(options)),
        changed: (options) => use('changed', withoutSignal(options)),
        log: (options) => use('log', options),
        write: (text) => use('write', text),
        closeInput: () => use('closeInput'),
        kill: () => use('kill'),
        toBackground: () => use('toBackground'),
        artifact: () => use('artifact'),
      }
    },
    list: absent('list'),
    find: absent('find'),
    remove: absent('remove'),
  }
}

/** Belongs to this plugin alone, because `get` cannot wait for the hub; bounded in runs and entries. */
function cacheOf(run) {
  const cache = caches.get(run) ?? new Map()
  caches.delete(run)
  caches.set(run, cache)
  if (caches.size > 20) caches.delete(caches.keys().next().value)
  return {
    get(key) {
      const entry = cache.get(key)
      if (entry?.expiresAt === undefined || entry.expiresAt > Date.now()) return entry
      cache.delete(key)
      return undefined
    },
    set(key, value, { ttlMs } = {}) {
      cache.delete(key)
      cache.set(key, { value, expiresAt: ttlMs === undefined ? undefined : Date.now() + ttlMs })
      if (cache.size > 1_000) cache.delete(cache.keys().next().value)
      return { bytes: Buffer.byteLength(JSON.stringify(value) ?? '') }
    },
  }
}

function packed(content) {
  return typeof content === 'string' ? content : { base64: Buffer.from(content).toString('base64') }
}

function unpackedContent(facts) {
  return { ...facts, content: new Uint8Array(Buffer.from(facts.content.base64, 'base64')) }
}

async function collect(content) {
  if (content instanceof Uint8Array) return content
  const pieces = []
  let bytes = 0
  for await (const piece of content) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes <= MAX_BYTES) continue
    throw toolError({
      code: 'FILE_TOO_LARGE',
      message: `An isolated plugin writes at most ${MAX_BYTES} bytes per call.`,
    })
  }
  return Buffer.concat(pieces)
}
