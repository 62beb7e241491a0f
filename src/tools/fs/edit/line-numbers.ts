/** Tells the 1-based line numbers of places; cheapest when they are asked for in order. */
export function lineNumbers(text: string): (place: number) => number {
  let [at, line] = [0, 1]
  return (place) => {
    if (place < at) [at, line] = [0, 1]
    for (;;) {
      const end = text.indexOf('\n', at)
      if (end === -1 || end >= place) return line
      at = end + 1
      line++
    }
  }
}
