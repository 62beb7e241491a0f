import type { Jail } from '../jail/jail.ts'
import { programLimits } from './program-limits.ts'

const PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'USER', 'SHELL']

/** No jail and no limits, for a program that the owner runs as any other of his; but nothing of the hub's own variables. */
export function unfencedJail(from: Readonly<Record<string, string | undefined>> = process.env): Jail {
  const env = Object.fromEntries(PASSED.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))
  return { level: 'none', key: 'program', file: '/usr/bin/env', args: ['--'], env, limits: programLimits({}) }
}
