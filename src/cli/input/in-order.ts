/**
 * Works on items as they come, at most `atOnce` at the same time, and gives the results in the order of the items.
 * Never holds more than `atOnce` results. `work` must not reject.
 */
export async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  atOnce: number,
): AsyncGenerator<R, void, undefined> {
  const queue: Promise<R>[] = []
  const added = new Bell()
  const taken = new Bell()
  let isDone = false
  const reading = (async () => {
    for await (const item of items) {
      while (queue.length >= atOnce) await taken.next()
      queue.push(work(item))
      added.ring()
    }
  })().finally(() => {
    isDone = true
    added.ring()
  })
  // A failure to read is thrown at the end, after the results of what was read.
  reading.catch(() => {})
  while (queue.length > 0 || !isDone) {
    if (queue.length === 0) {
      await added.next()
      continue
    }
    yield await queue[0]!
    void queue.shift()
    taken.ring()
  }
  await reading
}

/** Wakes anyone who waits for it. */
class Bell {
  #wake: () => void = () => {}

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  ring(): void {
    this.#wake()
  }
}
