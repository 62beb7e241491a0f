import { defineFeature, lazyModule } from '../../core/index.ts'
import type { MailStore, SessionStore } from './store-types.ts'
import { sessionHistory } from './tools/session-history.ts'
import { sessionList } from './tools/session-list.ts'
import { sessionSend } from './tools/session-send.ts'
import { sessionSpawn } from './tools/session-spawn.ts'
import { sessionStatus } from './tools/session-status.ts'
import type { SessionHandle, SessionService, SessionsOptions } from './types.ts'

export { type NewSession, SESSION_AGE_MS, type StoredSession } from './store-types.ts'
export type {
  CallbackRunner,
  CommandRunner,
  HistoryEntry,
  HistoryPage,
  Runner,
  SessionEntry,
  SessionHandle,
  SessionLimits,
  SessionMessage,
  SessionService,
  SessionStatus,
  SessionsOptions,
  SessionWork,
  UrlRunner,
} from './types.ts'

declare module '../../core/feature.ts' {
  interface FeatureHandles {
    /** Other agents: start them, list them and write to them. */
    readonly sessions: SessionHandle
  }
  interface FeatureServices {
    /** Sessions of agents: list, history, messages, start and end; loaded when it is first used. */
    readonly sessions: SessionService
  }
  interface FeatureOptions {
    /** Agents that agents may start, and what they see of each other; docs/reference/sessions.md. */
    readonly sessions?: SessionsOptions
  }
  interface FeatureStores {
    /** Sessions of agents. */
    readonly sessions: SessionStore
    /** Messages between sessions. */
    readonly mail: MailStore
  }
}

const load = lazyModule(() => import('./create-sessions.ts'))

/** Agents that agents start, and what they say to each other. */
export const sessions = defineFeature({
  name: 'sessions',
  capability: 'session',
  create: async (options, host) => (await load()).createSessions(options, host),
  methods: ['list', 'find', 'history', 'send', 'spawn', 'end', 'runners'],
  tools: [sessionHistory, sessionList, sessionSend, sessionSpawn, sessionStatus],
  command: { name: 'sessions', summary: 'List agent sessions, write to them, end them' },
})
