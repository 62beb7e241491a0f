import { describe, expect, it } from 'vitest'
import type { CallEvent } from '../../../api/types.ts'
import { type CallStep, IDLE, stepCall } from './call-state.ts'

const told = (type: string, more: object = {}): CallStep => ({
  type: 'event',
  event: { type, callId: 'c1', ...more } as CallEvent,
})
const after = (...steps: CallStep[]) => steps.reduce(stepCall, stepCall(IDLE, { type: 'start' }))
const asked = told('approval-requested', { request: { id: 'p1', run: 'r', reason: 'Why', expiresAt: 'soon' } })
const ended = told('call-ended', { result: { ok: true, status: 'ok' } })
const progress = (text: string) => told('call-progressed', { content: [{ type: 'text', text }] })

describe('stepCall', () => {
  it('waits for an approval until somebody answers', () => {
    expect(after(told('call-started'), asked).waiting).toMatchObject({ kind: 'approval', id: 'p1' })
    const answered = after(asked, told('approval-answered', { decision: 'allow', by: 'token:boss', changed: true }))
    expect(answered.waiting).toBeUndefined()
    expect(answered.notes).toEqual(['token:boss said allow, with changed arguments.'])
  })

  it('keeps the end of a long progress', () => {
    const { progress: text } = after(progress('a'.repeat(60_000)), progress('the end'))
    expect(text.length).toBe(50_000)
    expect(text.endsWith('the end')).toBe(true)
  })

  it('is ended by its result, and nothing comes after that', () => {
    const state = after(asked, ended)
    expect(state).toMatchObject({ phase: 'ended', result: { ok: true } })
    expect(stepCall(state, { type: 'fail', error: new Error('late') })).toBe(state)
    expect(stepCall(state, { type: 'cancel' })).toBe(state)
  })

  it('hears nothing of a call that was cancelled', () => {
    const state = after(asked, { type: 'cancel' })
    expect(state).toMatchObject({ phase: 'cancelled', waiting: undefined })
    expect(stepCall(state, ended)).toBe(state)
  })

  it('starts anew without what the last call left', () => {
    expect(stepCall(after(progress('x'), ended), { type: 'start' })).toEqual({
      phase: 'running',
      notes: [],
      progress: '',
    })
  })
})
