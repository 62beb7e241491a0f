let previous: Promise<unknown> = Promise.resolve()

/** Lets questions to the person at the terminal wait for each other, however many calls ask. */
export function oneAtATime<T>(ask: () => Promise<T>): Promise<T> {
  const answer = previous.then(ask)
  previous = answer.catch(() => {})
  return answer
}
