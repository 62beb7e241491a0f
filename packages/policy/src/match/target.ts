import { type Capability, FEATURE_CAPABILITIES } from '@tool-hub/core'
import type { LooseWords } from '@tool-hub/shell'

/** How a target is spelt, which says how a pattern is read: a path, a URL, a command, or any text. */
export type TargetKind = 'path' | 'url' | 'command' | 'text'

/** A URL in parts; `port` is empty when the scheme's own. */
export interface UrlParts {
  readonly scheme: string
  readonly host: string
  readonly port: string
  readonly path: string
  readonly query: string
}

/** One simple command. */
export interface CommandWords {
  /** `undefined` if it is only known at run time. */
  readonly words: readonly (string | undefined)[]
  readonly loose: LooseWords
  /** What it shares with commands that differ only in their files and messages. */
  readonly shape?: string
  /** What is unknown of it, or doubtful, is taken for the worst. */
  readonly isWorstCase?: boolean
}

/** One thing a call will touch, read once and compared with many patterns. */
export interface PolicyTarget {
  readonly kind: TargetKind
  readonly value: string
  /** Every key that a pattern which matches this target may be filed under. */
  readonly keys: readonly string[]
  readonly url?: UrlParts
  readonly command?: CommandWords
}

/** A compiled pattern. */
export interface Pattern {
  /** A target that it matches has this key: an index looks at few patterns instead of all. */
  readonly key: string
  /** The same for a pattern that permits, which matches less. */
  readonly exactKey?: string
  /** `broadly`: in doubt it matches. Patterns that restrict are read so, patterns that permit are not. */
  readonly matches: (target: PolicyTarget, broadly: boolean) => boolean
  /** How many words of a command it spells out. */
  readonly words?: number
  /** Of paths: an absolute glob for all that it matches. */
  readonly glob?: string
  /** It matches every path below its key. */
  readonly isTree?: boolean
  /** How the last name of each path begins and ends that it matches. */
  readonly nameEnds?: readonly [start: string, end: string]
}

/** Why a text cannot be a pattern of a kind. */
export interface BrokenPattern {
  readonly broken: string
}

/** What relative patterns are relative to. */
export interface PatternPlace {
  readonly base: string
  readonly home?: string
  /** The pattern is of a remembered answer. */
  readonly isGrant?: boolean
}

/** How the targets of a capability are spelt. */
export const TARGET_KINDS: Readonly<Record<Capability, TargetKind>> = {
  'read:fs': 'path',
  'write:fs': 'path',
  'danger:destructive': 'path',
  network: 'url',
  send: 'url',
  exec: 'command',
  ...featureKinds(),
  remote: 'text',
}

/** A feature spells its targets as it likes. */
function featureKinds(): Record<(typeof FEATURE_CAPABILITIES)[number], 'text'> {
  return Object.fromEntries(FEATURE_CAPABILITIES.map((capability) => [capability, 'text'])) as ReturnType<
    typeof featureKinds
  >
}

/** The most characters that a target may have to be compared with patterns. */
export const MAX_TARGET_LENGTH: Readonly<Record<TargetKind, number>> = {
  path: 4_096,
  url: 8_192,
  command: 65_536,
  text: 65_536,
}

/** Kinds of targets that are compared as they are; a command is read into its parts first. */
export type PlainKind = Exclude<TargetKind, 'command'>

/** The key of patterns that could match anything. */
export const ANY_KEY = ''

/** Keys name at most this many leading parts, so that a very deep target stays cheap. */
export const MAX_KEY_DEPTH = 24
