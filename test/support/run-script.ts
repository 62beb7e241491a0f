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
} from '../../src/features/code/engine/index.ts'

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
      search: async (query) => [`found ${query}`],
      describe: async (name) => ({ name }),
      log: (entry) => void logs.push(entry),
    },
    ...rest,
  })
  return { outcome, calls, logs }
}
