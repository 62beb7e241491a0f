const runs = new Map<string, string>()

/**
 * The run that everything somebody tries is part of, until the page is loaded anew: so it is found, and can be undone, as
 * one. Runs belong to who opened them, so everybody who signs in here has another.
 */
export function tryRun(principal: string): string {
  const known = runs.get(principal)
  if (known !== undefined) return known
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const run = `console-${time}-${randomWord()}`
  runs.set(principal, run)
  return run
}

function randomWord(): string {
  return [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
