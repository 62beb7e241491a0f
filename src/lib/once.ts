/** Does something once, when it is first needed. After a failure, the next call tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let working: Promise<T> | undefined
  return () => {
    working ??= work().catch((error) => {
      working = undefined
      throw error
    })
    return working
  }
}
