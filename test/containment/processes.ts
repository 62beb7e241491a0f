import { readdirSync, readFileSync } from 'node:fs'

/** Processes whose first word begins with one word and holds another, seen from outside of all sandboxes. */
export function processesNamed(begin: string, name: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => isNamed(firstWord(pid), begin, name))
    .map(Number)
}

/** Kills them immediately. */
export function endProcesses(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}

function isNamed(word: string, begin: string, name: string): boolean {
  return word.startsWith(begin) && word.endsWith(name)
}

function firstWord(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]!
  } catch {
    // It has ended meanwhile.
    return ''
  }
}
