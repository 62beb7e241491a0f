import { defineFeature, lazyModule } from '../../core/index.ts'
import { sessionHistory } from './tools/session-history.ts'
import { sessionList } from './tools/session-list.ts'
import { sessionSend } from './tools/session-send.ts'
import { sessionSpawn } from './tools/session-spawn.ts'
import { sessionStatus } from './tools/session-status.ts'

const load = lazyModule(() => import('./create-sessions.ts'))

/** Agents that agents start, and what they say to each other. */
export const sessions = defineFeature({
  name: 'sessions',
  capability: 'session',
  create: async (options, host) => (await load()).createSessions(options, host),
  methods: ['list', 'find', 'history', 'send', 'spawn', 'end', 'runners'],
  tools: [sessionHistory, sessionList, sessionSend, sessionSpawn, sessionStatus],
})
