import { type Rule, type SourcedRule, ToolError } from '@tool-hub/core'
import { escapeText } from '@tool-hub/core/lib'
import { describeWarning, type PolicyWarning } from '@tool-hub/policy'
import { checkRules, sourced } from './hub-policy.ts'
import type { HubRuntime } from './runtime.ts'

/** The most findings that are reported one by one. */
const MAX_REPORTED = 10

/**
 * Reports what is doubtful about the rules, so that a mistyped rule is noticed although nobody calls `hub.check()`: as
 * warnings after the first call, or, with `strict`, as the error of every call.
 */
export class RuleDoubts {
  readonly #runtime: () => HubRuntime
  readonly #isStrict: boolean
  /** Whether there is nothing to report any more. */
  isReported = false
  /** With `strict`, every call waits for it: rejected if the rules have findings, `undefined` if they have none. */
  pending: Promise<void> | undefined

  constructor(runtime: () => HubRuntime, { isStrict }: { readonly isStrict: boolean }) {
    this.#runtime = runtime
    this.#isStrict = isStrict
  }

  /** Begins the check of `strict`, when all plugins and sources of the options were added. */
  start(): void {
    if (this.#isStrict) this.#refuseLater()
  }

  /** Emits the findings as warnings, once, and only those that are certain now. */
  report(): void {
    this.isReported = true
    if (this.#isStrict) return
    // Apart from the call: it does not wait for the check.
    this.#whenStarted().then(
      () => setImmediate(() => warnOf(this.#findings())),
      // Every call fails with the error of the plugin.
      () => {},
    )
  }

  /** Throws, with `strict`, if rules that are about to replace the owner's have findings. */
  test(rules: readonly (Rule | SourcedRule)[]): void {
    if (this.#isStrict) refuse(this.#findings(rules))
    this.isReported = false
  }

  #refuseLater(): void {
    const checking = this.#whenStarted().then(() => {
      refuse(this.#findings())
      if (this.pending === checking) this.pending = undefined
    })
    this.pending = checking
    // The error is not lost: every call waits for this promise and fails with it.
    checking.catch(() => {})
  }

  /** Until then a rule may name a tool that is not there yet. */
  async #whenStarted(): Promise<void> {
    const { plugins, sources } = this.#runtime()
    await plugins.pending
    await sources.ready()
  }

  #findings(rules?: readonly (Rule | SourcedRule)[]): readonly PolicyWarning[] {
    const runtime = this.#runtime()
    const layers = rules ? { ...runtime.rules.layers, owner: rules.map(sourced) } : runtime.rules.layers
    return checkRules(runtime, layers, { onlyCertain: true })
  }
}

function refuse(findings: readonly PolicyWarning[]): void {
  if (findings.length === 0) return
  throw new ToolError(
    'CONFIG_INVALID',
    `The rules are doubtful, and strict refuses that. ${findings.map(describeWarning).join(' ')}`,
    {
      hint: 'Correct the rules: hub.check() returns what is doubtful.',
    },
  )
}

function warnOf(findings: readonly PolicyWarning[]): void {
  const left = findings.length - MAX_REPORTED
  const texts = findings.slice(0, MAX_REPORTED).map(describeWarning)
  // Escaped, because names may come from outside and must not contain terminal sequences.
  for (const text of [...texts, ...(left > 0 ? [`${left} more doubts about the rules: see hub.check().`] : [])])
    process.emitWarning(escapeText(text), 'ToolHubWarning')
}
