import { closeSync, readdirSync, readFileSync } from 'node:fs'

const O_CLOEXEC = 0o2000000

/**
 * Closes descriptors that this process inherited and would pass on to every child: a folder among them would be a way
 * out of any sandbox. Descriptors that Node opens itself are marked as not inheritable. To be called first thing in the
 * process that starts commands; `keep` are those that it received on purpose. Returns what it closed.
 */
export function closeInherited(keep: readonly number[] = []): number[] {
  const closed: number[] = []
  for (const name of list()) {
    const descriptor = Number(name)
    if (descriptor <= 2 || keep.includes(descriptor) || !isInheritable(descriptor)) continue
    closeSync(descriptor)
    closed.push(descriptor)
  }
  return closed
}

function list(): string[] {
  try {
    return readdirSync('/proc/self/fd')
  } catch {
    // No /proc, as on macOS: nothing is known.
    return []
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? ''
    return (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
  } catch {
    // It was the descriptor of the list itself.
    return false
  }
}
