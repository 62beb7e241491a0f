import {
  defineFeatureRoute,
  type FeatureRoute,
  type FeatureRoutes,
  type RouteCaller,
  ToolError,
} from '../../core/index.ts'
import { newSchedule, scheduleChange } from './schedule-schema.ts'
import {
  scheduleEntry,
  scheduleList,
  scheduleRunEntry,
  scheduleRunList,
  scheduleRunQuery,
  scheduleTimes,
  scheduleTimesQuery,
} from './schema.ts'
import type { ScheduleMaker, WrittenWhen } from './types.ts'

/** Calls that are made later; `{id}` is an id, or a name that only one has. */
const ROUTES: readonly FeatureRoute[] = [
  defineFeatureRoute({
    method: 'get',
    path: '/v1/schedules',
    summary: 'Schedules of everybody, by name, and whether anything runs them',
    allow: ['read'],
    answers: [{ description: 'The schedules', schema: scheduleList }],
    handle: async ({ hub: { schedules } }) => ({ schedules: await schedules.list(), status: await schedules.status() }),
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/schedules',
    summary: 'Makes a schedule, with the rights of who makes it',
    allow: ['admin'],
    body: newSchedule,
    answers: [{ description: 'The schedule', schema: scheduleEntry, status: 201 }],
    async handle({ hub, caller, body }) {
      if (!caller.scopes.has('call'))
        throw new ToolError('POLICY_DENIED', `${caller.name} may make no calls, so no schedule makes them for it.`)
      return hub.schedules.add(body, makerOf(caller))
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/schedules/{id}',
    summary: 'One schedule',
    allow: ['read'],
    answers: [{ description: 'The schedule', schema: scheduleEntry }],
    handle: ({ hub, param }) => hub.schedules.find(param('id')),
  }),
  defineFeatureRoute({
    method: 'put',
    path: '/v1/schedules/{id}',
    summary: 'Changes a schedule; what is left out stays',
    allow: ['admin'],
    body: scheduleChange,
    answers: [{ description: 'The schedule', schema: scheduleEntry }],
    handle: ({ hub, caller, param, body }) => hub.schedules.update(param('id'), body, makerOf(caller)),
  }),
  defineFeatureRoute({
    method: 'delete',
    path: '/v1/schedules/{id}',
    summary: 'Removes a schedule and what is known of its runs; their records stay',
    allow: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ hub, caller, param }) {
      await hub.schedules.remove(param('id'), { by: caller.name })
    },
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/schedules/{id}/run',
    summary: 'Begins a run now, beside its times',
    allow: ['admin'],
    answers: [{ description: 'The run, which goes on', schema: scheduleRunEntry, status: 202 }],
    handle: ({ hub, caller, param }) => hub.schedules.run(param('id'), { by: caller.name, wait: false }),
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/schedules/{id}/runs',
    summary: 'What became of the times of a schedule, newest first',
    allow: ['read'],
    query: scheduleRunQuery,
    answers: [{ description: 'A page of runs', schema: scheduleRunList }],
    handle: ({ hub, param, query: { limit, before } }) =>
      hub.schedules.runs(param('id'), { limit, ...(before !== undefined && { before }) }),
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/schedule-times',
    summary: 'The next times of an expression, an interval or a date; says where a mistake is',
    allow: ['read'],
    query: scheduleTimesQuery,
    answers: [{ description: 'The times, in milliseconds since 1970', schema: scheduleTimes }],
    async handle({ hub, query: { cron, every, at, timeZone, count } }) {
      const given = Object.entries({ cron, every, at }).filter(([, value]) => value !== undefined)
      if (given.length !== 1)
        throw new ToolError('INPUT_SCHEMA_INVALID', `Give one of cron, every and at, not ${given.length}.`)
      const when = Object.fromEntries(given) as WrittenWhen
      const options = { count, ...(timeZone !== undefined && { timeZone }) }
      return hub.schedules.next(when, options)
    },
  }),
]

/** The HTTP routes of schedules. */
export const schedulesRoutes: FeatureRoutes = {
  schemas: { Schedule: scheduleEntry, ScheduleRun: scheduleRunEntry },
  routes: ROUTES,
}

/** Everybody but the owner makes schedules with their own rights only. */
function makerOf({ name, rights }: RouteCaller): ScheduleMaker {
  return { by: name, ...(rights && { as: rights }) }
}
