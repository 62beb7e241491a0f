import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { CALL_MS, sessionMessage, sessionName, sessionState, showMessage, waitMs } from './session-shapes.ts'

/** Sends a message to another session. */
export const sessionSend = defineTool({
  name: 'core/session.send',
  title: 'Write to a session',
  description:
    'Send a message to a session that you can see, or to owner, the person who owns the hub; with waitMs, wait for the answer. ' +
    'It is stored even if no answer arrives in time: status timeout is not a failure, the answer will arrive in your inbox (core/session.status). ' +
    'Use replyTo to answer a message. Not for starting an agent: use core/session.spawn.',
  input: z.strictObject({
    session: sessionName,
    message: z.string().min(1).max(20_000).describe('The text.'),
    waitMs: waitMs.default(0).describe('How long to wait for an answer, in milliseconds; 0 does not wait.'),
    replyTo: z
      .string()
      .regex(/^message-[0-9a-f]{16}$/, 'must be the id that came with the message, message-…')
      .optional()
      .describe('Id of the message that this one answers.'),
  }),
  output: z.strictObject({
    message: z.string().describe('Id of the message.'),
    session: z.string(),
    status: z.enum(['sent', 'replied', 'timeout', 'ended']),
    reply: sessionMessage.optional(),
    state: sessionState.describe('State of the other session.'),
    reason: z.string().optional(),
  }),
  capabilities: ['session'],
  targets: ({ session }) => ({ session }),
  timeoutMs: CALL_MS,
  category: 'sessions',
  tags: ['session', 'agent', 'message'],
  version: '1.0.0',
  examples: [
    {
      input: { session: 'researcher', message: 'Which source says so?', waitMs: 60_000 },
      note: 'waits for the answer',
    },
    { input: { session: 'parent', message: 'Half of it is done.' } },
  ],
  dialects: { coding: { name: 'sessions_send' } },
  async execute({ session, message: text, waitMs, replyTo }, ctx) {
    const outcome = await ctx.sessions.send(session, { text, waitMs, replyTo })
    ctx.evidence({ type: 'tool', ref: outcome.message, summary: `message to ${outcome.session}: ${outcome.status}` })
    return outcome
  },
  toModel({ message, session, status, reply, state, reason }) {
    if (reply) return showMessage(reply)
    if (status === 'ended') return `${session} is ${state} and did not answer ${message}.${reason ? ` ${reason}` : ''}`
    if (status === 'timeout')
      return `${message} is in the inbox of ${session}; no answer in time. Check your inbox later with core/session.status.`
    return `${message} is in the inbox of ${session}.`
  },
})
