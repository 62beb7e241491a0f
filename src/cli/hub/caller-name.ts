import { userInfo } from 'node:os'

/** Who calls from the command line, as the records name it: `cli:<user>`. */
export function callerName(): string {
  return `cli:${userName()}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A user without an entry in the password file, as in some containers, has only a number.
    return String(process.getuid?.() ?? 'unknown')
  }
}
