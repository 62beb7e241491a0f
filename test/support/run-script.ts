import { expect } from 'vitest'
import {
  DEFAULT_SCRIPT_LIMITS,
  type ScriptAnswer,
  type ScriptCall,
  type ScriptCallControl,
  type ScriptEngine,
  type ScriptLimits,
  type ScriptLog,
  type ScriptOutcome,
  type ScriptRun,
} from '../../packages/code/src/engine/index.ts'

/** What differs from a script that only echoes its calls. */
export interface RunScriptOptions extends Partial<Omit<ScriptRun, 'limits' | 'host' | 'source'>> {
  readonly limits?: Partial<ScriptLimits>
  readonly call?: (call: ScriptCall, control: ScriptCallControl) => Promise<ScriptAnswer>
}

/** What became of a script, with everything that its host saw. */
export interface ScriptReport {
  readonly outcome: ScriptOutcome
  readonly calls: readonly ScriptCall[]
  readonly logs: readonly ScriptLog[]
}

/** Runs a script whose tools answer with their input. */
export async function runScript(
  engine: ScriptEngine,
  source: string,
  { limits, call = async ({ input }) => ({ ok: true, value: input }), ...rest }: RunScriptOptions = {},
): Promise<ScriptReport> {
  const calls: ScriptCall[] = []
  const logs: ScriptLog[] = []
  const outcome = await engine.run({
    source,
    input: null,
    now: Date.UTC(2026, 0, 2),
    seed: 'seed',
    limits: { ...DEFAULT_SCRIPT_LIMITS, ...limits },
    tools: ['core/fs.readText', 'core/echo', 'mcp/shop.get_item', 'my-plugin/my-tool'],
    signal: new AbortController().signal,
    host: {
      call: async (made, control) => {
        calls.push(made)
        return call(made, control)
      },
      log: (entry) => void logs.push(entry),
    },
    ...rest,
  })
  return { outcome, calls, logs }
}

/** A script that tries to get more than it may. */
export interface ScriptAttack {
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

/** Runs a script that tries to get more than it may, and then another one, which must not notice. */
export async function withstand(
  engine: ScriptEngine,
  { source, options, without, kind, message, ...expected }: ScriptAttack,
): Promise<void> {
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
}
