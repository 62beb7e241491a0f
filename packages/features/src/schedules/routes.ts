import { defineFeatureRoute, type FeatureRoute, type FeatureRoutes, type RouteCaller, ToolError } from '@tool-hub/core'
import {
  newSchedule,
  scheduleChange,
  scheduleEntry,
  scheduleList,
  scheduleRunEntry,
  scheduleRunList,
  scheduleRunQuery,
  scheduleTimes,
  scheduleTimesQuery,
} from './schema.ts'
import type { ScheduleMaker, WrittenWhen } from './types.ts'

/** `{id}` is the id of a schedule, or a name that only one schedule has. */
const ROUTES: readonly FeatureRoute[] = [
  defineFeatureRoute({
    method: 'get',
    path: '/v1/schedules',
    client: 'schedules.list',
    summary: 'All schedules, sorted by name, and whether anything runs them',
    allow: ['read'],
    answers: [{ description: 'The schedules', schema: scheduleList }],
    handle: async ({ hub: { schedules } }) => ({ schedules: await schedules.list(), status: await schedules.status() }),
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/schedules',
    client: { name: 'schedules.add', note: 'Rejects with `CONFLICT` if the name is taken.' },
    summary: 'Adds a schedule with the rights of the caller',
    allow: ['admin'],
    body: newSchedule,
    answers: [{ description: 'The schedule', schema: scheduleEntry, status: 201 }],
    async handle({ hub, caller, body }) {
      if (!caller.scopes.has('call'))
        throw new ToolError('POLICY_DENIED', `${caller.name} may not make calls, so it cannot schedule them.`)
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
    client: 'schedules.change',
    summary: 'Changes the given fields of a schedule',
    allow: ['admin'],
    body: scheduleChange,
    answers: [{ description: 'The schedule', schema: scheduleEntry }],
    handle: ({ hub, caller, param, body }) => hub.schedules.update(param('id'), body, makerOf(caller)),
  }),
  defineFeatureRoute({
    method: 'delete',
    path: '/v1/schedules/{id}',
    client: 'schedules.remove',
    summary: 'Removes a schedule and its run history; the records of its calls stay',
    allow: ['admin'],
    answers: [{ description: 'The schedule was removed', status: 204 }],
    async handle({ hub, caller, param }) {
      await hub.schedules.remove(param('id'), { by: caller.name })
    },
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/schedules/{id}/run',
    client: { name: 'schedules.run', note: 'Does not wait for its end.' },
    summary: 'Starts a run now, in addition to the scheduled ones',
    allow: ['admin'],
    answers: [{ description: 'The run, which continues', schema: scheduleRunEntry, status: 202 }],
    handle: ({ hub, caller, param }) => hub.schedules.run(param('id'), { by: caller.name, wait: false }),
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/schedules/{id}/runs',
    client: 'schedules.runs',
    summary: 'Runs of a schedule, newest first',
    allow: ['read'],
    query: scheduleRunQuery,
    answers: [{ description: 'A page of runs', schema: scheduleRunList }],
    handle: ({ hub, param, query: { limit, before } }) => hub.schedules.runs(param('id'), { limit, before }),
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/schedule-times',
    client: { name: 'schedules.times', note: 'Give one of `cron`, `every` and `at`.' },
    summary: 'The next times of a cron expression, an interval or a date; an error names the invalid field',
    allow: ['read'],
    query: scheduleTimesQuery,
    answers: [{ description: 'The times, in milliseconds since 1970', schema: scheduleTimes }],
    async handle({ hub, query: { cron, every, at, timeZone, count } }) {
      const given = Object.entries({ cron, every, at }).filter(([, value]) => value !== undefined)
      if (given.length !== 1)
        throw new ToolError('INPUT_SCHEMA_INVALID', `Give one of cron, every and at, not ${given.length}.`)
      const when = Object.fromEntries(given) as WrittenWhen
      return hub.schedules.next(when, { count, timeZone })
    },
  }),
]

/** The HTTP routes of schedules. */
export const schedulesRoutes: FeatureRoutes = {
  resources: { schedules: 'Scheduled calls.' },
  schemas: { Schedule: scheduleEntry, ScheduleRun: scheduleRunEntry },
  routes: ROUTES,
}

/** Callers other than the owner create schedules with their own rights only. */
function makerOf({ name, rights }: RouteCaller): ScheduleMaker {
  return { by: name, ...(rights && { as: rights }) }
}
