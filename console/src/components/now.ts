import { createValue } from '../state/create-value.ts'

/** The time, a second exact, for texts that grow old; stands still while the tab is hidden. */
export const now = createValue(Date.now())

setInterval(() => {
  if (!document.hidden) now.set(Date.now())
}, 1_000)
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) now.set(Date.now())
})
