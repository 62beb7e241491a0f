import { afterAll, expect, it } from 'vitest'
import { type RunScriptOptions, runScript, type ScriptReport } from '../../../../test/support/run-script.ts'
import { ScriptEngine } from './index.ts'

/** A script that tries to get more than it may. */
interface Attack {
  readonly name: string
  readonly source: string
  readonly options?: RunScriptOptions
  /** Without the limit, the script completes: the limit is what stops it. */
  readonly without?: RunScriptOptions['limits']
  readonly kind?: string
  readonly message?: RegExp
  readonly value?: unknown
  readonly check?: (report: ScriptReport) => void
}

/** Enough for everything here that ends by itself, on a busy machine. */
const SHORT = { limits: { cpuMs: 300 } }
const MB = 1024 * 1024
/** What a script must not know: paths, and the parts of Node in stack traces. */
const HOST_TRACES = /node_modules|file:|node:|\/src\/|\/dist\/|wasm|\.ts\b|\.js\b/
const HOST_GLOBALS = `['process', 'require', 'module', 'Buffer', 'fetch', 'setTimeout', 'setInterval', 'setImmediate',
  'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'performance', 'navigator', 'Intl', 'WeakRef', 'FinalizationRegistry',
  'structuredClone', 'Worker', 'std', 'os', 'print', 'scriptArgs', '$guest']`

const ATTACKS: readonly Attack[] = [
  { name: 'an endless loop', source: 'while (true) {}', options: SHORT, kind: 'CPU_LIMIT' },
  {
    name: 'an endless loop that catches everything',
    source: 'for (;;) { try { for (;;) {} } catch {} finally { continue } }',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'a regular expression without end',
    source: '/(((a*)*)*)*b/.test("a".repeat(60))',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'an endless callback of JSON.parse',
    source: 'JSON.parse("[1]", () => { for (;;) {} })',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'an endless toJSON',
    source: 'JSON.stringify({ toJSON() { for (;;) {} } })',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'an endless comparison of a sort',
    source: '[3, 2, 1].sort(() => { for (;;) {} })',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'an endless getter in the result',
    source: '({ get a() { for (;;) {} } })',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'an endless getter of what is thrown',
    source: 'throw Object.defineProperty(new Error(), "message", { get() { for (;;) {} } })',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'a result that is a promise of itself',
    source: '({ then(resolve) { resolve(this) } })',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'promises that start promises, and catch every error',
    source: 'const next = () => Promise.resolve().then(next, next).catch(next); next(); await new Promise(() => {})',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'an endless loop after an answer',
    source: 'await tools.core.echo({}); for (;;) {}',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'an endless loop in a promise that nobody awaits',
    source: 'tools.core.echo({}).then(() => { for (;;) {} }); 1',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'an operation that the engine never interrupts',
    source: 'new Array(1e9) + ""',
    options: SHORT,
    kind: 'CPU_LIMIT',
  },
  {
    name: 'a string that doubles',
    source: 'let text = "x".repeat(1e6); while (text.length < 9e6) text = (text + text).slice(1); text.length',
    options: { limits: { memoryBytes: 8 * MB } },
    without: { memoryBytes: 128 * MB },
    kind: 'MEMORY_LIMIT',
  },
  {
    name: 'a list that grows',
    source: 'const list = []; for (let i = 0; i < 1e6; i++) list.push({ i }); list.length',
    options: { limits: { memoryBytes: 8 * MB } },
    without: { memoryBytes: 512 * MB, cpuMs: 60_000 },
    kind: 'MEMORY_LIMIT',
  },
  {
    name: 'an array buffer above the limit',
    source: 'new Uint8Array(20_000_000).length',
    options: { limits: { memoryBytes: 8 * MB } },
    without: { memoryBytes: 64 * MB },
    kind: 'MEMORY_LIMIT',
  },
  { name: 'a huge repetition', source: '"x".repeat(1e9)', kind: 'MEMORY_LIMIT' },
  {
    name: 'a flood of pending promises',
    source: 'const all = []; for (;;) all.push(new Promise(() => {}).then(() => {}))',
    options: { limits: { memoryBytes: 8 * MB, cpuMs: 60_000 } },
    kind: 'MEMORY_LIMIT',
  },
  {
    name: 'out of memory, caught',
    source: 'try { "x".repeat(1e9) } catch (error) { error.message }',
    value: 'out of memory',
  },
  {
    name: 'deep recursion',
    source: 'const deeper = (n) => deeper(n + 1) + 1; deeper(0)',
    kind: 'SCRIPT_ERROR',
    message: /Maximum call stack/,
  },
  {
    name: 'deep recursion, caught',
    source: 'const deeper = () => deeper() + 1; try { deeper() } catch (error) { error.name }',
    value: 'RangeError',
  },
  { name: 'JSON that is nested deeply', source: 'JSON.parse("[".repeat(1e6))', kind: 'SCRIPT_ERROR' },
  { name: 'code that is nested deeply', source: 'eval("(".repeat(1e6))', kind: 'SCRIPT_ERROR' },
  {
    name: 'a result that is nested deeply',
    source: 'let deep = []; for (let i = 0; i < 50_000; i++) deep = [deep]; deep',
    kind: 'SCRIPT_ERROR',
  },
  {
    name: 'endless output',
    source: 'for (let i = 0; i < 10_000; i++) console.log("line " + i); "done"',
    options: { limits: { logBytes: 2_000 } },
    value: 'done',
    check: ({ logs }) => {
      expect(logs.length).toBeLessThan(60)
      expect(logs.at(-1)).toEqual({ level: 'warn', text: 'The logs end here: they reached 2000 bytes.' })
    },
  },
  {
    name: 'a line of output that is too long',
    source: 'console.log("x".repeat(1e6), "y".repeat(1e6)); 1',
    value: 1,
    check: ({ logs }) => expect(logs[0]!.text.length).toBeLessThan(10_000),
  },
  {
    name: 'a result that is too large',
    source: '"x".repeat(2000)',
    options: { limits: { resultBytes: 1_000 } },
    without: { resultBytes: 3_000 },
    kind: 'SCRIPT_ERROR',
    message: /The result has 2002 bytes, more than the limit of 1000\. Return less\./,
  },
  {
    name: 'a result whose bytes are more than its characters',
    source: '"€".repeat(500)',
    options: { limits: { resultBytes: 1_000 } },
    without: { resultBytes: 1_502 },
    kind: 'SCRIPT_ERROR',
    message: /1502 bytes/,
  },
  {
    name: 'a source that is too large',
    source: `1${' '.repeat(1000)}`,
    options: { limits: { sourceBytes: 1_000 } },
    without: { sourceBytes: 1_001 },
    kind: 'SYNTAX',
    message: /1001 bytes, more than the limit of 1000/,
  },
  {
    name: 'an input of a call that is too large',
    source: 'await tools.core.echo({ text: "x".repeat(2000) }); 1',
    options: { limits: { callBytes: 1_000 } },
    without: { callBytes: 3_000 },
    kind: 'SCRIPT_ERROR',
    message: /The input of core\/echo has 2011 bytes/,
  },
  {
    name: 'an answer that is too large',
    source: 'try { await tools.core.echo({}) } catch (error) { error.code }',
    options: { limits: { memoryBytes: 8 * MB }, call: async () => ({ ok: true, value: 'x'.repeat(3 * MB) }) },
    value: 'OUTPUT_TOO_LARGE',
  },
  {
    name: 'more calls than the budget',
    source: 'for (let i = 0; i < 6; i++) await tools.core.echo({ i }); 1',
    options: { limits: { maxCalls: 5 } },
    without: { maxCalls: 6 },
    kind: 'CALL_BUDGET',
    message: /more than 5 calls/,
    check: ({ calls }) => expect(calls).toHaveLength(5),
  },
  {
    name: 'endless calls that nobody awaits',
    source: 'for (;;) tools.core.echo({})',
    options: { limits: { maxCalls: 5, cpuMs: 60_000 } },
    kind: 'CALL_BUDGET',
  },
  {
    name: 'a call that is never answered',
    source: 'await tools.core.echo({})',
    options: { limits: { wallMs: 200 }, call: (_, { signal }) => untilAborted(signal) },
    kind: 'TIMEOUT',
    message: /longer than 200 ms/,
  },
  {
    name: 'a promise that nothing resolves',
    source: 'await new Promise(() => {})',
    kind: 'SCRIPT_ERROR',
    message: /nothing resolves/,
  },
  {
    name: 'globals of the host',
    source: `${HOST_GLOBALS}.filter((name) => name in globalThis || typeof globalThis[name] !== 'undefined')`,
    value: [],
  },
  ...(
    [
      ['tools', 'Object.getPrototypeOf(tools.core.fs.readText)'],
      ['a tool', 'tools.core.fs.readText'],
      ['an answer', '(await tools.core.echo({ list: [] })).list'],
      ['the input', 'input'],
      ['console', 'console.log'],
      ['an error of a tool', 'await tools.mcp.shop.get_item({}).catch((error) => error)'],
      ['an error of the engine', '(() => { try { null.x } catch (error) { return error } })()'],
      ['an async function', 'async () => {}'],
    ] as const
  ).map(([of, expression]) => ({
    name: `the constructor of ${of}`,
    source: `const found = ${expression}
      const make = found.constructor.constructor
      make('return ${HOST_GLOBALS.replaceAll(/\s+/g, ' ').replaceAll("'", '"')}.filter((name) => name in globalThis)')()`,
    options: {
      input: {},
      call: async ({ tool, input }) =>
        tool === 'core/echo'
          ? { ok: true, value: input }
          : { ok: false, error: { code: 'NOT_FOUND', message: 'No such item.' } },
    } satisfies RunScriptOptions,
    value: [],
  })),
  {
    name: 'prototypes that are changed',
    source: `const attempts = [
        () => { Object.prototype.polluted = 1 },
        () => { Array.prototype.push = () => 0 },
        () => { Promise.prototype.then = () => 0 },
        () => { Map.prototype.get = () => 0 },
        () => { Error.prepareStackTrace = () => 'x' },
        () => { Error.stackTraceLimit = 0 },
        () => { JSON.parse = () => 0 },
        () => { Object.getPrototypeOf(async () => {}).constructor = 1 },
        () => { Object.setPrototypeOf(Array.prototype, null) },
        () => { ({}).__proto__.toString = () => 'x' },
        () => { Object.getPrototypeOf([][Symbol.iterator]()).next = () => 0 },
      ]
      attempts.filter((attempt) => { try { attempt(); return true } catch { return false } }).length`,
    value: 0,
  },
  {
    name: 'built-in functions that are replaced',
    source: `globalThis.JSON = { stringify: () => '"forged"', parse: () => 'forged' }
      globalThis.Promise = globalThis.Map = globalThis.Error = globalThis.Reflect = undefined
      await tools.core.echo({ real: true })`,
    value: { real: true },
    check: ({ calls }) => expect(calls[0]!.input).toEqual({ real: true }),
  },
  {
    name: 'tools that are changed',
    source: `const attempts = [
        () => { tools.core.fs.readText = () => 'forged' },
        () => { tools.other = 1 },
        () => { delete tools.core },
        () => { Object.defineProperty(tools.core, 'fs', { value: 1 }) },
        () => { Object.setPrototypeOf(tools, {}) },
        () => { tools.core.fs.readText.x = 1 },
      ]
      attempts.filter((attempt) => { try { attempt(); return true } catch { return false } }).length`,
    value: 0,
  },
  ...['__proto__', 'constructor', 'hasOwnProperty', 'toString', '__defineGetter__', '$tool', '$guest'].map((name) => ({
    name: `the inherited name ${name} as a tool`,
    source: `await tools.core.fs[${JSON.stringify(name)}]({})`,
    kind: 'SCRIPT_ERROR',
    message: /There is no tool|not a function/,
    check: ({ calls }: ScriptReport) => expect(calls).toEqual([]),
  })),
  {
    name: 'a stack trace with paths of the host',
    source: `const stacks = [new Error('x').stack]
      try { await tools.mcp.shop.get_item({}) } catch (error) { stacks.push(error.stack, error.message) }
      try { await tools.core.echo({ f() {} }) } catch (error) { stacks.push(error.stack, error.message) }
      try { tools.nothing } catch (error) { stacks.push(error.stack, error.message) }
      try { null.x } catch (error) { stacks.push(error.stack, error.message) }
      try { await import('./x') } catch (error) { stacks.push(error.stack, error.message) }
      stacks.join(' ')`,
    options: {
      call: async () => {
        throw new Error('secret of the host')
      },
    },
    check: ({ outcome }) => {
      const { value } = outcome as { value: string }
      expect(value).not.toMatch(HOST_TRACES)
      expect(value).not.toContain('secret')
      expect(value).toContain('at <eval> (script:1:')
    },
  },
  {
    name: 'a failure with paths of the host',
    source: 'null.x',
    kind: 'SCRIPT_ERROR',
    check: ({ outcome }) => expect(JSON.stringify(outcome)).not.toMatch(HOST_TRACES),
  },
  { name: 'import()', source: 'await import("node:fs")', kind: 'SCRIPT_ERROR', message: /could not load module/ },
  {
    name: 'a static import',
    source: 'import fs from "node:fs"\nfs.readFileSync("/etc/passwd")',
    kind: 'SYNTAX',
    check: ({ outcome }) => expect(outcome).toMatchObject({ hint: expect.stringContaining('cannot import') }),
  },
  {
    name: 'the source of a function of the host',
    source: 'const text = String(tools.core.echo); [typeof eval("(" + text + ")"), text.includes("postMessage")]',
    value: ['function', false],
  },
  {
    name: 'the function of the host that calls tools',
    source: `const found = []
      for (const key of Reflect.ownKeys(globalThis)) if (/native|host|call|finish/.test(String(key))) found.push(String(key))
      found`,
    value: [],
  },
  {
    name: 'the caller of a function',
    source: '(function () { try { return String(arguments.callee) } catch { return "none" } })()',
    value: 'none',
  },
  {
    name: 'the time',
    source: 'const start = Date.now(); for (let i = 0; i < 1e6; i++); [Date.now() - start, +new Date() - start]',
    value: [0, 0],
  },
  {
    name: 'the time zone and the language of the host',
    source: '[new Date().getTimezoneOffset(), new Date().toString(), (1234.5).toLocaleString()]',
    value: [0, 'Fri Jan 02 2026 00:00:00 GMT+0000', '1234.5'],
  },
  {
    name: 'random numbers of the host',
    source: '[Math.random(), Math.random()]',
    check: async ({ outcome }) => {
      const again = await runScript(engine, '[Math.random(), Math.random()]')
      const other = await runScript(engine, '[Math.random(), Math.random()]', { seed: 'other' })
      expect(again.outcome).toMatchObject({ value: (outcome as { value: unknown }).value })
      expect(other.outcome).not.toMatchObject({ value: (outcome as { value: unknown }).value })
    },
  },
  {
    name: 'a proxy as input of a call',
    source: `let reads = 0
      const trap = new Proxy({ path: 'a' }, { get: (target, key) => (key === 'path' ? 'b' + reads++ : target[key]) })
      await tools.core.echo(trap)`,
    value: { path: 'b0' },
    check: ({ calls }) => expect(calls[0]!.input).toEqual({ path: 'b0' }),
  },
  {
    name: 'an input with the key __proto__',
    source: 'await tools.core.echo(JSON.parse(\'{"__proto__":{"polluted":1}}\')); ({}).polluted === undefined',
    value: true,
    check: ({ calls }) => {
      expect(Object.keys(calls[0]!.input as object)).toEqual(['__proto__'])
      expect(({} as { polluted?: number }).polluted).toBeUndefined()
    },
  },
  {
    name: 'what an earlier script left',
    source: 'globalThis.left = 1; try { Object.prototype.left = 1 } catch {}; 1',
    value: 1,
    check: async () => {
      const { outcome } = await runScript(engine, '[typeof left, ({}).left === undefined]')
      expect(outcome).toMatchObject({ value: ['undefined', true] })
    },
  },
]

const engine = new ScriptEngine()
afterAll(() => engine.close())

it('has at least the 34 attacks that are required', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
  expect(ATTACKS.length).toBeGreaterThanOrEqual(34)
})

it.each(ATTACKS)(
  'withstands $name',
  { timeout: 60_000 },
  async ({ source, options, without, kind, message, ...expected }) => {
    const report = await runScript(engine, source, options)
    const { outcome } = report
    if (kind) expect(outcome).toMatchObject({ status: 'failed', kind })
    else expect(outcome).toMatchObject({ status: 'completed' })
    if (message) expect(outcome).toMatchObject({ message: expect.stringMatching(message) })
    if ('value' in expected) expect(outcome).toMatchObject({ value: expected.value })
    await expected.check?.(report)
    if (without) {
      const free = await runScript(engine, source, { ...options, limits: { ...options?.limits, ...without } })
      expect(free.outcome).toMatchObject({ status: 'completed' })
    }
    // The engine still works.
    expect((await runScript(engine, '1 + 1')).outcome).toMatchObject({ status: 'completed', value: 2 })
  },
)

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}
