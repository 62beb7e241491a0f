import { createValue } from '../state/create-value.ts'

/** Light, dark, or what the system says. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'tool-hub.theme'

/** The theme that was chosen in this browser. */
export const theme = createValue<Theme>(readTheme())

/** Chooses a theme and keeps it. */
export function setTheme(next: Theme): void {
  theme.set(next)
  applyTheme()
  try {
    localStorage.setItem(KEY, next)
  } catch {
    // Storage is off in this browser: it holds until the page is closed.
  }
}

/** Puts the chosen theme on the document. */
export function applyTheme(): void {
  const { dataset } = document.documentElement
  if (theme.get() === 'system') delete dataset.theme
  else dataset.theme = theme.get()
}

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    // Storage is off in this browser.
    return 'system'
  }
}
