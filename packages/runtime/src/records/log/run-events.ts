import type { FeatureChange } from '@tool-hub/core'

/** Somebody has changed how the hub works: its rules, its tokens, its remembered answers. */
export interface HubChanged {
  readonly type: 'hub-changed'
  /** Who changed it. */
  readonly by: string
  /** What was changed. */
  readonly change:
    | 'policy-saved'
    | 'shadow-policy-changed'
    | 'token-created'
    | 'token-rotated'
    | 'token-revoked'
    | 'grant-revoked'
    | 'run-removed'
    | FeatureChange
  /** The file, the token, the grant, the run, the note, the schedule. */
  readonly subject: string
  /** Of a run that was removed: its last event, whose hash covers all before it. */
  readonly head?: { readonly seq: number; readonly hash: string }
}

/** The user's own words were added to the run. */
export interface UserTextAdded {
  readonly type: 'user-text-added'
  /** Its length. */
  readonly chars: number
  /** How it begins, without secrets. */
  readonly text: string
  /** The only call that it counts for, if its client does not name the conversation. */
  readonly forCall?: string
}

/** The run has read content from outside; a later line of this type has all sources that are known then. */
export interface RunTainted {
  readonly type: 'run-tainted'
  /** What has tainted the run: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
  readonly sources: readonly string[]
}

/** An approver has cleared the run of its taint: it counts as one that has read nothing from outside, until it does. */
export interface TaintCleared {
  readonly type: 'taint-cleared'
  /** Who cleared it. */
  readonly by: string
  /** Why, as the approver says. */
  readonly reason: string
  /** What had tainted the run: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
  readonly sources: readonly string[]
}

/** A process has begun to write this run; a second one of a run continues it. */
export interface RunOpened {
  readonly type: 'run-opened'
  /** Id of the run. */
  readonly run: string
  /** The process that writes the run. */
  readonly pid: number
  /** What is synced before a call returns: `effects`, `full` or `behind`; `shared` if it is also in the store by then. */
  readonly durability: string
  /** With a store that many machines share: the process that has leased the run. */
  readonly process?: string
  /** With such a store: counts the processes that have leased the run. */
  readonly epoch?: number
  /** Only in the first line of a run: the head of the run that was closed last, `null` when there was none. */
  readonly after?: RunHead | null
  /** The store of this hub keeps the heads of the run. */
  readonly heads?: 'store'
  /** Principal that the run belongs to; absent for a run of the hub's owner. */
  readonly principal?: string
}

/** The last line of a run at some time: its number and its hash, which covers all lines before it. */
export interface RunHead {
  /** Id of the run. */
  readonly run: string
  /** Number of its last line. */
  readonly seq: number
  /** Hash of its last line. */
  readonly hash: string
}

/** The run ended in good order. */
export interface RunClosed {
  readonly type: 'run-closed'
  /** Calls of the run that ended. */
  readonly calls: number
  /** Those of them that failed. */
  readonly failures: number
  /** Files that other programs run or obey by themselves, and that the run has changed, at most 100; absent if there are none. */
  readonly runLater?: readonly string[]
}

/** A crash had left half a line at the end; it was set aside in the named file. */
export interface LineTorn {
  readonly type: 'line-torn'
  /** Size of what was set aside. */
  readonly bytes: number
  /** Name of the file it is in, in the folder of the run. */
  readonly file: string
}

/** The disk refused lines for so long that the memory for them ran out. */
export interface RecordsLost {
  readonly type: 'records-lost'
  /** How many lines are missing. */
  readonly events: number
}
