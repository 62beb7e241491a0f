import type { ElicitResult } from '@modelcontextprotocol/client'
import type { BaseContext } from '../../define.ts'
import { answerElicitation } from './elicitation.ts'

const MOST_WAITING = 8
const MOST_ASKED = 20

/** What a server asks during one call: one question after the other, and not more than a person can answer. */
export class Questions {
  readonly #server: string
  readonly #ctx: BaseContext
  readonly #told = new Set<string>()
  #last: Promise<unknown> = Promise.resolve()
  #open = 0
  #asked = 0
  #isOver = false

  constructor(server: string, ctx: BaseContext) {
    this.#server = server
    this.#ctx = ctx
  }

  get run(): string | undefined {
    return this.#ctx.run
  }

  /** Puts a question to the person, after those before it. */
  ask(params: unknown): Promise<ElicitResult> {
    if (this.#asked >= MOST_ASKED) {
      return this.refuse(`${this.#server} asked more than ${MOST_ASKED} questions; the rest are not answered.`)
    }
    if (this.#open > MOST_WAITING) {
      return this.refuse(
        `${this.#server} asked more than ${MOST_WAITING} questions at once; the rest are not answered.`,
      )
    }
    this.#asked++
    this.#open++
    const answer = this.#last.then(() => this.#answer(params)).finally(() => this.#open--)
    // Whoever asked is told.
    this.#last = answer.catch(() => {})
    return answer
  }

  /** Answers with nothing, and says once why. */
  async refuse(why: string): Promise<ElicitResult> {
    if (!this.#told.has(why) && !this.#isOver) this.#ctx.notice(why)
    this.#told.add(why)
    return { action: 'cancel' }
  }

  /** The call is over: what still waits is asked of nobody. */
  close(): void {
    this.#isOver = true
  }

  async #answer(params: unknown): Promise<ElicitResult> {
    return this.#isOver ? { action: 'cancel' } : answerElicitation(this.#server, params, this.#ctx)
  }
}
