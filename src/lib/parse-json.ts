/** The value of a JSON text that a schema looks at next; undefined, which no schema takes, when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema says what is wrong with it.
    return undefined
  }
}
