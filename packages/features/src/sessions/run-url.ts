import { ToolError, type WebFetch } from '@tool-hub/core'
import { parseJson, readBody, signWebhook } from '@tool-hub/core/lib'
import { z } from 'zod'
import {
  MAX_CONCURRENT_CALLS,
  MAX_LINE_BYTES,
  resultMessage,
  type SessionTask,
  taskMessage,
  type UrlRunner,
} from './runner.ts'
import { MAX_TEXT_CHARS } from './types.ts'

const MAX_TURNS = 100
const TURN_MS = 120_000

const say = z
  .array(z.object({ text: z.string().min(1).max(MAX_TEXT_CHARS), replyTo: z.string().max(100).optional() }))
  .max(20)
  .default([])

const turnSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('calls'),
    calls: z
      .array(z.object({ id: z.string().min(1).max(200), tool: z.string().min(1).max(200), input: z.unknown() }))
      .max(MAX_CONCURRENT_CALLS),
    say,
  }),
  z.object({ type: z.literal('done'), text: z.string(), say }),
])

type Turn = z.infer<typeof turnSchema>

const fetches = new WeakMap<SessionTask['host'], Map<UrlRunner, WebFetch>>()

/** Runs a session with a service: sends the task, then the results of the calls it requests, until it is done. */
export async function runUrl(runner: UrlRunner, task: SessionTask): Promise<string> {
  const { url, secret, maxTurns = MAX_TURNS, turnTimeoutMs = TURN_MS } = runner
  const { work, host } = task
  if (secret !== undefined) host.hide([secret])
  const fetch = fetchFor(runner, host)
  const ask = async (message: object, number: number): Promise<Turn> => {
    const body = JSON.stringify(message)
    const headers = signWebhook({ id: `${work.id}-${number}`, body, at: host.clock.now() }, secret)
    const late = new AbortController()
    const cancel = host.clock.after(turnTimeoutMs, () => late.abort(tooSlow(turnTimeoutMs)))
    const signal = AbortSignal.any([work.signal, late.signal])
    try {
      return await readTurn(await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal }))
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      cancel()
    }
  }
  let message: object = taskMessage(work)
  for (let number = 1; number <= maxTurns; number++) {
    const turn = await ask(message, number)
    for (const { text, replyTo } of turn.say) await work.say(text, { replyTo })
    if (turn.type === 'done') return turn.text
    const results = turn.calls.map(async ({ id, tool, input }) => resultMessage(id, await work.call(tool, input)))
    message = {
      type: 'results',
      session: work.id,
      results: await Promise.all(results),
      messages: await task.take(),
    }
  }
  throw new ToolError('UPSTREAM_ERROR', `The runner was not done after ${maxTurns} turns.`)
}

/** One client for all sessions of a runner: each keeps its connections until the hub is closed. */
function fetchFor(runner: UrlRunner, host: SessionTask['host']): WebFetch {
  const known = fetches.get(host) ?? new Map<UrlRunner, WebFetch>()
  fetches.set(host, known)
  const { url, turnTimeoutMs = TURN_MS } = runner
  const made = known.get(runner) ?? host.webFetch({ origins: [new URL(url).origin], headersTimeoutMs: turnTimeoutMs })
  known.set(runner, made)
  return made
}

function tooLarge(): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The runner answered with over ${MAX_LINE_BYTES} bytes.`)
}

function tooSlow(ms: number): ToolError {
  return new ToolError('HTTP_TIMEOUT', `The runner did not end its turn within ${ms} ms.`)
}

async function readTurn(response: Response): Promise<Turn> {
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new ToolError('UPSTREAM_ERROR', `The runner answered with the status ${response.status}.`)
  }
  const parsed = turnSchema.safeParse(parseJson(await readBody(response, MAX_LINE_BYTES, tooLarge)))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.') || 'the whole'
  throw new ToolError('UPSTREAM_ERROR', `The runner answered with what is neither calls nor done: ${where} is wrong.`, {
    hint: 'See docs/reference/sessions.md for the turns.',
  })
}
