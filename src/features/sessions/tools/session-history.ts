import { z } from 'zod'
import { defineTool } from '../../../core/index.ts'
import { quoteText, sessionMessage, sessionName, showMessage } from './session-shapes.ts'

/** Anything else was called by somebody, and is not there. */
const PLAIN_NAME = /^[\w./-]+$/

const place = z.string().max(40).optional()

const entry = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('call'),
    at: z.string(),
    callId: z.string(),
    tool: z.string(),
    status: z.string(),
    summary: z.string(),
    isUntrusted: z.boolean(),
  }),
  z.strictObject({ type: z.literal('message'), at: z.string(), message: sessionMessage }),
])

/** What happened in a session. */
export const sessionHistory = defineTool({
  name: 'core/session.history',
  title: 'History of a session',
  description:
    'Read what happened in a session that you see: its calls with their summaries and the messages that it wrote and got, oldest first, ' +
    'the newest part unless you say. Use it to learn what another agent did. Not for its state or result: core/session.status tells those.',
  input: z.strictObject({
    session: sessionName,
    limit: z.int().min(1).max(200).default(50).describe('The most entries.'),
    before: place.describe('earlier of a page: what came before it.'),
    after: place.describe('later of a page: what came after it.'),
  }),
  output: z.strictObject({
    session: z.string(),
    entries: z.array(entry),
    earlier: z.string().optional(),
    later: z.string(),
  }),
  capabilities: ['session'],
  targets: ({ session }) => ({ session }),
  category: 'sessions',
  tags: ['session', 'agent', 'history'],
  version: '1.0.0',
  examples: [
    { input: { session: 'researcher' }, note: 'by its label' },
    { input: { session: 'parent', limit: 10, before: '120.7' }, note: 'the ten entries before that place' },
  ],
  dialects: { coding: { name: 'sessions_history' } },
  async execute({ session, ...wish }, ctx) {
    const page = await ctx.sessions.history(session, wish)
    ctx.evidence({ type: 'tool', ref: page.session, summary: `${page.entries.length} entries of its history read` })
    return { ...page, entries: [...page.entries] }
  },
  toModel({ session, entries, earlier, later }) {
    const lines = entries.map((item) => {
      if (item.type === 'message') return `${item.at} ${showMessage(item.message)}`
      const { at, tool, status, summary, isUntrusted } = item
      return `${at} ${PLAIN_NAME.test(tool) ? tool : JSON.stringify(tool)} ${status}\n${quoteText(summary, { isUntrusted })}`
    })
    const more = [...(earlier === undefined ? [] : [`earlier: before=${earlier}`]), `later: after=${later}`]
    return [`${entries.length} entries of ${session}`, ...lines, more.join(', ')].join('\n')
  },
})
