import { hash } from 'node:crypto'
import type { Content } from '../../../result.ts'

const MOST_KEPT = 100

/**
 * What a plugin's `toModel` said of its data: asked in its process with the data, wanted in the hub a little later. Data
 * that was changed on the way, by a hook or because it held a secret, is shown as it then is.
 */
export class ShownContent {
  readonly #content = new Map<string, Content>()

  keep(data: unknown, content: Content): void {
    this.#content.set(keyOf(data), content)
    if (this.#content.size > MOST_KEPT) this.#content.delete(this.#content.keys().next().value!)
  }

  readonly show = (data: unknown): Content => {
    const key = keyOf(data)
    const content = this.#content.get(key)
    this.#content.delete(key)
    return content ?? (typeof data === 'string' ? data : JSON.stringify(data))
  }
}

function keyOf(data: unknown): string {
  return hash('sha256', JSON.stringify(data) ?? '', 'base64')
}
