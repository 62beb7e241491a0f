import { describe, expect, it } from 'vitest'
import { joinCall } from './call-log.ts'
import type { CallEnded } from './events.ts'

const place = { seq: 7, time: '2026-01-01T00:00:00.000Z' }
const END = '{"type":"call-ended","callId":"c1","tool":"notes.save","status":"ok","durationMs":1.50}'
const START = '{"type":"call-started","callId":"c1","tool":"notes.save","caller":"test","n":1.00}'
const HEAD = '{"seq":7,"time":"2026-01-01T00:00:00.000Z",'

const join = (started: string | undefined, body: string) =>
  joinCall(started, JSON.parse(body) as CallEnded, { ...place, body })

describe('the line of a call', () => {
  it('has the texts of both events as they are', () => {
    expect(join(START, END)).toBe(
      `${HEAD}"callId":"c1","tool":"notes.save","caller":"test","n":1.00,"status":"ok","durationMs":1.50}\n`,
    )
    expect(join(undefined, END)).toBe(`${HEAD}"callId":"c1","tool":"notes.save","status":"ok","durationMs":1.50}\n`)
  })

  it.each([
    ['another order in the end', START, '{"type":"call-ended","tool":"notes.save","callId":"c1","status":"ok"}'],
    ['blanks in the end', START, END.replace(',"callId"', ', "callId"')],
    ['blanks before the tool of the end', START, END.replace(',"tool"', ', "tool"')],
    ['a longer type in the start', START.replace('call-started', 'call-starter'), END],
    ['another call in the start', START.replace('c1', 'c2'), END],
    ['another tool in the start', START.replace('notes.save', 'notes.sale'), END],
    ['a longer tool in the start', START.replace('notes.save', 'notes.saved'), END],
    ['another order in the start', '{"type":"call-started","tool":"notes.save","callId":"c1","caller":"test"}', END],
    ['other fields in the start', START.replace('"callId"', '"caller"'), END],
    ['another field for the tool in the start', START.replace('"tool"', '"tule"'), END],
    ['an escaped name in both', START.replace('c1', 'c\\"1'), END.replace('c1', 'c\\"1')],
    ['facts in both', START, END.replace('"status"', '"caller":"other","status"')],
  ])('is made anew where there is %s', (_name, started, body) => {
    const { type: _, ...fields } = { ...JSON.parse(started), ...JSON.parse(body) }
    expect(join(started, body)).toBe(`${JSON.stringify({ ...place, ...fields })}\n`)
  })
})
