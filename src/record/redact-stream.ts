import type { KnownValues } from './known-values.ts'
import { FoldedStage } from './stages/folded-stage.ts'
import { KeyBlockStage } from './stages/key-block-stage.ts'
import { KnownStage } from './stages/known-stage.ts'
import { ShapeStage } from './stages/shape-stage.ts'
import type { Stage } from './stages/stage.ts'

/**
 * Takes secrets out of bytes that come piece by piece, wherever the pieces are cut: all pieces together give what the
 * redaction of the whole gives. Bytes are read as Latin-1, so that those that are no text pass unchanged. What it gives
 * back may be what it was given.
 */
export class RedactStream {
  readonly #stages: readonly Stage[]

  constructor(known: KnownValues | undefined) {
    const hiding = known ? [new KnownStage(known), ...known.folded.map((values) => new FoldedStage(values))] : []
    this.#stages = [...hiding, new KeyBlockStage(), new ShapeStage()]
  }

  /** What is certain now. The last word waits for its end, as it may be the beginning of a secret. */
  push(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const input = buffer.toString('latin1')
    let text = input
    for (const stage of this.#stages) text = stage.push(text)
    return text === input ? buffer : Buffer.from(text, 'latin1')
  }

  /**
   * What waits and does not look like a secret, for when nothing came for a while: a prompt, a row of dots. At most the
   * first three characters of a known value go out so, and of a shape only what is no secret yet: `sk`, `-----BEGIN`.
   */
  flush(): Uint8Array {
    return this.#drain((stage) => stage.flush())
  }

  /** What is left; the beginning of a known value that was cut off is hidden. */
  end(): Uint8Array {
    return this.#drain((stage) => stage.end())
  }

  #drain(last: (stage: Stage) => string): Uint8Array {
    let text = ''
    for (const stage of this.#stages) text = stage.push(text) + last(stage)
    return Buffer.from(text, 'latin1')
  }
}
