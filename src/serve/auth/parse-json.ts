/** The value of a JSON text out of the store; undefined, which no schema takes, when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the schema says no
  }
}
