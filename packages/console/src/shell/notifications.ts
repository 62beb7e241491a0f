import { revealLine } from '@tool-hub/core/lib/escape-text'
import { useRef } from 'react'
import { useEvents } from '../api/events.ts'
import { useMe } from '../api/session.ts'
import { createValue } from '../lib/watched-value.ts'
import { type HumanRequest, previewOf, requestPath } from '../pages/approvals/human-request.ts'
import { navigate } from '../router/router.ts'

/** The state of desktop notifications: not supported, permission not requested yet, permission denied, off, or on. */
type NotifyState = 'impossible' | 'unasked' | 'refused' | 'off' | 'on'

const KEY = 'tool-hub.notify'

/** The current state of desktop notifications. */
export const notifyState = createValue<NotifyState>(readState())

/** Turns notifications on, and requests the browser for permission if necessary. Call it only from a click. */
export async function turnOn(): Promise<void> {
  if (notifyState.get() === 'unasked') await Notification.requestPermission()
  keep('on')
}

/** Turns notifications off; the permission of the browser stays. */
export function turnOff(): void {
  keep('off')
}

function keep(wish: 'on' | 'off'): void {
  try {
    localStorage.setItem(KEY, wish)
  } catch {
    // This browser stores nothing: the setting lasts until the page is closed.
  }
  notifyState.set(readState(wish))
}

function readState(wish = readWish()): NotifyState {
  if (!('Notification' in window) || !window.isSecureContext) return 'impossible'
  if (Notification.permission === 'denied') return 'refused'
  if (Notification.permission === 'default') return 'unasked'
  return wish === 'on' ? 'on' : 'off'
}

function readWish(): string {
  try {
    return localStorage.getItem(KEY) ?? 'off'
  } catch {
    // This browser stores nothing.
    return 'off'
  }
}

const MAX_BODY_CHARS = 160

/** Shows a desktop notification for a new approval or question while the page is hidden, if the user may answer it. */
export function useNotifications(): void {
  const { principal, may } = useMe()
  const shown = useRef(new Set<string>())
  const notify = (request: HumanRequest) => {
    if (!document.hidden || notifyState.get() !== 'on' || request.state !== 'waiting' || shown.current.has(request.id))
      return
    if (!may('approve') || (request.kind === 'approval' && request.caller === principal.name)) return
    shown.current.add(request.id)
    show(request)
  }
  useEvents(
    (event) => {
      if (event.type === 'approval') notify({ kind: 'approval', ...event.approval })
      if (event.type === 'question') notify({ kind: 'question', ...event.question })
    },
    ['approval', 'question'],
  )
}

function show(request: HumanRequest): void {
  const title =
    request.kind === 'approval' ? `${request.caller} wants to call ${request.tool}` : `${request.caller} has a question`
  // The tag prevents duplicates from several tabs of the console.
  const notification = new Notification(revealLine(title), {
    body: revealLine(previewOf(request).slice(0, MAX_BODY_CHARS)),
    tag: request.id,
    icon: '/icon.svg',
  })
  notification.onclick = () => {
    window.focus()
    navigate(requestPath(request.id, ''))
    notification.close()
  }
}
