import { type Clock, didYouMean, type Effect, HOOK_NAMES, type Hooks, ToolError, type ToolResult } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { STRICTNESS } from '@tool-hub/policy'
import picomatch from 'picomatch'
import type { Call } from './call.ts'
import type { RegisteredTool } from './registered-tool.ts'

const DEFAULT_TIMEOUT_MS = 5_000

type HookName = (typeof HOOK_NAMES)[number]

/** The functions of `Hooks`, in both forms. */
const FUNCTIONS = [...HOOK_NAMES, 'beforeToolCall', 'afterToolCall'] as const
const KEYS: readonly string[] = [...FUNCTIONS, 'match', 'order', 'timeoutMs']

type HooksWith<N extends HookName> = Hooks & Required<Pick<Hooks, N>>

/**
 * Runs the owner's hooks in order. A hook that throws, times out or returns an invalid value blocks the call. A `settled`
 * hook cannot, because the call has ended: its failure is passed to `onFailure`.
 */
export class HookChain {
  readonly #clock: Clock
  readonly #names = new Set<HookName>()
  /** The kinds of hooks that the owner has set. */
  readonly names: ReadonlySet<HookName> = this.#names
  #hooks: { hooks: Hooks; matches: (tool: RegisteredTool) => boolean }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Throws CONFIG_INVALID for hooks that would never run, such as one under a mistyped name: it may guard something. */
  add(given: Hooks): void {
    checkHooks(given)
    for (const hooks of [given, ...fromToolCallHooks(given)]) {
      this.#hooks.push({ hooks, matches: matcher(hooks.match) })
      for (const name of HOOK_NAMES) if (hooks[name]) this.#names.add(name)
    }
    this.#hooks.sort((a, b) => (a.hooks.order ?? 0) - (b.hooks.order ?? 0))
  }

  /** Returns whether a hook of this name matches the call. */
  looksAt(name: HookName, call: Call): boolean {
    return this.#matching(name, call).length > 0
  }

  /** Lets every `before` hook rewrite the input. */
  async before(call: Call): Promise<void> {
    for (const hooks of this.#matching('before', call)) {
      const answer = await this.#run('before', hooks, call, () => hooks.before(call.view()))
      if (answer === undefined || answer === null) continue
      if (typeof answer !== 'object' || !Object.hasOwn(answer, 'input'))
        throw nonsense('before', call, '{ input } or nothing')
      call.input = answer.input
    }
  }

  /** Returns the decision after all `decide` hooks, which can only tighten it. */
  async decide(call: Call, effect: Effect): Promise<Effect> {
    let strictest = effect
    for (const hooks of this.#matching('decide', call)) {
      const answer = await this.#run('decide', hooks, call, () => hooks.decide(call.view(), strictest))
      if (answer === undefined || answer === null) continue
      if (!Object.hasOwn(STRICTNESS, answer)) throw nonsense('decide', call, 'allow, ask, deny or nothing')
      if (STRICTNESS[answer] > STRICTNESS[strictest]) strictest = answer
    }
    return strictest
  }

  /** Returns the data after all `after` hooks, and whether any of them changed it. */
  async after(call: Call, result: ToolResult): Promise<{ data: unknown; changed: boolean }> {
    let current = result
    let changed = false
    for (const hooks of this.#matching('after', call)) {
      const answer = await this.#run('after', hooks, call, () => hooks.after(call.view(), current))
      if (answer === undefined || answer === null) continue
      if (typeof answer !== 'object' || !Object.hasOwn(answer, 'data'))
        throw nonsense('after', call, '{ data } or nothing')
      current = { ...current, data: answer.data } as ToolResult
      changed = true
    }
    return { data: current.data, changed }
  }

  /** Calls every `settled` hook, even if one fails. */
  async settled(call: Call, result: ToolResult, onFailure: (error: ToolError) => void): Promise<void> {
    for (const hooks of this.#matching('settled', call)) {
      try {
        await this.#run('settled', hooks, call, () => hooks.settled(call.view(), result))
      } catch (error) {
        onFailure(error as ToolError)
      }
    }
  }

  /** Returns the hooks of this name that match the call, in order. */
  #matching<N extends HookName>(name: N, { found }: Call): HooksWith<N>[] {
    const isMatch = (hooks: Hooks): hooks is HooksWith<N> => Boolean(hooks[name])
    return this.#hooks
      .filter(({ matches }) => found !== undefined && matches(found.tool))
      .map(({ hooks }) => hooks)
      .filter(isMatch)
  }

  async #run<T>(name: HookName, hooks: Hooks, call: Call, run: () => T): Promise<Awaited<T>> {
    const timeoutMs = hooks.timeoutMs ?? DEFAULT_TIMEOUT_MS
    let cancel: () => void = () => {}
    const late = new Promise<never>((_, reject) => {
      cancel = this.#clock.after(timeoutMs, () => reject(failed(name, call, `did not answer within ${timeoutMs} ms`)))
    })
    try {
      return await Promise.race([run(), late])
    } catch (error) {
      throw ToolError.is(error) ? error : failed(name, call, 'failed', error)
    } finally {
      cancel()
    }
  }
}

function checkHooks(hooks: Hooks): void {
  if (typeof hooks !== 'object' || hooks === null) throw unusable('Hooks are an object with functions.')
  // An instance of a class may have fields of its own.
  for (const key of isPlainObject(hooks) ? Object.keys(hooks) : [])
    if (!KEYS.includes(key)) throw unusable(`Unknown hook ${JSON.stringify(key)}.`, didYouMean(key, KEYS))
  for (const name of FUNCTIONS)
    if (hooks[name] !== undefined && typeof hooks[name] !== 'function')
      throw unusable(`The hook ${name} is not a function.`)
  if (!isPlainObject(hooks) && !FUNCTIONS.some((name) => hooks[name])) throw unusable('The hooks have no function.')
}

function unusable(message: string, hint = ''): ToolError {
  return new ToolError('CONFIG_INVALID', message, { hint: hint || `The hooks are ${FUNCTIONS.join(', ')}.` })
}

/** The hooks in the form of the engine format, as `before` and `after`. */
function fromToolCallHooks(hooks: Hooks): Hooks[] {
  if (!hooks.beforeToolCall && !hooks.afterToolCall) return []
  const { match, order, timeoutMs } = hooks
  return [
    {
      match,
      order,
      timeoutMs,
      before:
        hooks.beforeToolCall &&
        (async (call) => {
          const input = await hooks.beforeToolCall?.(call.tool, call.input, call)
          return input === undefined || input === null ? undefined : { input }
        }),
      after:
        hooks.afterToolCall &&
        (async (call, result) => {
          const data = await hooks.afterToolCall?.(call.tool, call.input, result.data, call)
          return data === undefined || data === null ? undefined : { data }
        }),
    },
  ]
}

function matcher(match: Hooks['match']): (tool: RegisteredTool) => boolean {
  if (match === undefined) return () => true
  const patterns = [match].flat()
  const globs = patterns.map((pattern) => picomatch(pattern, { dot: true }))
  return ({ names, groups, capabilities }) =>
    [...names, ...groups, ...capabilities].some(
      (name) => patterns.includes(name) || globs.some((isMatch) => isMatch(name)),
    )
}

function failed(name: HookName, call: Call, what: string, cause?: unknown): ToolError {
  return new ToolError('POLICY_DENIED', `The ${name} hook ${what}, so ${call.name} is blocked.`, {
    hint: `Fix the ${name} hook; its error is in the audit log.`,
    details: { hook: name },
    cause,
  })
}

function nonsense(name: HookName, call: Call, wanted: string): ToolError {
  return failed(name, call, `returned something other than ${wanted}`)
}
