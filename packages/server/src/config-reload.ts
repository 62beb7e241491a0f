import { stat } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type ConfigRules, readRules } from '@tool-hub/config'
import { type Clock, messageOf, type SourcedRule, ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { ConfigState } from '@tool-hub/core/protocol'
import { compilePolicy, type PolicyWarning } from '@tool-hub/policy'
import type { Hub } from '@tool-hub/runtime/hub'
import { watchFolder } from '@tool-hub/sandbox/system'

/** Keys that only describe the file. */
const WITHOUT_MEANING: ReadonlySet<string> = new Set(['version', '$schema'])

/** Options of `ConfigReload`. */
export interface ConfigReloadOptions {
  /** Absolute. */
  readonly file: string
  /** Folder that file names in messages are relative to. Default: the working folder. */
  readonly cwd?: string
  readonly clock: Clock
  /** Applies the rules and those of the shadow policy; returns whether they differ from those before. */
  readonly apply: (rules: FileRules) => Promise<boolean>
  /** Called when the file changed: its rules were applied, or it was refused. */
  readonly onChange: (state: ConfigState) => void
}

/** The rules that the files have now. */
export type FileRules = Pick<ConfigRules, 'rules' | 'shadow'>

/** The hub whose rules a config has. */
export type RuleHolder = Pick<Hub, 'policyLayers' | 'setPolicy' | 'shadowPolicy' | 'setShadowPolicy' | 'recordChange'>

/** Polling interval, for file systems that report no changes. */
const POLL_MS = 5_000
/** A file is read when it has not changed for this long. */
const SETTLE_MS = 300

/**
 * Applies the rules of the config whenever the file is edited while the service runs. A file that is not valid changes
 * nothing. Sections other than the rules are only compared: they take effect after a restart.
 */
export class ConfigReload {
  readonly #options: ConfigReloadOptions
  readonly #cwd: string
  readonly #stops: (() => void)[] = []
  #atStart: ConfigRules
  #state: ConfigState
  #seen = ''
  #queue: Promise<unknown> = Promise.resolve()
  #cancelPoll = () => {}
  #cancelSettle = () => {}
  #isSettling = false
  #isClosed = false

  constructor(options: ConfigReloadOptions) {
    this.#options = options
    this.#cwd = options.cwd ?? process.cwd()
    this.#atStart = { label: options.file, rules: [], files: [options.file], sections: {} }
    this.#state = { file: options.file, appliedAt: options.clock.now(), restart: [] }
  }

  get state(): ConfigState {
    return this.#state
  }

  /** The problems of the file, as warnings about the policy. */
  warnings(): PolicyWarning[] {
    const { file, problem, restart } = this.#state
    if (problem !== undefined) return [{ level: 'error', message: problem, source: file }]
    if (restart.length === 0) return []
    return [{ level: 'warning', message: restartMessage(this.#state), source: file }]
  }

  /** Remembers the file as it is at the start of the service, and watches it. */
  async start(): Promise<void> {
    try {
      this.#atStart = await readRules(this.#options.file, this.#cwd)
      this.#state = { ...this.#state, file: this.#atStart.label }
    } catch (error) {
      // The options of the service come from elsewhere; the file counts once it is repaired.
      this.#state = { ...this.#state, problem: oneLine(messageOf(error)) }
    }
    this.#seen = await this.#signature()
    const folders = new Set(this.#atStart.files.map((file) => path.dirname(file)))
    for (const folder of folders) this.#stops.push(watchFolder(folder, () => this.#settle(SETTLE_MS)))
    this.#poll()
  }

  /** Reads the file now, whether or not it has changed. */
  reload(): Promise<ConfigState> {
    return this.#inTurn(async () => {
      this.#seen = await this.#signature()
      await this.#read()
      return this.#state
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelPoll()
    this.#cancelSettle()
    for (const stop of this.#stops) stop()
    await this.#queue
  }

  #poll(): void {
    const again = () => {
      this.#settle(0)
      this.#poll()
    }
    if (!this.#isClosed) this.#cancelPoll = this.#options.clock.after(POLL_MS, again, { background: true })
  }

  #settle(ms: number): void {
    if (this.#isClosed || this.#isSettling) return
    this.#isSettling = true
    const look = () => {
      this.#isSettling = false
      void this.#inTurn(() => this.#look())
    }
    this.#cancelSettle = this.#options.clock.after(ms, look, { background: true })
  }

  /** Reads the file if it differs from the one that was read last and has settled. */
  async #look(): Promise<void> {
    const before = await this.#signature()
    if (before === this.#seen) return
    await new Promise<void>((done) => void this.#options.clock.after(SETTLE_MS, done))
    if ((await this.#signature()) !== before) return this.#settle(SETTLE_MS)
    this.#seen = before
    await this.#read()
  }

  async #read(): Promise<void> {
    const before = this.#state
    const { clock, onChange } = this.#options
    let isChanged = false
    try {
      const found = await this.#readAllowed()
      isChanged = await this.#options.apply(found)
      const restart = changedSections(this.#atStart.sections, found.sections)
      this.#state = { file: before.file, appliedAt: isChanged ? clock.now() : before.appliedAt, restart }
    } catch (error) {
      const hint = ToolError.is(error) ? ` ${error.fix.hint}` : ''
      this.#state = { ...before, problem: oneLine(`${messageOf(error)}${hint}`) }
    }
    if (isChanged || !isDeepStrictEqual(before, this.#state)) onChange(this.#state)
  }

  async #readAllowed(): Promise<ConfigRules> {
    const { files } = this.#atStart
    if (files.some((file) => file.endsWith('.mjs')))
      throw new ToolError('CONFIG_INVALID', `${this.#state.file} is a program, which runs once.`, {
        hint: 'Restart the service to use the change.',
      })
    const found = await readRules(this.#options.file, this.#cwd)
    const other = found.files.find((file) => !files.includes(file))
    // Tools cannot write the files that were protected at the start; another file could have been written by a tool.
    if (other !== undefined)
      throw new ToolError('CONFIG_INVALID', `${found.label} names a policy file that is not protected yet: ${other}.`, {
        hint: 'Restart the service to use it.',
      })
    return found
  }

  /** Differs whenever one of the files was changed, replaced or removed. */
  async #signature(): Promise<string> {
    const stats = this.#atStart.files.map(async (file) => {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true })
      return [dev, ino, size, mtimeNs, ctimeNs].join(':')
    })
    return (await Promise.allSettled(stats)).map((found) => (found.status === 'fulfilled' ? found.value : '-')).join()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => {})
    return done
  }
}

/**
 * Applies the rules of a file, all or nothing, and records the change. Returns whether they changed; the place of a rule
 * does not count.
 */
export async function adoptRules(hub: RuleHolder, { rules, shadow }: FileRules, file: string): Promise<boolean> {
  const before = { rules: hub.policyLayers().owner ?? [], shadow: hub.shadowPolicy() }
  compilePolicy({ ...hub.policyLayers(), owner: rules })
  hub.setShadowPolicy(shadow)
  hub.setPolicy(rules)
  const isChanged = !isSame(before.rules, rules)
  const isShadowChanged = !isSame(before.shadow, shadow)
  if (isChanged) await hub.recordChange({ by: 'file', change: 'policy-saved', subject: file })
  if (isShadowChanged) await hub.recordChange({ by: 'file', change: 'shadow-policy-changed', subject: file })
  return isChanged || isShadowChanged
}

function isSame(before: readonly SourcedRule[] | undefined, now: readonly SourcedRule[] | undefined): boolean {
  return isDeepStrictEqual(before?.map(withoutSource), now?.map(withoutSource))
}

function withoutSource({ source: _, ...rule }: SourcedRule): Omit<SourcedRule, 'source'> {
  return rule
}

/** The message for a config file that is refused. */
export function refusedMessage({ file, problem }: ConfigState): string {
  return `${file} has changed and is refused; the rules from before the change hold. ${problem}`
}

/** The message for a config file whose changes need a restart. */
export function restartMessage({ file, restart }: ConfigState): string {
  return `${file}: ${restart.join(', ')} changed; restart the service to use the change.`
}

function changedSections(before: ConfigRules['sections'], now: ConfigRules['sections']): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)].filter((name) => !WITHOUT_MEANING.has(name)))
  return [...names].filter((name) => !isDeepStrictEqual(before[name], now[name])).map(sectionName)
}

/** The key `tools` of the file is `visibility` in the checked config. */
function sectionName(name: string): string {
  return name === 'visibility' ? 'tools' : name
}

function oneLine(message: string): string {
  return escapeLine(message.replaceAll(/\s*\n\s*/g, ' '))
}
