/** How many of something each principal has. */
export class PrincipalCounts {
  readonly #counts = new Map<string, number>()

  of(principal: string): number {
    return this.#counts.get(principal) ?? 0
  }

  add(principal: string): void {
    this.#counts.set(principal, this.of(principal) + 1)
  }

  remove(principal: string): void {
    const left = this.of(principal) - 1
    if (left > 0) this.#counts.set(principal, left)
    else this.#counts.delete(principal)
  }
}
