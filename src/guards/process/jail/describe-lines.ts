import type { JailDescription } from './describe-jail.ts'

/** A description as lines for people. */
export function describeLines(jail: Omit<JailDescription, 'lines'>): string[] {
  const { limits } = jail
  return [
    `Sandbox: ${jail.level} (${jail.engine}), as user ${jail.user.uid}`,
    ...section('Read-only', jail.readOnly ?? ['all that the user may read']),
    ...section('Writable', jail.writable ?? ['all that the user may write']),
    ...section(
      'In memory, gone with the command',
      jail.inMemory.map(({ path, maxBytes }) => `${path} (at most ${size(maxBytes)})`),
    ),
    ...section('Seen but never changed', jail.protected),
    ...section('Hidden', jail.hidden),
    ...section(
      'Without effect',
      // What is not there yet is of no interest to people; the data has it.
      jail.leftOut.filter(({ why }) => why !== 'does not exist').map(({ path, why }) => `${path}: ${why}`),
    ),
    `Network: ${network(jail)}`,
    `Environment: ${shortNames(jail.environment).join(' ')}`,
    `Limits: ${limits.cpuSeconds} s of processor time, ${size(limits.memoryBytes)} of memory, ${limits.processes} processes, ${size(limits.fileBytes)} a file, ${limits.openFiles} open files${disk(limits)}`,
    ...section('Note', jail.notes),
    ...section('Weaker than it could be', jail.weaknesses),
  ].map(escapeControls)
}

function disk({ diskBytes, newFiles }: JailDescription['limits']): string {
  return diskBytes === undefined || newFiles === undefined
    ? ''
    : `, ${size(diskBytes)} more on disk, ${newFiles} new files`
}

function network({ network: { mode, hosts } }: Omit<JailDescription, 'lines'>): string {
  if (mode === 'open') return 'not bounded'
  if (mode === 'off') return 'off'
  return hosts.length > 0 ? `through the proxy, to ${hosts.join(', ')}` : 'through the proxy, as policy decides'
}

/** Settings of git are many, numbered, and not of interest one by one. */
function shortNames(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.replace(/^(GIT_CONFIG)_(KEY|VALUE)_\d+$/, '$1_…')))]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)]
}

function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`
}

/** A folder's name may hold what a terminal obeys or what turns a line around. */
function escapeControls(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]/gu, (char) => `\\u${char.codePointAt(0)!.toString(16).padStart(4, '0')}`)
}
