import { z } from 'zod'

/** The schema of a path in arguments; how far it may lead is the guard's matter. */
export function pathSchema(description: string) {
  return z.string().min(1).max(4_096).describe(description)
}

/** Other spellings of `path` that models use. */
export const PATH_ALIASES = { file_path: 'path', filePath: 'path' } as const

/** A path found below a folder, in the words of the one who named the folder. */
export function joinPath(folder: string, name: string): string {
  if (folder === '.' || folder === './') return name
  return folder.endsWith('/') ? folder + name : `${folder}/${name}`
}

/** A text as a message shows it: quoted, control characters escaped, never endless. */
export function quote(text: string, most = 200): string {
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text)
}

/** `1 file`, `2 files`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
