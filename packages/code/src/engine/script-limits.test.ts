import { afterAll, expect, it } from 'vitest'
import { type ScriptAttack, withstand } from '../../../../test/support/run-script.ts'
import { ScriptEngine } from './index.ts'

/** Enough for everything here that ends by itself, on a busy machine. */
const SHORT = { limits: { cpuMs: 300 } }
const MB = 1024 * 1024
const ATTACKS: readonly ScriptAttack[] = [
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
    name: 'types that take long to parse',
    source: `let a: number = ${'a ? (b) : c => '.repeat(40)} 1`,
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
]

const engine = new ScriptEngine()
afterAll(() => engine.close())

it('has a row for every limit', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
  expect(ATTACKS.length).toBeGreaterThanOrEqual(35)
})

it.each(ATTACKS)('withstands $name', { timeout: 60_000 }, (attack) => withstand(engine, attack))

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}
