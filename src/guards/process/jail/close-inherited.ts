import { closeSync, readdirSync, readFileSync } from 'node:fs'

const O_CLOEXEC = 0o2000000

/**
 * Closes descriptors that this process has from whoever started it and would hand on to every child: a folder among them
 * would be a way out of any jail. What Node opens itself is marked as its own. For the process that starts commands, at
 * its very beginning; `keep` are those that it was given on purpose. Gives back what it closed.
 */
export function closeInherited(keep: readonly number[] = []): number[] {
  const closed: number[] = []
  for (const name of list()) {
    const descriptor = Number(name)
    if (descriptor <= 2 || keep.includes(descriptor) || !isHandedOn(descriptor)) continue
    closeSync(descriptor)
    closed.push(descriptor)
  }
  return closed
}

function list(): string[] {
  try {
    return readdirSync('/proc/self/fd')
  } catch {
    // No /proc, as on macOS: nothing can be told.
    return []
  }
}

function isHandedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? ''
    return (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
  } catch {
    // It was the one for the list itself.
    return false
  }
}
