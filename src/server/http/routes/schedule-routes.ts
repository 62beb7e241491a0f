import type { ScheduleMaker, WrittenWhen } from '../../../core/index.ts'
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
} from '../../../protocol/index.ts'
import type { Caller } from '../../service.ts'
import { answerJson, answerNothing, HttpRefusal } from '../answers.ts'
import { defineRoute, type Route } from '../route.ts'

/** Calls that are made later; `{id}` is an id, or a name that only one has. */
export const SCHEDULE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/schedules',
    summary: 'Schedules of everybody, by name, and whether anything runs them',
    allow: ['read'],
    answers: [{ description: 'The schedules', schema: scheduleList }],
    async handle({ context }) {
      const { schedules } = context.service.hub
      return answerJson({ schedules: await schedules.list(), status: await schedules.status() })
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/schedules',
    summary: 'Makes a schedule, with the rights of who makes it',
    allow: ['admin'],
    body: newSchedule,
    answers: [{ description: 'The schedule', schema: scheduleEntry, status: 201 }],
    async handle({ context, caller, body }) {
      if (!caller.scopes.has('call'))
        throw new HttpRefusal(
          403,
          'POLICY_DENIED',
          `${caller.name} may make no calls, so no schedule makes them for it.`,
        )
      return answerJson(await context.service.hub.schedules.add(body, makerOf(caller)), { status: 201 })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/schedules/{id}',
    summary: 'One schedule',
    allow: ['read'],
    answers: [{ description: 'The schedule', schema: scheduleEntry }],
    handle: async ({ context, params }) => answerJson(await context.service.hub.schedules.find(params.get('id')!)),
  }),
  defineRoute({
    method: 'put',
    path: '/v1/schedules/{id}',
    summary: 'Changes a schedule; what is left out stays',
    allow: ['admin'],
    body: scheduleChange,
    answers: [{ description: 'The schedule', schema: scheduleEntry }],
    handle: async ({ context, caller, params, body }) =>
      answerJson(await context.service.hub.schedules.update(params.get('id')!, body, makerOf(caller))),
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/schedules/{id}',
    summary: 'Removes a schedule and what is known of its runs; their records stay',
    allow: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ context, caller, params }) {
      await context.service.hub.schedules.remove(params.get('id')!, { by: caller.name })
      return answerNothing()
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/schedules/{id}/run',
    summary: 'Begins a run now, beside its times',
    allow: ['admin'],
    answers: [{ description: 'The run, which goes on', schema: scheduleRunEntry, status: 202 }],
    async handle({ context, caller, params }) {
      const how = { by: caller.name, wait: false }
      return answerJson(await context.service.hub.schedules.run(params.get('id')!, how), { status: 202 })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/schedules/{id}/runs',
    summary: 'What became of the times of a schedule, newest first',
    allow: ['read'],
    query: scheduleRunQuery,
    answers: [{ description: 'A page of runs', schema: scheduleRunList }],
    async handle({ context, params, query: { limit, before } }) {
      const page = { limit, ...(before !== undefined && { before }) }
      return answerJson(await context.service.hub.schedules.runs(params.get('id')!, page))
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/schedule-times',
    summary: 'The next times of an expression, an interval or a date; says where a mistake is',
    allow: ['read'],
    query: scheduleTimesQuery,
    answers: [{ description: 'The times, in milliseconds since 1970', schema: scheduleTimes }],
    async handle({ context, query: { cron, every, at, timeZone, count } }) {
      const given = Object.entries({ cron, every, at }).filter(([, value]) => value !== undefined)
      if (given.length !== 1)
        throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `Give one of cron, every and at, not ${given.length}.`)
      const when = Object.fromEntries(given) as WrittenWhen
      const options = { count, ...(timeZone !== undefined && { timeZone }) }
      return answerJson(await context.service.hub.schedules.next(when, options))
    },
  }),
]

/** Whoever is not the owner itself makes schedules with its own rights only. */
function makerOf({ name, rights }: Caller): ScheduleMaker {
  return { by: name, ...(rights && { as: rights }) }
}
