import { defineFeature, lazyModule } from '@tool-hub/core'
import type { SessionsOptions } from './runner.ts'
import type { MailStore, SessionStore } from './store-types.ts'
import type { SessionHandle, SessionService } from './types.ts'

export type {
  CallbackRunner,
  CommandRunner,
  Runner,
  SessionLimits,
  SessionsOptions,
  SessionWork,
  UrlRunner,
} from './runner.ts'
export type {
  HistoryEntry,
  HistoryPage,
  SessionEntry,
  SessionHandle,
  SessionMessage,
  SessionService,
  SessionStatus,
} from './types.ts'

declare module '@tool-hub/core/feature' {
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

/** Agents that start other agents and exchange messages with them. */
export const sessions = defineFeature({
  name: 'sessions',
  capability: 'session',
  create: async (options, host) => (await load()).createSessions(options, host),
  methods: ['list', 'find', 'history', 'send', 'spawn', 'end', 'runners'],
  programs: ({ runners = {} }) =>
    Object.values(runners).flatMap((runner) =>
      runner.type === 'command' ? [{ argv: runner.argv, cwd: runner.cwd }] : [],
    ),
  inService: {
    // The first use of sessions ends those that a killed process left.
    start: { problem: 'Old sessions could not be ended', run: ({ sessions }) => sessions.list({ limit: 1 }) },

    async describeRun(run, { sessions }) {
      const session = await sessions.find(run)
      if (!session) return undefined
      const { rootPrincipal: principal, label, task: goal, runner, state } = session
      const isBusy = runner !== undefined && state === 'running'
      return { principal, label, goal, ...(isBusy && { busy: ['Its session is running.', 'End the session first.'] }) }
    },

    async principals({ sessions }, limit) {
      const running = await sessions.list({ state: 'running', limit })
      return running.filter(({ runner }) => runner !== undefined).map(({ rootPrincipal }) => rootPrincipal)
    },
  },
  command: { name: 'sessions', summary: 'List agent sessions, write to them, end them' },
})
