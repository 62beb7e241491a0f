const MAX_CHARS = 10_000

/** A value of any kind as text for progress and messages, never long. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? value : toJson(value)
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // A cycle or a BigInt: what it is called is all there is to say.
    return Object.prototype.toString.call(value)
  }
}
