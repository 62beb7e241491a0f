import { useValue } from '../../state/create-value.ts'
import { useMediaQuery } from '../../state/use-media-query.ts'
import { theme } from '../../theme/theme.ts'

/** Whether the console is dark now: a frame without an origin cannot look that up itself. */
export function useIsDark(): boolean {
  const isSystemDark = useMediaQuery('(prefers-color-scheme: dark)')
  const chosen = useValue(theme)
  return chosen === 'system' ? isSystemDark : chosen === 'dark'
}
