import type { FeatureHost } from '../../../core/index.ts'
import type { References } from '../read-references.ts'

/** What a built-in channel is made of, beside its options. */
export interface ChannelParts {
  /** As the owner has named it. */
  readonly name: string
  readonly references: References
  readonly redact: (text: string) => string
  readonly host: Pick<FeatureHost, 'dial' | 'store' | 'hide' | 'emitChange'>
}
