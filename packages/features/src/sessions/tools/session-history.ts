import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { quoteText, sessionMessage, sessionName, showMessage } from './session-shapes.ts'

/** Other names were called but do not exist; they are shown quoted. */
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

/** Reads the history of a session. */
export const sessionHistory = defineTool({
  name: 'core/session.history',
  title: 'History of a session',
  description:
    'Read the history of a session that you can see: its calls with their summaries and the messages it sent and received, oldest first. ' +
    'Default: the newest entries. Use it to learn what another agent did. Not for its state or result: use core/session.status.',
  input: z.strictObject({
    session: sessionName,
    limit: z.int().min(1).max(200).default(50).describe('Maximum number of entries.'),
    before: place.describe('The earlier value of a page: returns the entries before it.'),
    after: place.describe('The later value of a page: returns the entries after it.'),
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
