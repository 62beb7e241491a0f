import type { FeatureServer } from '../../core/index.ts'

/** Sessions in the service: what runs are for, and for whom sessions are running. */
export const sessionsServer: FeatureServer = {
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
}
