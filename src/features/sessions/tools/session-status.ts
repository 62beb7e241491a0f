import { z } from 'zod'
import { defineTool } from '../../../core/index.ts'
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

/** How a session is; one's own with its inbox. */
export const sessionStatus = defineTool({
  name: 'core/session.status',
  title: 'Status of a session',
  description:
    'See how a session is. Without an argument your own: your budget, the agents that you started, and your inbox, whose messages count as ' +
    'read from then on. With session, another one that you see: its state and its result. Use it to look for answers and results. Not for ' +
    'what an agent did step by step: core/session.history.',
  input: z.strictObject({ session: sessionName.optional() }),
  output: z.strictObject({
    session: sessionEntry,
    budget: z.strictObject({ used: usage, limits: usage.partial() }).optional(),
    children: z.array(sessionBrief),
    messages: z.array(sessionMessage).describe('Your inbox, read now.'),
    unread: z.number().describe('Messages that wait still.'),
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
      ...(session.isTainted ? ['It has read content from outside.'] : []),
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
