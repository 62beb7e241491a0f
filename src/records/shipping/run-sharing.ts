import { join } from 'node:path'
import { messageOf, type RunLease, ToolError } from '../../core/index.ts'
import type { SharedPosition } from './next-segment.ts'
import type { SharedContent } from './shared-content.ts'
import type { Shipper } from './shipper.ts'

/** How the record of a run is shared with other machines. */
export interface RunSharing {
  readonly shipper: Shipper
  /** The lease on the run that this process has. */
  readonly held: RunLease
  /** Up to where the store has the record; see `continueRecord`. */
  readonly position: SharedPosition
  /** Where artifacts and undo data are shared. Default: they are not. */
  readonly content?: SharedContent
}

/** Whose content is shared, and whether it is before it is named. */
export interface ContentSharing {
  readonly shared?: { readonly content: SharedContent; readonly run: string }
  readonly isWaitedFor?: boolean
}

/** The files that a run keeps for undo, shared with other machines by their hash. */
export class KeptContent {
  readonly #folder: string
  readonly #sharing: ContentSharing

  constructor(folder: string, sharing: ContentSharing) {
    this.#folder = folder
    this.#sharing = sharing
  }

  /** Shares a file before the change that it belongs to. */
  async share(sha256: string): Promise<void> {
    const { shared, isWaitedFor = false } = this.#sharing
    if (isWaitedFor) await shared?.content.put(shared.run, sha256, join(this.#folder, sha256))
  }

  /** Copies a file from another machine to this one. Returns false if there is none. */
  async fetch(sha256: string): Promise<boolean> {
    const { shared } = this.#sharing
    return (await shared?.content.fetch(shared.run, sha256, join(this.#folder, sha256))) ?? false
  }
}

/** The end of a call that was executed is on this machine only. */
export class UnsharedEnd extends Error {
  /** Why it is not shared. */
  override readonly cause: unknown

  constructor(cause: unknown) {
    super(messageOf(cause))
    this.cause = cause
  }

  static reject(this: void, cause: unknown): never {
    throw new UnsharedEnd(cause)
  }
}

/** The address of a bucket without slashes at its end. Throws CONFIG_INVALID for one that cannot be that of a bucket. */
export function bucketAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isPlain = parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.search && !parsed.hash
  if (isPlain) return parsed.href.replace(/\/+$/, '')
  throw new ToolError('CONFIG_INVALID', 'records.bucket.url is not the address of a bucket.', {
    fix: { key: 'records.bucket.url', hint: 'Use one such as https://s3.eu-central-1.amazonaws.com/my-bucket.' },
  })
}
