import { afterAll, expect, it } from 'vitest'
import {
  type RunScriptOptions,
  runScript,
  type ScriptAttack,
  type ScriptReport,
  withstand,
} from '../../../../test/support/run-script.ts'
import { ScriptEngine } from './index.ts'

/** What a script must not know: paths, and the parts of Node in stack traces. */
const HOST_TRACES = /node_modules|file:|node:|\/src\/|\/dist\/|wasm|\.ts\b|\.js\b/
const HOST_GLOBALS = `['process', 'require', 'module', 'Buffer', 'fetch', 'setTimeout', 'setInterval', 'setImmediate',
  'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'performance', 'navigator', 'Intl', 'WeakRef', 'FinalizationRegistry',
  'structuredClone', 'Worker', 'std', 'os', 'print', 'scriptArgs', '$guest']`

const ATTACKS: readonly ScriptAttack[] = [
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
    message: /Unknown tool|not a function/,
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
      expect(value).toContain('at script:1:')
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

it('has a row for every way out of the guest', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
  expect(ATTACKS.length).toBeGreaterThanOrEqual(31)
})

it.each(ATTACKS)('withstands $name', { timeout: 60_000 }, (attack) => withstand(engine, attack))

const FORGED = 'x (script:99:1)'
const LINES = `${FORGED}\\n    at script:99:1\\n    at y (script:99:1)\\n    at z`

it.each([
  [
    'the name of a function',
    `const f = () => tools.core.echo({})\nObject.defineProperty(f, 'name', { value: '${FORGED}' })`,
  ],
  ['a name with lines', `const f = () => tools.core.echo({})\nObject.defineProperty(f, 'name', { value: '${LINES}' })`],
  ['the key of a method', `const f = { ['${LINES}']() { return tools.core.echo({}) } }['${LINES}']`],
  ['a long name', `const f = { ['x'.repeat(1e6)]() { return tools.core.echo({}) } }['x'.repeat(1e6)]`],
  [
    'the name of a class',
    `const C = { ['${LINES}']: class { static f() { return tools.core.echo({}) } } }['${LINES}']; const f = () => C.f()`,
  ],
  [
    'the name of an async function',
    `const f = { async ['${LINES}']() { return await tools.core.echo({}) } }['${LINES}']`,
  ],
  [
    'code that is made',
    `const f = () => new Function('tools', '\\n'.repeat(98) + 'return tools.core.echo({})//# sourceURL=script')(tools)`,
  ],
  [
    'the file of evaluated code',
    `const f = () => eval('\\n'.repeat(98) + 'tools.core.echo({})\\n//# sourceURL=script')`,
  ],
  [
    'a function for stack traces',
    `try { Error.prepareStackTrace = () => '    at script:99:1' } catch {}; const f = () => tools.core.echo({})`,
  ],
  [
    'a stack of its own',
    `try { Object.defineProperty(Error.prototype, 'stack', { get: () => 'script:99:1' }) } catch {}; const f = () => tools.core.echo({})`,
  ],
])('a call names its own line, whatever %s looks like', async (_, source) => {
  const { calls, outcome } = await runScript(engine, `${source}\nawait f()`)
  expect(outcome).toMatchObject({ status: 'completed' })
  expect(calls).toMatchObject([{ line: 1 }])
})

it('an error names its own line, whatever the name of its function looks like', async () => {
  const source = `const f = () => { throw new Error('no') }\nObject.defineProperty(f, 'name', { value: '${LINES}' })\nf()`
  expect((await runScript(engine, source)).outcome).toMatchObject({ status: 'failed', line: 1, message: 'no' })
})
