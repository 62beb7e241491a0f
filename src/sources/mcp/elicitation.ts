import type { ElicitResult } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { BaseContext } from '../../define.ts'
import { ToolError } from '../../errors.ts'
import { escapeLine, escapeText } from '../../value/escape-text.ts'
import { ElicitationForm } from './elicitation-form.ts'

const QUESTION_CHARS = 4_000

const Request = z.discriminatedUnion('mode', [
  z.looseObject({ mode: z.literal('url'), message: z.string(), url: z.string() }),
  z.looseObject({ mode: z.literal('form').optional(), message: z.string(), requestedSchema: ElicitationForm }),
])

/** Puts what a server asks to the person behind the very call that it asks for. Addresses are told, never opened. */
export async function answerElicitation(server: string, params: unknown, ctx: BaseContext): Promise<ElicitResult> {
  const parsed = Request.safeParse(params)
  if (!parsed.success) {
    ctx.notice(
      `${server} asked something that is no question: ${escapeLine(z.prettifyError(parsed.error)).slice(0, 300)}`,
    )
    return { action: 'cancel' }
  }
  const { data } = parsed
  const message = escapeText(data.message.slice(0, QUESTION_CHARS))
  if (data.mode === 'url') {
    ctx.notice(
      `${server} wants you to open ${escapeLine(data.url.slice(0, QUESTION_CHARS))} (${message}). It was told no.`,
    )
    return { action: 'decline' }
  }
  try {
    const question = `The MCP server ${server} asks: ${message}`
    const { values = {} } = await ctx.ask({ question, form: data.requestedSchema })
    return { action: 'accept', content: values as ElicitResult['content'] }
  } catch (error) {
    if (ctx.signal.aborted) throw error
    const isNo = ToolError.is(error) && error.code === 'APPROVAL_DENIED'
    ctx.notice(
      `${server} asked ${JSON.stringify(message.slice(0, 200))} and got no answer: ${escapeLine(String((error as Error).message))}`,
    )
    return { action: isNo ? 'decline' : 'cancel' }
  }
}
