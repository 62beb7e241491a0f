import { useRef } from 'react'
import { revealLine } from '../../../src/value/escape-text.ts'
import { useEvents } from '../api/use-events.ts'
import { useMe } from '../api/use-me.ts'
import { type Ask, pathOf, previewOf } from '../pages/approvals/ask.ts'
import { navigate } from '../router/router.ts'
import { notifyState } from './notifications.ts'

const LONGEST = 160

/** Tells the desktop of an ask that comes while the page is hidden, if somebody wants that and may answer. */
export function useAskNotifications(): void {
  const { principal, may } = useMe()
  const told = useRef(new Set<string>())
  const hear = (ask: Ask) => {
    if (!document.hidden || notifyState.get() !== 'on' || ask.state !== 'waiting' || told.current.has(ask.id)) return
    if (!may('approve') || (ask.kind === 'approval' && ask.caller === principal.name)) return
    told.current.add(ask.id)
    show(ask)
  }
  useEvents(
    (event) => {
      if (event.type === 'approval') hear({ kind: 'approval', ...event.approval })
      if (event.type === 'question') hear({ kind: 'question', ...event.question })
    },
    ['approval', 'question'],
  )
}

function show(ask: Ask): void {
  const title = ask.kind === 'approval' ? `${ask.caller} wants ${ask.tool}` : `${ask.caller} has a question`
  // The tag keeps several tabs of the console from telling the same.
  const notification = new Notification(revealLine(title), {
    body: revealLine(previewOf(ask).slice(0, LONGEST)),
    tag: ask.id,
    icon: '/icon.svg',
  })
  notification.onclick = () => {
    window.focus()
    navigate(pathOf(ask.id, ''))
    notification.close()
  }
}
