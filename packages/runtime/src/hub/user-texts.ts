import { type Clock, isUserText, ToolError, type UserText, type UserTextStore } from '@tool-hub/core'
import { after } from '@tool-hub/core/lib'
import { UserWords, type ValueEvidence } from '@tool-hub/policy'
import type { UserTextAdded } from '../records/log/index.ts'
import type { Redactor } from '../records/redaction/index.ts'
import type { Call } from './pipeline/call.ts'
import type { RunMoment } from './run-index/run-moments.ts'
import type { RunState } from './run-state.ts'

/** What a run keeps of the user's words; the oldest are dropped first. */
const MAX_CHARS = 65_536
/** How many texts of a list are taken: the newest. */
const MAX_TEXTS = 200

/** Evidence of a run without the user's words: nothing comes from the user. */
const NO_EVIDENCE: ValueEvidence = { hasUserText: false, isFromUser: () => false, isApproved: () => false }

/** The user's own words, by run: rules and provenance look for the values of calls in them. */
export class UserTexts {
  readonly #store: UserTextStore
  readonly #redactor: Redactor
  readonly #clock: Clock
  /** Texts of a run are added one after the other, so that calls that are made together add each text once. */
  readonly #adding = new WeakMap<RunState, Promise<void>>()

  /** Whether this process has added any text: a run may get some before its first call. */
  #hasAdded = false

  constructor(options: { readonly store: UserTextStore; readonly redactor: Redactor; readonly clock: Clock }) {
    this.#store = options.store
    this.#redactor = options.redactor
    this.#clock = options.clock
  }

  /** Adds the words of a call, and makes those of its run known. Returns a promise only if the store does. */
  prepare(run: RunState, texts: UserText | undefined): Promise<void> | undefined {
    if (texts === undefined && run.records?.isNew && !this.#hasAdded) {
      // Nobody has said anything in it yet: a store that nothing else needs is not opened for it.
      run.evidence = NO_EVIDENCE
      return undefined
    }
    if (texts === undefined) return this.#load(run)
    return texts.length === 0 && run.evidence ? undefined : this.add(run, texts)
  }

  /** Makes words known for one call, and for those it makes: they may belong to another conversation than the next. */
  hearOnce(run: RunState, call: Call, texts: UserText = []): void {
    assertUserText(texts)
    const said = newest([texts].flat()).map((text) => this.#redactor.text(text).trim())
    call.words = said.length > 0 ? evidenceOf(new UserWords(said)) : NO_EVIDENCE
    for (const text of said) run.records?.append({ ...recorded(text), forCall: call.id })
  }

  /** Adds what the user said and the run does not know yet. Secrets are removed before it is stored. */
  async add(run: RunState, texts: UserText): Promise<void> {
    assertUserText(texts)
    this.#hasAdded = true
    const said = newest([texts].flat())
    const adding = (this.#adding.get(run) ?? Promise.resolve()).then(() => this.#addNew(run, said))
    const settled = adding.catch(() => {})
    this.#adding.set(run, settled)
    await adding
  }

  async #addNew(run: RunState, texts: readonly string[]): Promise<void> {
    const known = new Set(await this.#store.list(run.id))
    const before = known.size
    for (const text of texts) {
      const said = this.#redactor.text(text).trim()
      if (said === '' || known.has(said)) continue
      known.add(said)
      await this.#store.add(run.id, said, { maxChars: MAX_CHARS, at: this.#clock.now() })
      run.records?.append(recorded(said))
    }
    if (!run.evidence || known.size > before) await this.#load(run)
  }

  /**
   * Returns what was known of the user's words at a moment of a record. The record has the beginning of a long text, and the
   * store all of it for as long as it is kept. If words are missing, several answers are possible: the strictest counts.
   */
  async recall(run: string, { userTexts, isBroken }: RunMoment): Promise<readonly ValueEvidence[]> {
    const said = withinRun(userTexts)
    const kept = said.some(isCut) ? await this.#store.list(run) : []
    let isWhole = !isBroken
    const texts = said.map((each) => {
      const { text, chars } = each
      const found = isCut(each) ? kept.find((other) => other.length === chars && other.startsWith(text)) : text
      isWhole &&= found !== undefined
      return found ?? cutAtBlank(`${text} …`, text.length)
    })
    const known = evidenceOf(new UserWords(texts))
    if (isWhole) return [known]
    const unknown = [known, { ...known, hasUserText: true }, { ...known, hasUserText: true, isFromUser: () => true }]
    return unknown.slice(known.hasUserText ? 1 : 0)
  }

  #load(run: RunState): Promise<void> | undefined {
    const loading = after(this.#store.list(run.id), (texts) => {
      run.evidence = evidenceOf(new UserWords(texts))
    })
    return loading instanceof Promise ? loading : undefined
  }
}

/** How much of a text the record keeps. */
const MAX_RECORDED_CHARS = 2_000

function recorded(text: string): UserTextAdded {
  return { type: 'user-text-added', chars: text.length, text: text.slice(0, MAX_RECORDED_CHARS) }
}

function assertUserText(texts: unknown): asserts texts is UserText {
  if (!isUserText(texts)) throw new ToolError('INPUT_SCHEMA_INVALID', 'userText must be a text or a list of texts.')
}

type RecordedText = RunMoment['userTexts'][number]

function isCut({ text, chars }: RecordedText): boolean {
  return text.length < chars
}

/** The texts that the run still had after the last of them: the oldest are dropped first. */
function withinRun(texts: readonly RecordedText[]): readonly RecordedText[] {
  let left = MAX_CHARS
  const first = texts.findLastIndex(({ chars }) => {
    left -= chars
    return left < 0
  })
  return texts.slice(first + 1)
}

function evidenceOf(words: UserWords): ValueEvidence {
  if (words.isEmpty) return NO_EVIDENCE
  return {
    hasUserText: true,
    isFromUser: (value, budget, asked) => words.has(value, budget, asked),
    isApproved: () => false,
  }
}

/**
 * The newest texts that fit into a run, oldest first. A conversation is passed whole with every call: if its oldest texts
 * were added again each time, they would push out the newest.
 */
function newest(texts: readonly string[]): readonly string[] {
  const taken: string[] = []
  let left = MAX_CHARS
  for (const text of texts.toReversed()) {
    if (text.trim() === '') continue
    if (taken.length === MAX_TEXTS || (taken.length > 0 && text.length > left)) break
    taken.unshift(cutAtBlank(text, MAX_CHARS))
    left -= text.length
  }
  return taken
}

/** Half of an address is another address, and half of a secret is not recognised: a text is cut between words. */
function cutAtBlank(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const cut = text.slice(0, maxChars)
  return cut.slice(0, Math.max(0, ...[' ', '\n', '\t'].map((blank) => cut.lastIndexOf(blank))))
}
