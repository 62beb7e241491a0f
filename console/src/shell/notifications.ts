import { createValue } from '../state/create-value.ts'

/** Whether the desktop is told of asks: not possible here, never asked, refused by the person, off, or on. */
type NotifyState = 'impossible' | 'unasked' | 'refused' | 'off' | 'on'

const KEY = 'tool-hub.notify'

/** The state to show and to go by. */
export const notifyState = createValue<NotifyState>(readState())

/** Asks the browser for permission where need be; only ever from a press on a button. */
export async function turnOn(): Promise<void> {
  if (notifyState.get() === 'unasked') await Notification.requestPermission()
  keep('on')
}

/** Stays quiet from now on; the browser's permission stays. */
export function turnOff(): void {
  keep('off')
}

function keep(wish: 'on' | 'off'): void {
  try {
    localStorage.setItem(KEY, wish)
  } catch {
    // Storage is off in this browser: it holds until the page is closed.
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
    // Storage is off in this browser.
    return 'off'
  }
}
