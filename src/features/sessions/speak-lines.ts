import { z } from 'zod'
import { ToolError } from '../../core/errors.ts'
import { escapeLine } from '../../lib/escape-text.ts'
import { LineSplitter } from '../../lib/line-splitter.ts'
import { parseJson } from '../../lib/parse-json.ts'
import { MAX_CONCURRENT_CALLS, MAX_LINE_BYTES, MAX_TEXT_CHARS } from './bounds.ts'
import type { Speak } from './run-command.ts'
import { resultMessage, type SessionTask, taskMessage } from './session-task.ts'

const MAX_SHOWN_CHARS = 200

const lineSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('call'),
    id: z.string().min(1).max(200),
    tool: z.string().min(1).max(200),
    input: z.unknown(),
  }),
  z.object({
    type: z.literal('say'),
    text: z.string().min(1).max(MAX_TEXT_CHARS),
    replyTo: z.string().max(100).optional(),
  }),
  z.object({ type: z.literal('done'), text: z.string() }),
])

type Said = z.infer<typeof lineSchema>

/** A JSON message a line, both ways: it calls tools and says things until it is done. */
export const speakLines: Speak = ({ stdin, stdout }, task) =>
  new Promise((resolve, reject) => {
    const { work } = task
    const lines = new LineSplitter(MAX_LINE_BYTES)
    // Waits until it is taken: what a program does not read stays where it is, and is bounded there.
    const tell = (message: object) =>
      new Promise<void>((taken) => void stdin.write(`${JSON.stringify(message)}\n`, () => taken()))
    let underWay = 0
    let isOver = false
    const finish = (settle: () => void) => {
      isOver = true
      settle()
    }
    const hear = (said: Said) => {
      if (said.type === 'done') return finish(() => resolve(said.text))
      if (said.type === 'say') return void work.say(said.text, said).catch((error) => finish(() => reject(error)))
      if (underWay >= MAX_CONCURRENT_CALLS) throw tooMany()
      underWay++
      work
        .call(said.tool, said.input)
        .then((result) => tell({ type: 'result', ...resultMessage(said.id, result) }))
        .catch((error) => finish(() => reject(error)))
        .finally(() => {
          underWay--
        })
    }
    stdout.on('data', (chunk: Buffer) => {
      if (isOver) return
      try {
        for (const line of lines.push(chunk)) if (!isOver && line.trim() !== '') hear(readLine(line))
      } catch (error) {
        finish(() => reject(error instanceof RangeError ? tooLong(error) : error))
      }
    })
    for (const end of ['close', 'end'] as const) stdout.once(end, () => finish(() => resolve(undefined)))
    void tell(taskMessage(work))
    void passOn(task, tell)
  })

/** What others write to the session goes on to the program as it comes. */
async function passOn({ work }: SessionTask, tell: (message: object) => Promise<void>): Promise<void> {
  try {
    for await (const message of work.messages()) await tell({ type: 'message', ...message })
  } catch {
    // The session is over, and that is told elsewhere.
  }
}

function readLine(line: string): Said {
  const parsed = lineSchema.safeParse(parseJson(line))
  if (parsed.success) return parsed.data
  const shown = JSON.stringify(escapeLine(line.slice(0, MAX_SHOWN_CHARS)))
  throw new ToolError('UPSTREAM_ERROR', `The runner wrote a line that is neither call, say nor done: ${shown}.`, {
    hint: 'See docs/reference/sessions.md for the lines; what is for people belongs on standard error.',
  })
}

function tooLong({ message }: RangeError): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The runner wrote too much: ${message}.`)
}

function tooMany(): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The runner has more than ${MAX_CONCURRENT_CALLS} calls under way at once.`)
}
