import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import {
  sessionBrief,
  sessionEntry,
  sessionMessage,
  sessionName,
  showBrief,
  showEntry,
  showMessage,
} from './session-shapes.ts'

const usage = z.strictObject({ calls: z.number(), wallMs: z.number(), cost: z.number() })

/** Shows the status of a session, and the inbox of the caller's own. */
export const sessionStatus = defineTool({
  name: 'core/session.status',
  title: 'Status of a session',
  description:
    'Show the status of a session. Without an argument, your own: your budget, the agents that you started, and your inbox, whose messages count as ' +
    'read from then on. With session, another one that you can see: its state and result. Use it to check for answers and results. Not for ' +
    'what an agent did step by step: use core/session.history.',
  input: z.strictObject({ session: sessionName.optional() }),
  output: z.strictObject({
    session: sessionEntry,
    budget: z.strictObject({ used: usage, limits: usage.partial() }).optional(),
    children: z.array(sessionBrief),
    messages: z.array(sessionMessage).describe('Messages of your inbox, now marked as read.'),
    unread: z.number().describe('Number of messages that are still unread.'),
  }),
  capabilities: ['session'],
  targets: ({ session }) => ({ session: session ?? [] }),
  category: 'sessions',
  tags: ['session', 'agent', 'inbox'],
  version: '1.0.0',
  examples: [{ input: {}, note: 'your own, with your inbox' }, { input: { session: 'researcher' } }],
  dialects: { coding: { name: 'session_status' } },
  async execute({ session }, ctx) {
    const status = await ctx.sessions.status(session)
    ctx.evidence({ type: 'tool', ref: status.session.id, summary: `session is ${status.session.state}` })
    return { ...status, children: [...status.children], messages: [...status.messages] }
  },
  toModel({ session, budget, children, messages, unread }) {
    const used =
      budget && Object.entries(budget.used).map(([unit, value]) => `${unit} ${value}${limitOf(budget, unit)}`)
    return [
      showEntry(session),
      ...(session.isTainted ? ['It has read untrusted content.'] : []),
      ...(used ? [`used: ${used.join(', ')}`] : []),
      ...children.map((child) => `child ${showBrief(child)}`),
      ...messages.map(showMessage),
      ...(unread > 0 ? [`${unread} more messages wait.`] : []),
    ].join('\n')
  },
})

function limitOf({ limits }: { limits: Partial<Record<string, number>> }, unit: string): string {
  const limit = limits[unit]
  return limit === undefined ? '' : ` of ${limit}`
}
