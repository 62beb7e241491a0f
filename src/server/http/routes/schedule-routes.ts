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
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { defineRoute, type Route } from '../route.ts'

/** Calls that are made later; `{id}` is an id, or a name that only one has. */
export const SCHEDULE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/schedules',
    summary: 'Schedules of everybody, by name, and whether anything runs them',
    admits: ['read'],
    answers: [{ description: 'The schedules', schema: scheduleList }],
    async handle({ door }) {
      const { schedules } = door.service.hub
      return answerJson({ schedules: await schedules.list(), status: await schedules.status() })
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/schedules',
    summary: 'Makes a schedule, with the rights of who makes it',
    admits: ['admin'],
    body: newSchedule,
    answers: [{ description: 'The schedule', schema: scheduleEntry, status: 201 }],
    async handle({ door, caller, body }) {
      if (!caller.scopes.has('call'))
        throw new HttpRefusal(
          403,
          'POLICY_DENIED',
          `${caller.name} may make no calls, so no schedule makes them for it.`,
        )
      return answerJson(await door.service.hub.schedules.add(body, makerOf(caller)), { status: 201 })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/schedules/{id}',
    summary: 'One schedule',
    admits: ['read'],
    answers: [{ description: 'The schedule', schema: scheduleEntry }],
    handle: async ({ door, params }) => answerJson(await door.service.hub.schedules.find(params.get('id')!)),
  }),
  defineRoute({
    method: 'put',
    path: '/v1/schedules/{id}',
    summary: 'Changes a schedule; what is left out stays',
    admits: ['admin'],
    body: scheduleChange,
    answers: [{ description: 'The schedule', schema: scheduleEntry }],
    handle: async ({ door, caller, params, body }) =>
      answerJson(await door.service.hub.schedules.update(params.get('id')!, body, makerOf(caller))),
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/schedules/{id}',
    summary: 'Removes a schedule and what is known of its runs; their records stay',
    admits: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ door, caller, params }) {
      await door.service.hub.schedules.remove(params.get('id')!, { by: caller.name })
      return answerNothing()
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/schedules/{id}/run',
    summary: 'Begins a run now, beside its times',
    admits: ['admin'],
    answers: [{ description: 'The run, which goes on', schema: scheduleRunEntry, status: 202 }],
    async handle({ door, caller, params }) {
      const how = { by: caller.name, wait: false }
      return answerJson(await door.service.hub.schedules.run(params.get('id')!, how), { status: 202 })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/schedules/{id}/runs',
    summary: 'What became of the times of a schedule, newest first',
    admits: ['read'],
    query: scheduleRunQuery,
    answers: [{ description: 'A page of runs', schema: scheduleRunList }],
    async handle({ door, params, query: { limit, before } }) {
      const page = { limit, ...(before !== undefined && { before }) }
      return answerJson(await door.service.hub.schedules.runs(params.get('id')!, page))
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/schedule-times',
    summary: 'The next times of an expression, an interval or a date; says where a mistake is',
    admits: ['read'],
    query: scheduleTimesQuery,
    answers: [{ description: 'The times, in milliseconds since 1970', schema: scheduleTimes }],
    async handle({ door, query: { cron, every, at, timeZone, count } }) {
      const given = Object.entries({ cron, every, at }).filter(([, value]) => value !== undefined)
      if (given.length !== 1)
        throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `Give one of cron, every and at, not ${given.length}.`)
      const when = Object.fromEntries(given) as WrittenWhen
      const options = { count, ...(timeZone !== undefined && { timeZone }) }
      return answerJson(await door.service.hub.schedules.next(when, options))
    },
  }),
]

/** Whoever is not the owner itself makes schedules with its own rights only. */
function makerOf({ name, rights }: Caller): ScheduleMaker {
  return { by: name, ...(rights && { as: rights }) }
}
