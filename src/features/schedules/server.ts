import type { FeatureServer } from '../../core/index.ts'
import { FROM_CONFIG } from './definition.ts'

/** Schedules in the service: the service runs them, and shows with whose rights. */
export const schedulesServer: FeatureServer = {
  start: {
    problem: 'Schedules do not run',
    run: (hub, { schedules = {} }) => hub.schedules.start({ entries: schedules.entries ?? {} }),
  },

  async principals({ schedules }, limit) {
    const all = await schedules.list({ limit })
    return all.map(({ principal, name }) => (name.startsWith(FROM_CONFIG) ? 'config' : principal || 'owner'))
  },
}
