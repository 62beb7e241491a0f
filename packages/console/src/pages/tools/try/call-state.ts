import type { CallEvent, ToolResult } from '../../../api/types.ts'

/** What a call waits for. */
export type Waiting =
  | {
      readonly kind: 'approval'
      readonly id: string
      readonly run: string
      readonly reason: string
      readonly expiresAt: string
    }
  | { readonly kind: 'question'; readonly id: string; readonly question: string; readonly expiresAt: string }
  | { readonly kind: 'other'; readonly message: string }

/** The state of a call that was started here. */
export interface CallState {
  readonly phase: 'idle' | 'running' | 'ended' | 'cancelled' | 'failed'
  readonly callId?: string
  readonly waiting?: Waiting
  /** Notes about what happened during the call. */
  readonly notes: readonly string[]
  /** The end of the progress output. */
  readonly progress: string
  readonly result?: ToolResult
  readonly error?: Error
}

/** An event of a call. */
export type CallStep =
  | { readonly type: 'start' }
  | { readonly type: 'cancel' }
  | { readonly type: 'forget' }
  | { readonly type: 'event'; readonly event: CallEvent }
  | { readonly type: 'fail'; readonly error: Error }

/** The state before the first call. */
export const IDLE: CallState = { phase: 'idle', notes: [], progress: '' }

const MAX_PROGRESS_CHARACTERS = 50_000
const MAX_NOTES = 50

/** The state after a step; steps after the end are ignored. */
export function stepCall(state: CallState, step: CallStep): CallState {
  if (step.type === 'start') return { ...IDLE, phase: 'running' }
  if (step.type === 'forget') return IDLE
  if (state.phase !== 'running') return state
  if (step.type === 'cancel') return { ...state, phase: 'cancelled', waiting: undefined }
  if (step.type === 'fail') return { ...state, phase: 'failed', waiting: undefined, error: step.error }
  return applyEvent(state, step.event)
}

function applyEvent(state: CallState, event: CallEvent): CallState {
  switch (event.type) {
    case 'call-started':
      // The first event is that of the call itself; child calls are not reported.
      return { ...state, callId: state.callId ?? event.callId }
    case 'approval-requested': {
      const { id, run, reason, expiresAt } = event.request
      return { ...state, callId: event.callId, waiting: { kind: 'approval', id, run, reason, expiresAt } }
    }
    case 'approval-answered': {
      const changed = event.changed ? ', with changed arguments' : ''
      return note({ ...state, waiting: undefined }, `${event.by} said ${event.decision}${changed}.`)
    }
    case 'question-asked': {
      const { id, question, expiresAt } = event.request
      return { ...state, waiting: { kind: 'question', id, question, expiresAt } }
    }
    case 'question-answered':
      return note(
        { ...state, waiting: undefined },
        event.by === undefined ? 'Nobody answered.' : `${event.by} answered.`,
      )
    case 'call-pending':
      return { ...state, waiting: { kind: 'other', message: event.message } }
    case 'call-progressed': {
      const text = event.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]\n`)).join('')
      return { ...state, waiting: undefined, progress: (state.progress + text).slice(-MAX_PROGRESS_CHARACTERS) }
    }
    case 'call-ended':
      return { ...state, phase: 'ended', waiting: undefined, callId: event.callId, result: event.result }
    default:
      return state
  }
}

function note(state: CallState, words: string): CallState {
  return { ...state, notes: [...state.notes, words].slice(-MAX_NOTES) }
}
