import { type Descriptors, quoteWord } from './launch-script.ts'

/** What a seed runs first: it enters its group, so that all it becomes and starts is born inside. */
export function enterScript(entrances: readonly string[]): string {
  // One that cannot be entered leaves the command with the limits that each process has.
  return entrances.map((file) => `{ echo 0 >${quoteWord(file)}; } 2>/dev/null\n`).join('')
}

/**
 * What makes a seed a jail around another shell. That one reads from a descriptor of its own: a shell reads ahead, and
 * this one would swallow what is said to the other.
 */
export function becomeScript(
  jail: { readonly file: string; readonly args: readonly string[] },
  { script }: Descriptors,
) {
  const words = [jail.file, ...jail.args, '/bin/sh']
  return `exec ${words.map(quoteWord).join(' ')} <&${script} ${script}<&-\n`
}
