/** Several times what pages have; what is nested deeper stands beside its parent, as it does in browsers (from 512 on). */
const FLATTEN_FROM = 256

/** An end tag looks this far for its element; beyond, it ends nothing. */
const MAX_LOOK_BACK = 256

/** Elements whose beginning ends others that are still open, as their authors expect. */
const ENDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['p', ['p']],
  ['li', ['li']],
  ['dt', ['dt', 'dd']],
  ['dd', ['dt', 'dd']],
  ['rt', ['rt', 'rp']],
  ['rp', ['rt', 'rp']],
  ['td', ['td', 'th', 'thead']],
  ['th', ['td', 'th']],
  ['tr', ['tr', 'td', 'th']],
  ['tbody', ['tr', 'td', 'th', 'thead', 'tbody']],
  ['tfoot', ['tr', 'td', 'th', 'thead', 'tbody']],
  ['option', ['option']],
  ['optgroup', ['option', 'optgroup']],
])

/** An element that has not ended; the tags of a dropped one are taken out of the page. */
interface OpenElement {
  readonly name: string
  readonly isDropped: boolean
}

/** The elements of a page that have not ended, while it is looked through. Both methods tell whether the tag goes. */
export class OpenElements {
  readonly #stack: OpenElement[] = []
  /** How many of each name are open: most ends without a beginning are found out at once. */
  readonly #counts = new Map<string, number>()
  #depth = 0

  /** How many of them stay in the page. */
  get depth(): number {
    return this.#depth
  }

  begin(name: string, mustStay: boolean): boolean {
    const ended = ENDS.get(name) ?? []
    while (ended.includes(this.#stack.at(-1)?.name ?? '')) this.#endFrom(this.#stack.length - 1)
    const isDropped = this.#depth >= FLATTEN_FROM && !mustStay
    this.#stack.push({ name, isDropped })
    this.#count(name, 1)
    if (!isDropped) this.#depth++
    return isDropped
  }

  /** Ends the innermost element of the name and, as browsers do, all that is open inside it. */
  end(name: string): boolean {
    const index = this.#find(name)
    const element = this.#stack[index]
    if (!element) return this.#depth >= FLATTEN_FROM
    // Its beginning went, so its end cannot end what stays open inside: that may be there to hide something.
    if (element.isDropped && this.#stack.slice(index).some(({ isDropped }) => !isDropped)) return true
    this.#endFrom(index)
    return element.isDropped
  }

  #find(name: string): number {
    if (!this.#counts.get(name)) return -1
    const least = Math.max(0, this.#stack.length - MAX_LOOK_BACK)
    for (let index = this.#stack.length - 1; index >= least; index--)
      if (this.#stack[index]?.name === name) return index
    return -1
  }

  #endFrom(index: number): void {
    while (this.#stack.length > index) {
      const element = this.#stack.pop()!
      this.#count(element.name, -1)
      if (!element.isDropped) this.#depth--
    }
  }

  #count(name: string, by: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by)
  }
}
