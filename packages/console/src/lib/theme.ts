import { useMediaQuery } from './hooks.ts'
import { createValue, useValue } from './watched-value.ts'

/** Light, dark, or the setting of the system. */
type Theme = 'system' | 'light' | 'dark'

const KEY = 'tool-hub.theme'

/** The theme that was chosen in this browser. */
export const theme = createValue<Theme>(readTheme())

/** Sets the theme and stores it in this browser. */
export function setTheme(next: Theme): void {
  theme.set(next)
  applyTheme()
  try {
    localStorage.setItem(KEY, next)
  } catch {
    // This browser stores nothing: the setting lasts until the page is closed.
  }
}

/** Applies the theme to the document. */
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
    // This browser stores nothing.
    return 'system'
  }
}

/** Whether the console is dark. A frame without an origin cannot find out by itself. */
export function useIsDark(): boolean {
  const isSystemDark = useMediaQuery('(prefers-color-scheme: dark)')
  const chosen = useValue(theme)
  return chosen === 'system' ? isSystemDark : chosen === 'dark'
}
