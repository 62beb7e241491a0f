import { type Clock, ToolError, type UserTextStore } from '../core/index.ts'
import { after } from '../lib/index.ts'
import { UserWords, type ValueEvidence } from '../policy/index.ts'
import type { Redactor } from '../records/redaction/index.ts'
import type { RunState, Runtime } from './runtime.ts'

/** What a run keeps of the user's words; the oldest are dropped first. */
const MAX_CHARS = 65_536

/** Evidence of a run without the user's words: nothing comes from the user. */
const NO_EVIDENCE: ValueEvidence = { hasUserText: false, isFromUser: () => false, isApproved: () => false }

/** The user's own words, by run: rules and provenance look for the values of calls in them. */
export class UserTexts {
  readonly #store: UserTextStore
  readonly #redactor: Redactor
  readonly #clock: Clock

  constructor(options: { readonly store: UserTextStore; readonly redactor: Redactor; readonly clock: Clock }) {
    this.#store = options.store
    this.#redactor = options.redactor
    this.#clock = options.clock
  }

  /** Adds the words of a call, and makes those of its run known. Returns a promise only if the store does. */
  prepare(run: RunState, texts: string | readonly string[] | undefined): Promise<void> | undefined {
    return texts === undefined ? this.#load(run) : this.add(run, texts)
  }

  /** Adds what the user said. Secrets are removed before it is stored. */
  async add(run: RunState, texts: string | readonly string[]): Promise<void> {
    for (const text of [texts].flat()) {
      if (typeof text !== 'string')
        throw new ToolError('INPUT_SCHEMA_INVALID', 'userText must be a text or a list of texts.')
      const said = this.#redactor.text(text.slice(0, MAX_CHARS)).trim()
      if (said === '') continue
      await this.#store.add(run.id, said, { maxChars: MAX_CHARS, at: this.#clock.now() })
      run.records?.append({ type: 'user-text-added', chars: said.length, text: said.slice(0, MAX_RECORDED_CHARS) })
    }
    await this.#load(run)
  }

  #load(run: RunState): Promise<void> | undefined {
    const loading = after(this.#store.list(run.id), (texts) => {
      const words = new UserWords(texts)
      run.evidence = words.isEmpty
        ? NO_EVIDENCE
        : { hasUserText: true, isFromUser: (value) => words.has(value), isApproved: () => false }
    })
    return loading instanceof Promise ? loading : undefined
  }
}

/** How much of a text the record keeps. */
const MAX_RECORDED_CHARS = 2_000

/** Adds what the user said to a run of this caller. */
export async function addUserText(
  runtime: Runtime,
  text: string | readonly string[],
  { run = runtime.run }: { readonly run?: string },
): Promise<void> {
  const opened = await runtime.runs.open(run, runtime.runOwner)
  await runtime.userTexts.add(opened, text)
  await opened.records?.written()
}
