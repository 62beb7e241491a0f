import { afterAll, describe, expect, it } from 'vitest'
import { runScript } from '../../../../test/support/run-script.ts'
import { type ScriptAnswer, ScriptEngine } from './index.ts'

const engine = new ScriptEngine()
afterAll(() => engine.close())

const run = (source: string, options?: Parameters<typeof runScript>[2]) => runScript(engine, source, options)
const notFound: ScriptAnswer = { ok: false, error: { code: 'NOT_FOUND', message: 'No item 7.', hint: 'List them.' } }

describe('the value of a script', () => {
  it.each([
    ['the last expression', 'const a = 20\na * 2 + 2', 42],
    ['what it returns', 'if (input === null) return 42\nreturn 0', 42],
    ['a promise, awaited', 'tools.core.echo({ answer: 42 })', { answer: 42 }],
    ['null for undefined', 'undefined', null],
    ['null for a declaration', 'const a = 1', null],
    [
      'nothing of undefined properties, null in lists',
      '({ a: undefined, b: [undefined, , 1] })',
      { b: [null, null, 1] },
    ],
    ['own properties of an instance', 'class Point { x = 1; get y() { return 2 } }; new Point()', { x: 1 }],
    ['text with any character', '"a\\0\\ud800€😀"', 'a\0\ud800€😀'],
    ['TypeScript', 'interface A { x: number }\nconst a = { x: 1 } satisfies A\nenum E { B = 4 }\n(a as A).x + E.B', 5],
    ['TypeScript with a return', 'const f = <T,>(x: T): T => x\nreturn f<number>(3)!', 3],
    ['what a comment ends', 'return 1 // the end', 1],
    ['a value it repeats', 'const a = { x: 1 }; [a, a]', [{ x: 1 }, { x: 1 }]],
  ])('is %s', async (_, source, value) => {
    expect((await run(source)).outcome).toMatchObject({ status: 'completed', value })
  })

  it.each([
    ['({ list: [1, () => 2] })', 'list[1] in the result must be a JSON value, but is a function.'],
    ['({ "a b": Symbol("x") })', '["a b"] in the result must be a JSON value, but is a symbol.'],
    ['10n', 'The result must be a JSON value, but is a BigInt: use Number(value) or String(value).'],
    ['[0 / 0]', '[0] in the result must be a JSON value, but is NaN: use null or a string.'],
    ['({ at: new Date() })', 'at in the result must be a JSON value, but is a Date: use toISOString().'],
    ['new Map()', 'The result must be a JSON value, but is a Map: use Object.fromEntries(map).'],
    ['new Uint8Array(2)', 'The result must be a JSON value, but is a typed array: use Array.from(array).'],
    [
      'const a = { b: {} }; a.b.a = a; a',
      'b.a in the result must be a JSON value, but is a value that contains itself.',
    ],
    ['[tools.core.echo({})]', '[0] in the result must be a JSON value, but is a Promise: use await.'],
  ])('cannot be %s', async (source, message) => {
    expect((await run(source)).outcome).toMatchObject({ kind: 'SCRIPT_ERROR', message: `TypeError: ${message}` })
  })
})

describe('a failure', () => {
  it.each([
    ['a syntax error', 'const a = 1\nlet b = = 2', { kind: 'SYNTAX', line: 2, column: 9 }],
    [
      'a syntax error after a type',
      'const a: number = 1\nlet b: string = = 2',
      { kind: 'SYNTAX', line: 2, column: 17 },
    ],
    ['a syntax error in a function body', 'return 1\n  }', { kind: 'SYNTAX', line: 2, column: 3 }],
    ['an unknown variable', '\n\n  missing()', { kind: 'SCRIPT_ERROR', line: 3, column: 3 }],
    ['an error of a first line with return', 'missing(); return 1', { line: 1, column: 1 }],
    ['an error after types', 'const a: Array<string> = [], b = missing', { line: 1, column: 34 }],
    ['an error in a callback', '[1].map((x: number) => {\n  return x.y.z\n})', { line: 2, column: 10 }],
    ['an error after an answer', 'await tools.core.echo({})\n\nnull.x', { line: 3 }],
    [
      'a value that is not an error',
      'throw { code: 5 }',
      { message: expect.stringContaining('not an Error: {"code":5}') },
    ],
    ['null', 'throw null', { message: 'The script threw a value that is not an Error: null' }],
    ['an error that throws', 'throw new Proxy(new Error(), { get() { throw 1 } })', { kind: 'SCRIPT_ERROR' }],
    [
      'two arguments',
      '\nawait tools.core.echo({}, 1)',
      { line: 2, message: expect.stringContaining('takes one object') },
    ],
    ['a query that is not a text', 'await tools.$search(5)', { message: expect.stringContaining('takes a string') }],
    ['an unknown tool', 'await tools.core.fs.readTxt({})', { code: 'UNKNOWN_TOOL', line: 1 }],
  ])('of %s says what is wrong and where', async (_, source, expected) => {
    const { outcome, calls } = await run(source)
    expect(outcome).toMatchObject({ status: 'failed', message: expect.stringMatching(/./), ...expected })
    expect(calls.filter(({ tool }) => tool !== 'core/echo')).toEqual([])
  })

  it('names the nearest tools as a script would write them', async () => {
    const { outcome } = await run("tools['my-plugin'].mytool({})")
    expect(outcome).toMatchObject({ message: expect.stringContaining("Nearest: tools['my-plugin']['my-tool']") })
    const namespace = await run('tools.myplugin.mytool({})')
    expect(namespace.outcome).toMatchObject({ message: expect.stringContaining("Nearest: tools['my-plugin'].") })
  })
})

describe('a call', () => {
  it('has a number, its input and its place', async () => {
    const { calls } = await run(
      "const a: number = 1\nawait tools.$search('x')\n  await tools['my-plugin']['my-tool']({ a })",
    )
    expect(calls).toEqual([
      { seq: 1, tool: '$search', input: 'x', line: 2, column: expect.any(Number) },
      { seq: 2, tool: 'my-plugin/my-tool', input: { a: 1 }, line: 3, column: 9 },
    ])
  })

  it('that fails is an Error with code, hint and tool', async () => {
    const source = `try { await tools.mcp.shop.get_item({ id: 7 }) } catch (error) {
      [error instanceof Error, error.message, error.code, error.hint, error.tool]
    }`
    const { outcome } = await run(source, { call: async () => notFound })
    expect(outcome).toMatchObject({ value: [true, 'No item 7.', 'NOT_FOUND', 'List them.', 'mcp/shop.get_item'] })
  })

  it('that fails and is not caught fails the script at its line', async () => {
    const { outcome } = await run('const get = (id) =>\n  tools.mcp.shop.get_item({ id })\nawait get(7)', {
      call: async () => notFound,
    })
    expect(outcome).toMatchObject({
      ...{ status: 'failed', kind: 'SCRIPT_ERROR', message: 'No item 7.', line: 2, column: 18 },
      ...{ code: 'NOT_FOUND', hint: 'List them.', tool: 'mcp/shop.get_item' },
    })
  })

  it('that fails and that nobody awaits does not fail the script', async () => {
    const { outcome } = await run('tools.core.echo({}); 1', { call: async () => notFound })
    expect(outcome).toMatchObject({ status: 'completed', value: 1, unawaited: [1] })
  })

  it('that nobody awaits is answered before the outcome, and what follows from it', async () => {
    const { outcome, calls } = await run('tools.core.echo({ n: 1 }).then(() => tools.core.echo({ n: 2 })); "early"')
    expect(outcome).toMatchObject({ value: 'early', unawaited: [1], usage: { calls: 2 } })
    expect(calls.map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('finds tools and describes them', async () => {
    const { outcome } = await run("[await tools.$search('files'), await tools.$describe('core/echo')]", {
      call: async ({ tool, input }) => ({ ok: true, value: [tool, input] }),
    })
    const value = [
      ['$search', 'files'],
      ['$describe', 'core/echo'],
    ]
    expect(outcome).toMatchObject({ value, usage: { calls: 2 } })
  })

  it('lists the tools of a namespace', async () => {
    const tools = ['core/fs.readText', 'core/fs', 'core/fs.__proto__']
    const { outcome } = await run(
      "[Object.keys(tools.core), Object.keys(tools.core.fs), 'fs' in tools.core, 'x' in tools.core, (await tools.core.fs({ a: 1 })).a]",
      { tools },
    )
    expect(outcome).toMatchObject({ value: [['fs'], ['readText', '__proto__'], true, false, 1] })
  })

  it('waits inside the script while 32 are in flight', async () => {
    let [inFlight, most] = [0, 0]
    const { outcome, calls } = await run(
      '(await Promise.all(Array.from({ length: 100 }, (_, n) => tools.core.echo({ n })))).length',
      {
        call: async ({ input }) => {
          most = Math.max(most, ++inFlight)
          await new Promise((resolve) => setImmediate(resolve))
          inFlight--
          return { ok: true, value: input }
        },
      },
    )
    expect(outcome).toMatchObject({ value: 100 })
    expect(most).toBe(32)
    expect(calls.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })
})

describe('a script that runs again', () => {
  const source = `const order = []
    const ask = async (n) => { order.push((await tools.core.echo({ n, r: Math.random(), at: Date.now() })).n) }
    await Promise.all([1, 2, 3, 4, 5].map(async (n) => { await ask(n); await ask(n * 10) }))
    order`

  it('makes the same calls if the answers come in the same order', async () => {
    const order = [3, 1, 2, 6, 5, 4, 7, 9, 10, 8]
    const first = await answerInOrder(source, order)
    const second = await answerInOrder(source, order)
    expect(second.calls).toEqual(first.calls)
    expect(second.outcome).toMatchObject({ value: (first.outcome as { value: unknown }).value })
    const other = await answerInOrder(source, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(other.calls.slice(0, 5)).toEqual(first.calls.slice(0, 5))
    expect(other.calls).not.toEqual(first.calls)
  })

  it('does everything that follows from an answer before it gets the next one', async () => {
    const steps = `const seen = []
      const follow = async (n) => { await tools.core.echo({}); for (const step of [1, 2, 3]) { await null; seen.push(n + step) } }
      await Promise.all([follow(10), follow(20)])
      seen`
    // Both answers travel in one message.
    const { outcome } = await run(steps)
    expect(outcome).toMatchObject({ value: [11, 12, 13, 21, 22, 23] })
  })
})

describe('several scripts', () => {
  it('run concurrently and do not see each other', async () => {
    const source = `globalThis.mine = input
      for (let i = 0; i < 20; i++) if ((await tools.core.echo({ mine })).mine !== input) throw new Error('mixed up')
      mine`
    const reports = await Promise.all(Array.from({ length: 20 }, (_, input) => run(source, { input })))
    expect(reports.map(({ outcome }) => outcome)).toMatchObject(reports.map((_, value) => ({ value })))
  })
})

async function answerInOrder(source: string, order: readonly number[]) {
  const waiting = new Map<number, () => void>()
  let next = 0
  const answerNext = () => {
    const answer = waiting.get(order[next]!)
    if (!answer) return
    next++
    answer()
  }
  return run(source, {
    call: ({ seq, input }) =>
      new Promise((resolve) => {
        waiting.set(seq, () => {
          resolve({ ok: true, value: input })
          setImmediate(answerNext)
        })
        answerNext()
      }),
  })
}
