import { type FeatureCall, type FeatureHost, ToolError } from '@tool-hub/core'
import type { KeepLongAnswer, ScriptLedger } from './ledger.ts'
import type { ScriptKeeper, ScriptSetup } from './script-session.ts'
import type { LedgerLine, ScriptResult, StoredScript } from './types.ts'

const MAX_ANSWER_BYTES = 64 * 1024 * 1024

interface KeeperOptions {
  readonly setup: ScriptSetup
  readonly owner: string
  readonly isStored: boolean
  readonly kept: number
}

/** Keeps a script in the store, and its long answers as artifacts of the run. */
export class StoreKeeper implements ScriptKeeper {
  readonly #host: FeatureHost
  readonly #call: FeatureCall
  readonly #setup: ScriptSetup
  readonly #owner: string
  readonly problem: string | undefined
  isStored: boolean
  #kept: number

  constructor(host: FeatureHost, call: FeatureCall, { setup, owner, isStored, kept }: KeeperOptions) {
    this.#host = host
    this.#call = call
    this.#setup = setup
    this.#owner = owner
    this.isStored = isStored
    this.#kept = kept
    this.problem = problemOf(host, setup)
  }

  async keep(ledger: ScriptLedger): Promise<void> {
    const keep: KeepLongAnswer = async (json) => {
      const options = { name: 'answer.json', mediaType: 'application/json' }
      return (await this.#call.artifact(json, options)).ref
    }
    const lines = await ledger.linesFrom(this.#kept + 1, keep)
    const { scripts } = this.#host.store
    if (this.isStored) for (const line of lines) await this.#append(line)
    else await scripts.add(this.#script(), lines)
    this.isStored = true
    this.#kept += lines.length
  }

  async #append(line: LedgerLine): Promise<void> {
    const { id } = this.#setup
    if (await this.#host.store.scripts.append(id, line, this.#owner)) return
    throw new ToolError('RUN_MOVED', `Script ${id} was taken over by another process.`)
  }

  /** Stores what became of the script, if it is stored at all. */
  async settle(result: ScriptResult, approvals: readonly string[]): Promise<void> {
    if (!this.isStored) return
    // Who stops the call that continues a script has not cancelled the script.
    const isStopped = result.kind === 'ABORTED'
    const isOver = result.status !== 'suspended' && !isStopped
    await this.#host.store.scripts.change({
      id: this.#setup.id,
      from: this.#owner,
      status: isStopped ? 'suspended' : result.status,
      owner: null,
      approvals: isOver || isStopped ? [] : approvals,
      ...(isOver && { outcome: JSON.stringify(result) }),
      at: this.#host.clock.now(),
    })
  }

  async read(ref: string): Promise<string> {
    const bytes = await this.#host.artifact(this.#call.run, ref, { maxBytes: MAX_ANSWER_BYTES })
    return Buffer.from(bytes).toString('utf8')
  }

  async isFiled(approval: string): Promise<boolean> {
    const state = (await this.#host.store.approvals.find(approval))?.state
    return state === 'waiting' || state === 'answered'
  }

  #script(): StoredScript {
    const { id, source, sha256: hash, ...setup } = this.#setup
    const { run, caller, principal } = this.#call
    const now = this.#host.clock.now()
    return {
      id,
      run,
      caller,
      ...(principal !== undefined && { principal }),
      sha256: hash,
      source,
      setup: JSON.stringify(setup),
      status: 'running',
      approvals: [],
      owner: this.#owner,
      createdAt: setup.now,
      updatedAt: now,
    }
  }
}

/** Why a script cannot be suspended; `undefined` if it can. */
function problemOf({ archives, redact }: FeatureHost, { source, input }: ScriptSetup): string | undefined {
  if (archives === undefined) return 'This hub keeps no records.'
  const text = `${source}\n${JSON.stringify(input)}`
  return redact(text) === text ? undefined : 'It contains a secret, which is not stored.'
}
