import type { Clock } from '../clock.ts'
import { ToolError } from '../errors.ts'
import type { QuestionReply } from '../options.ts'
import type { QuestionRequest } from '../result.ts'
import type { Ask } from '../store.ts'
import { answerQuestion } from './answer-ask.ts'
import type { AskBoard } from './ask-board.ts'
import { AskDesk } from './ask-desk.ts'
import type { AskKind, AskWays, Reply } from './ask-kind.ts'
import { fitAnswer } from './fit-answer.ts'
import { GivenAnswer } from './given-answer.ts'

/** Who answers a question, and by which way. */
export interface Answerer {
  readonly by?: string
  readonly via?: string
}

/** Where tools wait for the person behind the agent: code that answers, whoever watches, and the store. */
export class QuestionDesk {
  readonly #board: AskBoard
  readonly #clock: Clock
  readonly #desk: AskDesk<QuestionRequest, QuestionReply>

  constructor(options: {
    readonly clock: Clock
    readonly board: AskBoard
    readonly waitsInStore: boolean
    readonly outlives: boolean
  }) {
    this.#board = options.board
    this.#clock = options.clock
    this.#desk = new AskDesk({ ...options, kind: KIND })
  }

  /** Waits for the answer; `lost` when it was for another call: ask again. */
  async ask(
    request: QuestionRequest,
    signal: AbortSignal,
    ways: AskWays<QuestionRequest, QuestionReply>,
  ): Promise<Reply<QuestionReply> | 'lost'> {
    return this.#desk.ask(request, signal, { ...ways, check: async (reply) => void (await fitAnswer(request, reply)) })
  }

  /** The same question of the same call that waits, or whose answer nobody has used. */
  adopt(asked: { readonly hash: string; readonly caller: string }): Promise<Ask | undefined> {
    return this.#desk.adopt(asked)
  }

  /** Uses an answer that came while nobody waited; like `ask`. */
  useAnswer(ask: Ask, request: QuestionRequest): Promise<Reply<QuestionReply> | 'lost'> {
    return this.#desk.useAnswer(ask, request)
  }

  /** What waits for an answer, oldest first. */
  list(): QuestionRequest[] {
    return this.#desk.list()
  }

  /** Whether this answer was the first, also over processes. */
  async reply(id: string, reply: QuestionReply, whose?: Answerer): Promise<boolean> {
    return (await this.answer(id, reply, whose)) === true
  }

  /** Answers a question of any process: false when somebody was faster, undefined when there is none with this id. */
  async answer(id: string, reply: QuestionReply, { by, via }: Answerer = {}): Promise<boolean | undefined> {
    if (this.#desk.find(id)) return this.#desk.answer(id, { reply, by, via } satisfies Given)
    return answerQuestion(this.#board, id, { reply, by, via }, this.#clock.now())
  }

  /** Tells of every new question; what waits already is in `list`. Returns how to stop watching. */
  watch(listener: (request: QuestionRequest) => void): () => void {
    return this.#desk.watch(listener)
  }

  close(): Promise<void> {
    return this.#desk.close()
  }
}

/** An answer with whose it is, as it comes to the desk. */
export interface Given extends Answerer {
  readonly reply: unknown
}

const KIND: AskKind<QuestionRequest, QuestionReply> = {
  kind: 'question',
  read: (given, request) => {
    const { reply, by, via } = whoseOf(given as Given)
    const isText = typeof reply === 'string'
    if (!isText && (!request.form || typeof reply !== 'object' || reply === null)) throw noAnswer(request, reply)
    return { answer: reply as QuestionReply, by, via }
  },
  encode: ({ answer, by = 'person', via = 'library' }) => ({ reply: JSON.stringify(answer), by, via }),
  decode: ({ reply, by, via }, request) => KIND.read({ reply: JSON.parse(reply), by, via }, request),
  unavailable: ({ tool }, why, cause) =>
    new ToolError('APPROVAL_UNAVAILABLE', `${tool} has a question and ${why}.`, {
      hint: 'Make the hub with onQuestion, or go on without the answer.',
      cause,
    }),
  failed: (_, cause) => cause,
  nonsense: (_, cause) => cause,
  timedOut: ({ tool, askedAt, expiresAt }) =>
    new ToolError(
      'APPROVAL_TIMEOUT',
      `Nobody answered ${tool} within ${Date.parse(expiresAt) - Date.parse(askedAt)} ms.`,
    ),
  aborted: (_, signal) => signal.reason,
  leftBehind: ({ id, tool }) =>
    new ToolError('APPROVAL_UNAVAILABLE', `${tool} has a question and nobody has answered yet.`, {
      hint: `${id} still waits for an answer. Repeat the same call: it continues to wait, or uses the answer.`,
    }),
}

/** Code that answers for somebody may say for whom; from outside nothing comes as such an object. */
function whoseOf(given: Given): Given {
  return given.reply instanceof GivenAnswer ? given.reply : given
}

function noAnswer({ tool }: QuestionRequest, reply: unknown): ToolError {
  return new ToolError('INTERNAL', `onQuestion answered ${tool} with a ${typeof reply}, not a text.`)
}
